/**
 * A set of lsns, kept as a few ranges. It may hold more than was added (ranges close to each other melt into one), never
 * less: whoever asks "may it be there?" gets a safe answer.
 */
import type { Lsn } from '../log/lsn.js';

/** Ranges closer than this melt at once: positions are acknowledged out of order, but not far. */
const nearby = 1024;
/** By default, with more ranges than this the two closest melt. */
const rangesMaxDefault = 32;

export class LsnSpans {
  private readonly froms: Lsn[] = [];
  private readonly tos: Lsn[] = [];
  private readonly rangesMax: number;

  constructor(rangesMax: number = rangesMaxDefault) {
    this.rangesMax = rangesMax;
  }

  get empty(): boolean {
    return this.froms.length === 0;
  }

  /** Adds all lsns in [from, to]. */
  add(from: Lsn, to: Lsn): void {
    const last = this.froms.length - 1;
    if (last >= 0 && from >= this.froms[last]! && from <= this.tos[last]! + nearby) {
      if (to > this.tos[last]!) this.tos[last] = to;
      return;
    }
    this.insert(from, to);
  }

  addAll(other: LsnSpans): void {
    for (let i = 0; i < other.froms.length; i++) this.add(other.froms[i]!, other.tos[i]!);
  }

  has(lsn: Lsn): boolean {
    return this.touches(lsn, lsn);
  }

  /** May any lsn in [from, to] be in the set? */
  touches(from: Lsn, to: Lsn): boolean {
    const at = this.firstEndingAt(from);
    return at < this.froms.length && this.froms[at]! <= to;
  }

  /** May the two sets have an lsn in common? */
  overlaps(other: LsnSpans): boolean {
    // Most are far apart: consumers are near the front, or the message is as new as its dequeue.
    const last = this.froms.length - 1;
    const otherLast = other.froms.length - 1;
    if (last < 0 || otherLast < 0) return false;
    if (this.froms[0]! > other.tos[otherLast]! || other.froms[0]! > this.tos[last]!) return false;
    for (let i = 0; i < this.froms.length; i++) if (other.touches(this.froms[i]!, this.tos[i]!)) return true;
    return false;
  }

  private insert(from: Lsn, to: Lsn): void {
    const begin = this.firstEndingAt(from - nearby);
    let end = begin;
    while (end < this.froms.length && this.froms[end]! <= to + nearby) end++;
    if (end === begin + 1) {
      if (from < this.froms[begin]!) this.froms[begin] = from;
      if (to > this.tos[begin]!) this.tos[begin] = to;
      return;
    }
    if (end > begin) {
      from = Math.min(from, this.froms[begin]!);
      to = Math.max(to, this.tos[end - 1]!);
    }
    this.froms.splice(begin, end - begin, from);
    this.tos.splice(begin, end - begin, to);
    if (this.froms.length > this.rangesMax) this.meltClosest();
  }

  private meltClosest(): void {
    let best = 1;
    for (let i = 2; i < this.froms.length; i++) if (this.gapBefore(i) < this.gapBefore(best)) best = i;
    this.tos[best - 1] = this.tos[best]!;
    this.froms.splice(best, 1);
    this.tos.splice(best, 1);
  }

  private gapBefore(index: number): number {
    return this.froms[index]! - this.tos[index - 1]!;
  }

  /** Index of the first range that ends at `lsn` or after. */
  private firstEndingAt(lsn: Lsn): number {
    let low = 0;
    let high = this.tos.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.tos[middle]! < lsn) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
