import type { Pace } from './pace.js';

/** Sorted at once; longer runs are merged. */
const runLength = 512;

/** A sorted copy. Sorts like `Array.sort`, stably, and lets others have their turn. */
export async function sorted<T>(items: readonly T[], compare: (a: T, b: T) => number, pace: Pace): Promise<T[]> {
  let from = items.slice();
  for (let start = 0; start < from.length; start += runLength) {
    const run = from.slice(start, start + runLength).sort(compare);
    for (let i = 0; i < run.length; i++) from[start + i] = run[i]!;
    if (pace.isOver) await pace.next();
  }
  let to = from.slice();
  for (let width = runLength; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) await merge(from, to, start, width, compare, pace);
    [from, to] = [to, from];
  }
  return from;
}

/** Two runs of `from`, at `start` and `start + width`, become one of `to`. */
async function merge<T>(
  from: readonly T[],
  to: T[],
  start: number,
  width: number,
  compare: (a: T, b: T) => number,
  pace: Pace,
): Promise<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const isLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0);
    to[at] = isLeft ? from[left++]! : from[right++]!;
    if (at % runLength === 0 && pace.isOver) await pace.next();
  }
}

/** By code units, as names are compared everywhere. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
