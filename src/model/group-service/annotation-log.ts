import { Feature } from '../../base/versions.js';
import { type Annotated, annotatedLength, encodeAnnotated } from '../../log/annotated-record.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeEnqueue, enqueueLength, EnqueueView, MessageParts, RecordFlag, setLsn } from '../../log/record.js';
import type { HeaderCodec } from '../dead-letter/death.js';
import type { GroupAppender } from '../group-port.js';
import { annotationBytesMax, type Returns } from '../returns.js';
import type { ServedQueue } from './served-queue.js';

interface Pending {
  readonly queue: ServedQueue;
  readonly position: Lsn;
  readonly count: number;
  readonly annotated: Annotated;
  /** Of its record; 0 = it is not in the log yet. */
  lsn: Lsn;
}

/**
 * What clients have noted of messages that they gave back: goes into the log at the end of the turn, and into the message's header whenever
 * it is handed out. Nobody waits for it: what is lost with a primary is said again by the client's node.
 */
export class AnnotationLog {
  private readonly appender: GroupAppender;
  /** As committed. */
  private readonly returns: Returns;
  private readonly headers: HeaderCodec;
  /** What is not known to be committed, by position and queue; in the order of their lsns, those without one last. */
  private readonly pending = new Map<string, Pending>();
  /** Keys of those without one. */
  private fresh: string[] = [];
  private readonly parts = new MessageParts();
  private readonly shown = new EnqueueView();

  constructor(appender: GroupAppender, returns: Returns, headers: HeaderCodec) {
    this.appender = appender;
    this.returns = returns;
    this.headers = headers;
  }

  /** Everything is in the log. */
  get isIdle(): boolean {
    return this.fresh.length === 0;
  }

  /** A client has noted that; of what does not fit the newest stays. @param count how often the message came back */
  add(queue: ServedQueue, position: Lsn, count: number, annotations: Uint8Array): void {
    const before = this.of(queue, position);
    const earlier = before?.annotations ?? new Uint8Array(0);
    const fits = earlier.length + annotations.length <= annotationBytesMax;
    const all = fits ? concat(earlier, annotations) : annotations.slice();
    const annotated = { revision: (before?.revision ?? 0) + 1, annotations: all };
    const key = keyOf(queue, position);
    this.pending.delete(key);
    this.pending.set(key, { queue, position, count, annotated, lsn: 0 });
    this.fresh.push(key);
  }

  /** The message as clients are given it: itself, or a copy that is valid until the next call. */
  show(queue: ServedQueue, position: Lsn, message: EnqueueView): EnqueueView {
    if (this.pending.size === 0 && this.returns.annotated === 0) return message;
    const annotated = this.of(queue, position);
    if (annotated === undefined) return message;
    const { parts, shown } = this;
    parts.setFrom(message);
    parts.setHeader(this.headers.annotated(message, annotated.annotations));
    const incarnations = Array.from({ length: message.queueCount }, (_, i) => message.incarnation(i));
    const bytes = new Uint8Array(enqueueLength(parts, incarnations.length));
    const view = new DataView(bytes.buffer);
    const durable = (message.flags & RecordFlag.durable) !== 0;
    encodeEnqueue(bytes, view, 0, parts, incarnations, durable, message.publisherBoot, message.publisherSequence);
    setLsn(view, 0, message.lsn);
    return shown.set(bytes, view, 0);
  }

  /** The turn ends. */
  append(committed: Lsn): void {
    if (this.pending.size === 0) return;
    for (const [key, { lsn }] of this.pending) {
      if (lsn === 0 || lsn > committed) break;
      this.pending.delete(key);
    }
    for (const key of this.fresh) {
      const one = this.pending.get(key);
      if (one === undefined || one.lsn !== 0) continue;
      const { queue, position } = one;
      const isOver = queue.gone || queue.state.index.find(position) === undefined;
      // Nobody would read it, where not all nodes know such records.
      if (isOver || this.appender.version < Feature.annotations) this.pending.delete(key);
      else one.lsn = this.write(one);
    }
    this.fresh = [];
  }

  clear(): void {
    this.pending.clear();
    this.fresh = [];
  }

  private of(queue: ServedQueue, position: Lsn): Annotated | undefined {
    return this.pending.get(keyOf(queue, position))?.annotated ?? this.returns.annotatedOf(queue.incarnation, position);
  }

  private write({ queue, position, count, annotated }: Pending): Lsn {
    const { appender } = this;
    appender.reserve(annotatedLength(annotated));
    const { chunk, offset } = appender;
    const { durable } = queue.state.options;
    const { incarnation } = queue;
    return appender.append(
      encodeAnnotated(chunk.bytes!, chunk.view!, offset, incarnation, position, count, annotated, durable),
    );
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function keyOf({ incarnation }: ServedQueue, position: Lsn): string {
  return `${position} ${incarnation}`;
}
