/** What recovery has found of one queue besides its messages. */
import type { Lsn } from '../../log/lsn.js';

export class FoundQueue {
  readonly incarnation: Lsn;
  /** The lsn of its last drop; -1 = none. */
  dropped: Lsn = -1;
  /** The latest moment at which it was known to be open; -1 = none. */
  opened: Lsn = -1;
  /** The latest moment at which a message was known to be in it; -1 = none. */
  newest: Lsn = -1;
  /** Some of its messages are older than its last drop: they are looked for at the end. */
  isMixed = false;
  readonly dequeued: PositionLog = new PositionLog();

  constructor(incarnation: Lsn) {
    this.incarnation = incarnation;
  }
}

const pagePositions = 4096;
/** Most queues have few: a page begins small. */
const firstPagePositions = 8;

/** A list of positions, each with the lsn of its dequeue, that only grows; in pages, so that growing copies nothing. */
export class PositionLog {
  length = 0;
  private readonly pages: Float64Array[] = [];

  push(position: Lsn, lsn: Lsn): void {
    const slot = (this.length % pagePositions) * 2;
    if (slot === 0) this.pages.push(new Float64Array((this.length === 0 ? firstPagePositions : pagePositions) * 2));
    let page = this.pages[this.pages.length - 1]!;
    if (slot === page.length) {
      const larger = new Float64Array(Math.min(page.length * 2, pagePositions * 2));
      larger.set(page);
      this.pages[this.pages.length - 1] = larger;
      page = larger;
    }
    page[slot] = position;
    page[slot + 1] = lsn;
    this.length++;
  }

  at(index: number): Lsn {
    return this.pages[Math.floor(index / pagePositions)]![(index % pagePositions) * 2]!;
  }

  lsnAt(index: number): Lsn {
    return this.pages[Math.floor(index / pagePositions)]![(index % pagePositions) * 2 + 1]!;
  }
}
