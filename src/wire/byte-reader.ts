/**
 * Reads big-endian values from a range of bytes, and never outside of it: what is missing is a DecodeError.
 * A flyweight: one reader is moved from range to range.
 */
import { readU16, readU32, readU64 } from './bytes.js';
import { DecodeError } from './decode-error.js';
import { decodeLooseText, decodeText } from './utf8.js';

/** For the few 64-bit and floating point reads: bytes are copied here, so that no DataView is made per buffer. */
const scratch = new Uint8Array(8);
const scratchView = new DataView(scratch.buffer);

export class ByteReader {
  bytes: Uint8Array;
  /** Where the next value begins. */
  at: number;
  end: number;

  constructor(bytes: Uint8Array = new Uint8Array(0), start = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** Moves to [start, end) of `bytes`, which must lie within it. */
  set(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    return this;
  }

  get remaining(): number {
    return this.end - this.at;
  }

  /** Makes sure that `count` bytes are left, steps over them and returns where they begin. */
  take(count: number): number {
    const at = this.at;
    if (count > this.end - at) {
      throw new DecodeError(`${count} bytes expected, ${this.end - at} left`);
    }
    this.at = at + count;
    return at;
  }

  u8(): number {
    return this.bytes[this.take(1)]!;
  }

  i8(): number {
    return (this.bytes[this.take(1)]! << 24) >> 24;
  }

  u16(): number {
    return readU16(this.bytes, this.take(2));
  }

  i16(): number {
    return (readU16(this.bytes, this.take(2)) << 16) >> 16;
  }

  u32(): number {
    return readU32(this.bytes, this.take(4));
  }

  i32(): number {
    return readU32(this.bytes, this.take(4)) | 0;
  }

  /** Above 2^53 rounded to the nearest number. */
  u64(): number {
    return readU64(this.bytes, this.take(8));
  }

  /** A number where that is exact, else a bigint. */
  i64(): number | bigint {
    const at = this.take(8);
    const high = readU32(this.bytes, at) | 0;
    const value = high * 0x1_0000_0000 + readU32(this.bytes, at + 4);
    if (Number.isSafeInteger(value)) return value;
    return (BigInt(high) << 32n) | BigInt(readU32(this.bytes, at + 4));
  }

  f32(): number {
    const at = this.take(4);
    for (let i = 0; i < 4; i++) scratch[i] = this.bytes[at + i]!;
    return scratchView.getFloat32(0);
  }

  f64(): number {
    const at = this.take(8);
    for (let i = 0; i < 8; i++) scratch[i] = this.bytes[at + i]!;
    return scratchView.getFloat64(0);
  }

  /** A text of `length` bytes of UTF-8. */
  text(length: number): string {
    const at = this.take(length);
    return decodeText(this.bytes, at, at + length);
  }

  /** The same for bytes that need not be UTF-8: what is not becomes U+FFFD. */
  looseText(length: number): string {
    const at = this.take(length);
    return decodeLooseText(this.bytes, at, at + length);
  }

  /** A copy of the next `length` bytes. */
  copy(length: number): Uint8Array {
    const at = this.take(length);
    return this.bytes.slice(at, at + length);
  }

  /** Throws if anything is left. */
  finish(): void {
    if (this.at !== this.end) throw new DecodeError(`${this.end - this.at} bytes too many`);
  }
}
