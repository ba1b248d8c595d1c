import type { Rules } from '../../base/rules.js';
import { Feature } from '../../base/versions.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeReturned, returnedLength } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { Returns } from '../returns.js';
import type { HeaderCodec } from '../dead-letter/death.js';
import { AnnotationLog } from './annotation-log.js';
import type { ServedQueue } from './served-queue.js';

/** What came back in one turn, to one queue. */
interface Batch {
  readonly positions: Lsn[];
  readonly counts: number[];
}

/** Of one record. */
const positionsMax = 4096;

/** Takes into the log how often messages came back. Nobody waits for it: what is lost with a primary is counted again. */
export class ReturnLog {
  private readonly appender: GroupAppender;
  /** As committed. */
  private readonly returns: Returns;
  private readonly rules: Rules;
  readonly annotations: AnnotationLog;
  private readonly batches = new Map<ServedQueue, Batch>();

  constructor(appender: GroupAppender, returns: Returns, rules: Rules, headers: HeaderCodec) {
    this.appender = appender;
    this.returns = returns;
    this.rules = rules;
    this.annotations = new AnnotationLog(appender, returns, headers);
  }

  /** Everything that came back is in the log. */
  get isIdle(): boolean {
    return this.batches.size === 0 && this.annotations.isIdle;
  }

  /** How often the message came back. */
  of(queue: ServedQueue, position: Lsn): number {
    if (this.returns.size === 0 && queue.returned.size === 0) return 0;
    return queue.returned.get(position) ?? this.returns.of(queue.incarnation, position);
  }

  /** It came back once more. Returns how often it did now; to be written at the end of the turn. */
  add(queue: ServedQueue, position: Lsn): number {
    const count = this.of(queue, position) + 1;
    queue.returned.set(position, count);
    let batch = this.batches.get(queue);
    if (batch === undefined) {
      batch = { positions: [], counts: [] };
      this.batches.set(queue, batch);
    }
    batch.positions.push(position);
    batch.counts.push(count);
    return count;
  }

  /** A client has noted that, in annotations. */
  note(queue: ServedQueue, position: Lsn, annotations: Uint8Array): void {
    this.annotations.add(queue, position, this.of(queue, position), annotations);
  }

  /** The turn ends. */
  append(committed: Lsn): void {
    this.annotations.append(committed);
    if (this.batches.size === 0) return;
    for (const [queue, { positions, counts }] of this.batches) {
      if (queue.gone || this.appender.version < Feature.returns || !this.rules.returnsLogged) continue;
      for (let from = 0; from < positions.length; from += positionsMax)
        this.write(queue, positions.slice(from, from + positionsMax), counts.slice(from, from + positionsMax));
    }
    this.batches.clear();
  }

  clear(): void {
    this.annotations.clear();
    this.batches.clear();
  }

  private write(queue: ServedQueue, positions: Lsn[], counts: number[]): void {
    const { appender } = this;
    appender.reserve(returnedLength(positions.length));
    const { chunk, offset } = appender;
    const { durable } = queue.state.options;
    const { incarnation } = queue;
    appender.append(encodeReturned(chunk.bytes!, chunk.view!, offset, incarnation, positions, counts, durable));
  }
}
