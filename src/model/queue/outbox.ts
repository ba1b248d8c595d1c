import type { Lsn } from '../../log/lsn.js';

/**
 * The queue of every group that holds what it owes other groups, from the first such message on (rule 16). No wiring has a position so
 * low, and none knows it.
 */
export const outboxIncarnation: Lsn = 2;

/** Another such queue: messages that wait for their time, from the first one on. Nobody consumes from it; see DelayLog. */
export const delayedIncarnation: Lsn = 3;

/** And one for the bodies of large messages, in parts (log/large.ts). Nobody consumes from it; see LargeLog. */
export const partsIncarnation: Lsn = 4;

/** And one for the termini of links that can be resumed (docs/adr/0013): see TerminusTable. Nobody consumes from it. */
export const terminiIncarnation: Lsn = 5;

/** It is the group's own: the wiring does not know it, and never drops it. */
export function isOwnQueue(incarnation: Lsn): boolean {
  return incarnation >= outboxIncarnation && incarnation <= terminiIncarnation;
}
