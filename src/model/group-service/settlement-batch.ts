import type { Lsn } from '../../log/lsn.js';
import { Feature } from '../../base/versions.js';
import {
  dequeueHeaderBytes,
  dequeueLengthMax,
  dequeuePositionsMax,
  encodeDequeue,
  encodeDequeueRange,
  RecordFlag,
} from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';

const keptPositions = 4096;

/** The positions of one queue that are to be dequeued at the end of this turn. */
export class SettlementBatch {
  count = 0;
  /** One of them at least is on disk: so must be the dequeue. */
  durable = false;
  private positions = new Float64Array(16);
  private sorted = true;

  add(position: Lsn, durable: boolean): void {
    if (this.count === this.positions.length) {
      const larger = new Float64Array(this.count * 2);
      larger.set(this.positions);
      this.positions = larger;
    }
    if (this.count > 0 && position < this.positions[this.count - 1]!) this.sorted = false;
    this.positions[this.count++] = position;
    if (durable) this.durable = true;
  }

  /** The positions, ascending; valid until the next change. */
  ascending(): Float64Array {
    const positions = this.positions.subarray(0, this.count);
    if (!this.sorted) {
      positions.sort();
      this.sorted = true;
    }
    return positions;
  }

  /** Only without `exactPositions`: whatever lies between the first and the last, too. */
  addBetween(): void {
    const { durable } = this;
    const settled = this.ascending().slice();
    const known = new Set(settled);
    const last = Math.min(settled.at(-1)!, settled[0]! + dequeuePositionsMax);
    for (let position = settled[0]! + 1; position < last; position++)
      if (!known.has(position)) this.add(position, durable);
  }

  /** Writes the dequeues into the log and returns the last one's lsn. */
  append(incarnation: Lsn, appender: GroupAppender, relaxed: boolean): Lsn {
    return appendDequeues(appender, incarnation, this.ascending(), this.durable, relaxed);
  }

  clear(): void {
    this.count = 0;
    this.durable = false;
    this.sorted = true;
    if (this.positions.length > keptPositions) this.positions = new Float64Array(16);
  }
}

/** Appends dequeues of `positions`, ascending and distinct, at least one; returns the last one's lsn. `relaxed`: see RecordFlag. */
export function appendDequeues(
  appender: GroupAppender,
  incarnation: Lsn,
  positions: Float64Array,
  durable: boolean,
  relaxed: boolean = false,
): Lsn {
  let lsn = 0;
  for (let from = 0; from < positions.length; from += dequeuePositionsMax) {
    const part = positions.subarray(from, from + dequeuePositionsMax);
    lsn = appendDequeue(appender, incarnation, part, durable, relaxed);
  }
  return lsn;
}

function appendDequeue(
  appender: GroupAppender,
  incarnation: Lsn,
  positions: Float64Array,
  durable: boolean,
  relaxed: boolean,
): Lsn {
  const count = positions.length;
  const first = positions[0]!;
  const neighbours = count > 1 && positions[count - 1]! - first === count - 1;
  const asRange = neighbours && appender.version >= Feature.dequeueRange;
  appender.reserve(asRange ? dequeueHeaderBytes : dequeueLengthMax(count));
  const { chunk, offset } = appender;
  const bytes = chunk.bytes!;
  const view = chunk.view!;
  const length = asRange
    ? encodeDequeueRange(bytes, view, offset, incarnation, first, count, durable)
    : encodeDequeue(bytes, view, offset, incarnation, positions, count, durable);
  if (relaxed) bytes[offset + 5]! |= RecordFlag.relaxed;
  return appender.append(length);
}
