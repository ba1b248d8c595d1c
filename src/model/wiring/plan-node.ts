import { nameKey } from './footprint.js';
import type { NodeGone } from './operations.js';
import type { Planner } from './planner.js';

/** Objects that go with one `nodeGone`, and what goes with those: some milliseconds' work. */
export const goneMax = 256;

/** Not all at once if they are many: it is said until nothing is left, by a later primary too. */
export function planNodeGone(planner: Planner, gone: NodeGone): void {
  planner.footprint.writes(nameKey.node(gone.node));
  const { tables, removal } = planner;
  let count = 0;
  for (const object of tables.boots.upTo(gone)) {
    if (count++ === goneMax) return;
    removal.any(object);
  }
}
