/** Copying and comparing runs of bytes. */

/** Runs up to this length are copied byte by byte; above it one `set` is faster than the view it needs is dear. */
const loopLengthMax = 48;

/** Copies `length` bytes; the ranges do not overlap. */
export function copyBytes(from: Uint8Array, fromStart: number, length: number, to: Uint8Array, toStart: number): void {
  if (length <= loopLengthMax) for (let i = 0; i < length; i++) to[toStart + i] = from[fromStart + i]!;
  else to.set(from.subarray(fromStart, fromStart + length), toStart);
}

/** Are the `length` bytes at `aStart` of `a` and at `bStart` of `b` the same? Both ranges must lie within their buffers. */
export function sameBytes(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false;
  return true;
}

/** Big-endian u16 at `at`, which must be within bounds. */
export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Big-endian u32 at `at`, which must be within bounds. */
export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Big-endian u64 at `at`, which must be within bounds; above 2^53 rounded to the nearest number. */
export function readU64(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) * 0x1_0000_0000 + readU32(bytes, at + 4);
}
