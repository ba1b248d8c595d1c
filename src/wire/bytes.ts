/** Copying, comparing and reading runs of bytes. */

/** Above these lengths one `set` is faster than a loop, although it needs an object for its range. */
const byteLoopMax = 32;
const wordLoopMax = 128;

/** Copies `length` bytes; the ranges do not overlap. */
export function copyBytes(from: Uint8Array, fromStart: number, length: number, to: Uint8Array, toStart: number): void {
  if (length > byteLoopMax) to.set(from.subarray(fromStart, fromStart + length), toStart);
  else for (let i = 0; i < length; i++) to[toStart + i] = from[fromStart + i]!;
}

/**
 * The same where both sides have a view of all their bytes: short runs go four bytes at a time. (Eight at a time, as
 * floats, would be faster still, but a float need not keep the bits of a NaN.)
 */
export function copyRun(
  from: Uint8Array,
  fromView: DataView,
  fromStart: number,
  length: number,
  to: Uint8Array,
  toView: DataView,
  toStart: number,
): void {
  if (length > wordLoopMax) {
    to.set(from.subarray(fromStart, fromStart + length), toStart);
    return;
  }
  let i = 0;
  for (; i + 4 <= length; i += 4) toView.setInt32(toStart + i, fromView.getInt32(fromStart + i));
  for (; i < length; i++) to[toStart + i] = from[fromStart + i]!;
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

/** Big-endian i32 at `at`, which must be within bounds: cheaper than a u32 where only equality matters. */
export function readI32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** Big-endian u32 at `at`, which must be within bounds. */
export function readU32(bytes: Uint8Array, at: number): number {
  return readI32(bytes, at) >>> 0;
}

/** Big-endian u64 at `at`, which must be within bounds; above 2^53 rounded to the nearest number. */
export function readU64(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) * 0x1_0000_0000 + readU32(bytes, at + 4);
}
