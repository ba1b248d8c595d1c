/** Numbers of 32 bits that go round (RFC 1982): transfer numbers, delivery counts, delivery ids. */

export function add(serial: number, count: number): number {
  return (serial + count) >>> 0;
}

/** How far `a` is ahead of `b`; negative if it is behind. */
export function ahead(a: number, b: number): number {
  return (a - b) | 0;
}
