import type { Lsn } from '../../log/lsn.js';

/**
 * The queue of every group that holds what it owes other groups, from the first such message on (rule 16). No wiring has a position so
 * low, and none knows it.
 */
export const outboxIncarnation: Lsn = 2;
