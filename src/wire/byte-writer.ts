/**
 * A growable buffer of output: big-endian values, texts and raw bytes are appended, lengths patched afterwards, and the
 * whole is taken away to be written to a socket. Hot paths call `ensure` once and then fill `bytes` themselves.
 */
import { copyBytes } from './bytes.js';
import { EncodeError } from './decode-error.js';
import { encodeTextInto } from './utf8.js';

const initialBytes = 4096;
/** A buffer larger than this is not kept for reuse. */
const recycledBytesMax = 1024 * 1024;
const nothing = new Uint8Array(0);

export class ByteWriter {
  /** Never keep these across a call that may grow the buffer. */
  bytes: Uint8Array;
  view: DataView;
  /** Bytes written so far; the next goes here. */
  length = 0;
  private readonly bytesMax: number;
  private spare: Uint8Array<ArrayBuffer> | undefined = undefined;

  /** @param bytesMax growing beyond it throws EncodeError; a caller that may get there looks at `length` first. */
  constructor(bytesMax: number = 0x4000_0000) {
    this.bytesMax = bytesMax;
    this.bytes = nothing;
    this.view = new DataView(nothing.buffer);
  }

  /** Makes room for `count` more bytes and returns where they begin; `length` is the caller's to advance. */
  ensure(count: number): number {
    if (this.length + count > this.bytes.length) this.grow(this.length + count);
    return this.length;
  }

  private grow(needed: number): void {
    if (needed > this.bytesMax) {
      throw new EncodeError(`output of ${needed} bytes exceeds the limit of ${this.bytesMax} bytes`);
    }
    const larger = new Uint8Array(Math.max(needed, this.bytes.length * 2, initialBytes));
    larger.set(this.bytes.subarray(0, this.length));
    this.use(larger);
  }

  private use(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  /**
   * Hands over what was written; the writer goes on with another buffer. Give the bytes back with `recycle` once
   * nobody reads them any more.
   */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.use(this.spare ?? nothing);
    this.spare = undefined;
    this.length = 0;
    return taken;
  }

  /** Accepts bytes that `take` returned and that nobody reads any more, for use again. */
  recycle(taken: Uint8Array): void {
    const capacity = taken.buffer.byteLength;
    if (capacity > recycledBytesMax) return;
    if (this.spare !== undefined && this.spare.length >= capacity) return;
    this.spare = new Uint8Array(taken.buffer as ArrayBuffer);
  }

  /** Gives memory back while nothing is waiting; for connections that are idle. */
  shrink(): void {
    this.spare = undefined;
    if (this.length === 0) this.use(nothing);
  }

  /** Forgets what was written since `length` was `mark`. */
  rewind(mark: number): void {
    this.length = mark;
  }

  /** Forgets the first `count` bytes: what follows moves to the beginning. */
  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }

  u8(value: number): void {
    const at = this.ensure(1);
    this.bytes[at] = value;
    this.length = at + 1;
  }

  u16(value: number): void {
    const at = this.ensure(2);
    this.view.setUint16(at, value);
    this.length = at + 2;
  }

  u32(value: number): void {
    const at = this.ensure(4);
    this.view.setUint32(at, value);
    this.length = at + 4;
  }

  i32(value: number): void {
    const at = this.ensure(4);
    this.view.setInt32(at, value);
    this.length = at + 4;
  }

  /** A non-negative integer; exact up to 2^53, from 2^64 on the largest that fits. */
  u64(value: number): void {
    const at = this.ensure(8);
    const fits = value < 2 ** 64;
    this.view.setUint32(at, fits ? value / 0x1_0000_0000 : 0xffff_ffff);
    this.view.setUint32(at + 4, fits ? value : 0xffff_ffff);
    this.length = at + 8;
  }

  i64(value: bigint): void {
    const at = this.ensure(8);
    this.view.setBigInt64(at, value);
    this.length = at + 8;
  }

  f64(value: number): void {
    const at = this.ensure(8);
    this.view.setFloat64(at, value);
    this.length = at + 8;
  }

  /** The bytes [start, end) of `from`. */
  raw(from: Uint8Array, start = 0, end: number = from.length): void {
    const at = this.ensure(end - start);
    copyBytes(from, start, end - start, this.bytes, at);
    this.length = at + end - start;
  }

  /** The text as UTF-8, without a length. Returns the bytes written. */
  text(value: string): number {
    const at = this.ensure(value.length * 3);
    const written = encodeTextInto(value, this.bytes, at);
    this.length = at + written;
    return written;
  }

  /** Overwrites the u32 at `at`, which was written before. */
  patchU32(at: number, value: number): void {
    this.view.setUint32(at, value);
  }
}
