/**
 * As of when the copies in a chunk were known to be there. A chunk that recovery has read holds whole batches, and all records of a
 * copy batch share one moment: so a mark where the moment changes says it for every record, at a few bytes a batch.
 */
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';

/** Stands for: not a copy, the record is as old as its lsn says. */
const ownLsn = -1;

class Marks {
  /** Offsets in the chunk, ascending; what was said last holds until the next one. */
  readonly offsets: number[] = [];
  readonly moments: Lsn[] = [];
}

export class CopyMarks {
  /** Chunks with copies in them. What nobody refers to any more is forgotten with its chunk. */
  private readonly byChunk = new WeakMap<Chunk, Marks>();
  private chunk: Chunk | undefined;
  private marks: Marks | undefined;
  private moment: Lsn = ownLsn;

  /** Notes the record at `offset` of `chunk`. Offsets of one chunk ascend. */
  note(chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    if (chunk !== this.chunk) {
      this.chunk = chunk;
      this.marks = this.byChunk.get(chunk);
      this.moment = this.marks?.moments[this.marks.moments.length - 1] ?? ownLsn;
    }
    const moment = asOf > lsn ? asOf : ownLsn;
    if (moment !== this.moment) this.mark(chunk, offset, moment);
  }

  /** The moment as of which the record with that lsn at `offset` of `chunk` was there. */
  asOf(chunk: Chunk, offset: number, lsn: Lsn): Lsn {
    const marks = this.byChunk.get(chunk);
    if (marks === undefined) return lsn;
    const { offsets } = marks;
    let low = 0;
    let high = offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (offsets[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    const moment = low === 0 ? ownLsn : marks.moments[low - 1]!;
    return moment === ownLsn ? lsn : moment;
  }

  private mark(chunk: Chunk, offset: number, moment: Lsn): void {
    let marks = this.marks;
    if (marks === undefined) {
      marks = new Marks();
      this.marks = marks;
      this.byChunk.set(chunk, marks);
    }
    marks.offsets.push(offset);
    marks.moments.push(moment);
    this.moment = moment;
  }
}
