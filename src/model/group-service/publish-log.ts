import type { Clock } from '../../base/clock.js';
import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeEnqueue, EnqueueView, enqueueLength, immediately, MessageParts, RecordFlag } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import { Origins } from '../origins.js';
import { needsCare, noTraits } from '../queue/queue-traits.js';
import { markerFormat } from './marker-format.js';
import type { TraitsOf } from './traits-of.js';

const noMessage = new MessageParts();
const noQueues: readonly number[] = [];
const forEver = Number.POSITIVE_INFINITY;

/** Takes publishes into the log. The numbers of their publishers were checked. */
export class PublishLog {
  /** The last lsn given to one of them. */
  last: Lsn = 0;
  private readonly state: GroupState;
  private readonly appender: GroupAppender;
  private readonly rules: Rules;
  private readonly traits: TraitsOf;
  private readonly clock: Pick<Clock, 'wall'>;
  /** The queue is to be looked after, though it may have no consumer. */
  private readonly serve: (incarnation: Lsn) => void;
  /** Those in the log, committed or not. */
  private readonly origins = new Origins();
  /** All durable queues of the message at hand are relaxed. */
  private isRelaxed = true;
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();

  constructor(
    state: GroupState,
    appender: GroupAppender,
    traits: TraitsOf,
    rules: Rules,
    clock: Pick<Clock, 'wall'>,
    serve: (incarnation: Lsn) => void,
  ) {
    this.state = state;
    this.appender = appender;
    this.traits = traits;
    this.rules = rules;
    this.clock = clock;
    this.serve = serve;
    this.origins.merge(state.origins.list());
  }

  /** Queues that are gone are named 0; a message for none is logged as a number only, so that the sequence goes on. */
  append(parts: MessageParts, incarnations: readonly number[], durable: boolean, boot: number, sequence: number): void {
    if (parts.origin !== undefined && !this.isNew(parts)) return this.appendNumber(boot, sequence);
    let targets = incarnations;
    let left = incarnations.length;
    let ttlMs = forEver;
    let isMixed = false;
    this.isRelaxed = durable;
    for (let i = 0; i < incarnations.length; i++) {
      const queue = this.state.queue(incarnations[i]!);
      if (queue !== undefined) {
        const traits = this.traits.of(queue);
        if (traits.ttlMs !== ttlMs) {
          isMixed ||= i > 0;
          ttlMs = traits.ttlMs;
        }
        if (!traits.relaxed && queue.options.durable) this.isRelaxed = false;
        if (queue.watcher === undefined && (parts.expiresAt !== 0 || (traits !== noTraits && needsCare(traits))))
          this.serve(queue.incarnation);
        continue;
      }
      if (targets === incarnations) targets = [...incarnations];
      const instead = this.insteadOf(incarnations[i]!);
      (targets as number[])[i] = instead;
      if (instead === 0) left--;
    }
    if (left === 0) return sequence === 0 ? undefined : this.appendNumber(boot, sequence);
    if (isMixed) return this.appendApart(parts, targets, durable, boot, sequence);
    // A node's word in a queue that moves is no message.
    if (ttlMs === forEver || parts.format === markerFormat) return this.encode(parts, targets, durable, boot, sequence);
    const own = parts.expiresAt;
    parts.expiresAt = this.expiry(own, ttlMs);
    this.encode(parts, targets, durable, boot, sequence);
    parts.expiresAt = own;
  }

  /** The same for an encoded enqueue. */
  appendRecord(record: Uint8Array, view: DataView): void {
    const message = this.view.set(record, view, 0);
    this.parts.setFrom(message);
    const incarnations = Array.from({ length: message.queueCount }, (_, i) => message.incarnation(i));
    const durable = (message.flags & RecordFlag.durable) !== 0;
    this.append(this.parts, incarnations, durable, message.publisherBoot, message.publisherSequence);
  }

  /**
   * Queues keep the message for different times, so it is as many records; the first has its number. They are in one batch, so that
   * none is there without the others.
   */
  private appendApart(
    parts: MessageParts,
    targets: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    const apart = new Map<number, number[]>();
    for (const incarnation of targets) {
      const queue = incarnation === 0 ? undefined : this.state.queue(incarnation);
      if (queue === undefined) continue;
      const { ttlMs } = this.traits.of(queue);
      const same = apart.get(ttlMs);
      if (same === undefined) apart.set(ttlMs, [incarnation]);
      else same.push(incarnation);
    }
    let bytes = 0;
    for (const queues of apart.values()) bytes += enqueueLength(parts, queues.length);
    this.appender.reserve(bytes);
    const { expiresAt, origin } = parts;
    let number = sequence;
    for (const [ttlMs, queues] of apart) {
      parts.expiresAt = this.expiry(expiresAt, ttlMs);
      this.write(parts, queues, durable, number === 0 ? 0 : boot, number);
      number = 0;
      parts.origin = undefined;
    }
    parts.expiresAt = expiresAt;
    parts.origin = origin;
  }

  /** Rule 16: what another group's outbox sends again is not taken again. */
  private isNew({ origin }: MessageParts): boolean {
    if (this.rules.outboxOnce && this.origins.has(origin!)) return false;
    this.origins.add(origin!);
    return true;
  }

  /** @param own when the message expires by itself; 0 = never */
  private expiry(own: number, ttlMs: number): number {
    if (ttlMs === forEver) return own;
    const at = ttlMs === 0 ? immediately : this.clock.wall() + ttlMs;
    return own === 0 ? at : Math.min(own, at);
  }

  /** What a queue that is gone is replaced by: nothing (rule 15). */
  private insteadOf(incarnation: number): number {
    if (this.rules.byIncarnation) return 0;
    // Planted fault: the queue that was declared after it, as if it were meant by name.
    let newest = 0;
    for (const queue of this.state.allQueues()) newest = Math.max(newest, queue.incarnation);
    return newest > incarnation ? newest : 0;
  }

  /** `durable`: it is to be known after a restart of all replicas, too. */
  appendNumber(boot: number, sequence: number, durable: boolean = false): void {
    this.isRelaxed = false;
    this.encode(noMessage, noQueues, durable, boot, sequence);
  }

  private encode(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    this.appender.reserve(enqueueLength(parts, incarnations.length));
    this.write(parts, incarnations, durable, boot, sequence);
  }

  /** Where room was made. */
  private write(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    boot: number,
    sequence: number,
  ): void {
    const { chunk, offset } = this.appender;
    const length = encodeEnqueue(chunk.bytes!, chunk.view!, offset, parts, incarnations, durable, boot, sequence);
    if (this.isRelaxed && this.appender.mayRelax()) chunk.bytes![offset + 5]! |= RecordFlag.relaxed;
    this.last = this.appender.append(length);
    if (!this.rules.deliverCommitted) this.state.insertCopy(chunk, offset);
  }
}
