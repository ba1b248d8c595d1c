/** Ranges of lsns that were cut from a group's log. */
import type { Lsn } from '../log/lsn.js';

/** Is the lsn in one of the ranges [from, to]? They are few. */
export function isVoid(voids: readonly [Lsn, Lsn][], lsn: Lsn): boolean {
  for (const [from, to] of voids) if (lsn >= from && lsn <= to) return true;
  return false;
}
