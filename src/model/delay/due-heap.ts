/**
 * Positions of messages with the times at which they are due, the earliest first, those of one time in order. A binary heap in pages: it
 * takes 16 bytes a message, and never copies all of them to grow.
 */
import type { Lsn } from '../../log/lsn.js';

/** A power of two. */
const pageEntries = 8192;
const pageShift = 13;
const pageMask = pageEntries - 1;

export class DueHeap {
  private readonly pages: Float64Array[] = [];
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** When the first one is due; Infinity if there is none. */
  get firstDue(): number {
    return this.count === 0 ? Number.POSITIVE_INFINITY : this.pages[0]![0]!;
  }

  /** The first one's position; NaN if there is none. */
  get first(): Lsn {
    return this.count === 0 ? Number.NaN : this.pages[0]![1]!;
  }

  push(due: number, position: Lsn): void {
    let at = this.count++;
    if (at >>> pageShift === this.pages.length) this.pages.push(new Float64Array(2 * pageEntries));
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = this.due(parent);
      if (above < due || (above === due && this.position(parent) <= position)) break;
      this.set(at, above, this.position(parent));
      at = parent;
    }
    this.set(at, due, position);
  }

  /** Takes out the first one. */
  pop(): void {
    if (this.count === 0) return;
    const last = --this.count;
    const due = this.due(last);
    const position = this.position(last);
    // One page more is kept for what comes next.
    if (this.pages.length > (last >>> pageShift) + 2) this.pages.pop();
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= last) break;
      if (child + 1 < last && this.isBefore(child + 1, child)) child++;
      const below = this.due(child);
      if (below > due || (below === due && this.position(child) >= position)) break;
      this.set(at, below, this.position(child));
      at = child;
    }
    if (last > 0) this.set(at, due, position);
  }

  clear(): void {
    this.count = 0;
    this.pages.length = 0;
  }

  private isBefore(a: number, b: number): boolean {
    const difference = this.due(a) - this.due(b);
    return difference < 0 || (difference === 0 && this.position(a) < this.position(b));
  }

  private due(at: number): number {
    return this.pages[at >>> pageShift]![(at & pageMask) * 2]!;
  }

  private position(at: number): Lsn {
    return this.pages[at >>> pageShift]![(at & pageMask) * 2 + 1]!;
  }

  private set(at: number, due: number, position: Lsn): void {
    const page = this.pages[at >>> pageShift]!;
    const entry = (at & pageMask) * 2;
    page[entry] = due;
    page[entry + 1] = position;
  }
}
