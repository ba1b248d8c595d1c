/** Which cancelling records of one segment and group must be kept because of what lies in other segments (rule 19). */
import type { Lsn } from '../log/lsn.js';
import { forEachDequeued, isDequeue, RecordFlag, RecordKind } from '../log/record.js';
import type { LsnSpans } from './lsn-spans.js';
import { isVoid } from './void-ranges.js';

export class CancelFilter {
  private readonly holds: LsnSpans;
  private readonly opens: ReadonlySet<Lsn>;
  private readonly voids: readonly [Lsn, Lsn][];
  private found = false;

  /**
   * @param holds lsns of the group's records in the other segments
   * @param opens queues whose `open` record lies in one of them
   * @param voids ranges cut from the log: a cut dequeue cancels nothing, and must not be written as a copy
   */
  constructor(holds: LsnSpans, opens: ReadonlySet<Lsn>, voids: readonly [Lsn, Lsn][]) {
    this.holds = holds;
    this.opens = opens;
    this.voids = voids;
  }

  /** Must the record at `at` be kept? `inLog`: it lies in a log batch, so that void ranges apply. */
  isNeeded(bytes: Uint8Array, view: DataView, at: number, inLog: boolean): boolean {
    if ((bytes[at + 5]! & RecordFlag.durable) === 0) return false;
    const kind = bytes[at + 4]!;
    if (!isDequeue(kind) && kind !== RecordKind.drop) return false;
    if (inLog && isVoid(this.voids, view.getFloat64(at + 8, true))) return false;
    if (kind === RecordKind.drop) return this.opens.has(view.getFloat64(at + 16, true));
    this.found = false;
    forEachDequeued(bytes, view, at, this.look);
    return this.found;
  }

  private readonly look = (position: Lsn): void => {
    if (!this.found && this.holds.has(position)) this.found = true;
  };
}
