/**
 * A log sequence number: epoch x 2^32 + n, as a float64 (epoch < 2^21, so it is exact).
 * It orders all events of a group over all epochs. An enqueue's lsn is its message's position, a declaration's
 * lsn is the queue's incarnation: both identify for ever, since a new epoch never uses an old number again.
 */
export type Lsn = number;

export const lsnsPerEpoch = 0x1_0000_0000;

/** The lsn before an epoch's first event. */
export function epochStart(epoch: number): Lsn {
  return epoch * lsnsPerEpoch;
}

export function epochOf(lsn: Lsn): number {
  return Math.floor(lsn / lsnsPerEpoch);
}

/** A failover and a move or two. */
const epochsFew = 4;

/**
 * About how many events lie between two lsns, the first one not later: of older epochs than the last one it is not known, and taken for
 * few if the epochs are. Infinity: that is not likely.
 */
export function eventsBetween(from: Lsn, to: Lsn): number {
  const epochs = epochOf(to) - epochOf(from);
  if (epochs === 0) return to - from;
  return from > 0 && epochs <= epochsFew ? to - epochStart(epochOf(to)) : Number.POSITIVE_INFINITY;
}
