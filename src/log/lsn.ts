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
