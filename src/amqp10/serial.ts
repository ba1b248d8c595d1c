/** Numbers of 32 bits that go round (RFC 1982): transfer numbers, delivery counts, delivery ids. */

export function add(serial: number, count: number): number {
  return (serial + count) >>> 0;
}

/** As much credit as can be said. */
const creditMax = 0xffff_ffff;

/** The credit of a receiver that has said `linkCredit` after `seen` deliveries, of the `deliveryCount` that it was sent (§2.6.7). */
export function creditLeft(linkCredit: number, seen: number, deliveryCount: number): number {
  return Math.min(creditMax, Math.max(0, linkCredit - ahead(deliveryCount, seen)));
}

/** How far `a` is ahead of `b`; negative if it is behind. */
export function ahead(a: number, b: number): number {
  return (a - b) | 0;
}
