/** Reads a file from front to back in large blocks, the next one while the present one is used. */
import { readFully } from './chunk-reader.js';
import type { DiskFile } from './disk.js';

const blockBytesMax = 512 * 1024;
const none = new Uint8Array(0);

export class BlockReader {
  /** Bytes [at(0)...) of the file that are in memory: `bytes[start, end)`. */
  bytes: Uint8Array;
  view: DataView;
  start: number;
  end: number;
  private readonly file: DiskFile;
  private readonly size: number;
  /** File offset of `end`. */
  private offset = 0;
  private spare: Uint8Array;
  private readonly blockBytes: number;
  /** Before a block, for what is left of the one before. */
  private readonly roomBytes: number;
  private next: Promise<number> | undefined;

  private readonly pause: (() => Promise<void>) | undefined;

  /**
   * @param size bytes of the file that are to be read
   * @param pause awaited before each block
   */
  constructor(file: DiskFile, size: number, pause: (() => Promise<void>) | undefined) {
    this.file = file;
    this.size = size;
    this.pause = pause;
    this.blockBytes = Math.min(size, blockBytesMax);
    this.roomBytes = size > this.blockBytes ? this.blockBytes : 0;
    this.bytes = none;
    this.spare = this.newBlock();
    this.view = viewOf(this.bytes);
    this.start = 0;
    this.end = 0;
  }

  /** Is all of the file in memory, or used already? */
  get exhausted(): boolean {
    return this.offset >= this.size;
  }

  /**
   * Reads on until `bytes` bytes from index `from` are in memory, or the file ends. Returns the index at which the byte at
   * `from` is now; what was before it is gone.
   */
  async fill(from: number, bytes: number): Promise<number> {
    let at = from;
    while (this.end - at < bytes && !this.exhausted) {
      if (this.end - at > this.blockBytes || bytes > this.blockBytes) at = await this.fillLarge(at, bytes);
      else at = await this.fillBlock(at);
    }
    return at;
  }

  /** The next block replaces the present one; the rest of that goes before it. */
  private async fillBlock(at: number): Promise<number> {
    await this.pause?.();
    const length = await (this.next ?? this.readAhead());
    this.next = undefined;
    const rest = this.end - at;
    this.spare.set(this.bytes.subarray(at, this.end), this.roomBytes - rest);
    const old = this.bytes;
    this.use(this.spare, this.roomBytes - rest, this.roomBytes + length);
    this.offset += length;
    this.spare = none;
    if (!this.exhausted) {
      this.spare = old.length === this.roomBytes + this.blockBytes ? old : this.newBlock();
      this.next = this.readAhead();
      // Whoever awaits it hears of an error; until then it is no unhandled one.
      this.next.catch(() => undefined);
    }
    return this.start;
  }

  /** A buffer of its own for something larger than a block. */
  private async fillLarge(at: number, bytes: number): Promise<number> {
    // The block that is being read ahead is read again: its place is not needed often enough for more.
    await this.next;
    this.next = undefined;
    const rest = this.end - at;
    const missing = Math.min(bytes - rest, this.size - this.offset);
    const large = new Uint8Array(rest + missing);
    large.set(this.bytes.subarray(at, this.end));
    await readFully(this.file, large.subarray(rest), this.offset);
    this.offset += missing;
    this.use(large, 0, large.length);
    return 0;
  }

  private async readAhead(): Promise<number> {
    const length = Math.min(this.blockBytes, this.size - this.offset);
    await readFully(this.file, this.spare.subarray(this.roomBytes, this.roomBytes + length), this.offset);
    return length;
  }

  private newBlock(): Uint8Array {
    return new Uint8Array(this.roomBytes + this.blockBytes);
  }

  private use(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
    this.start = start;
    this.end = end;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
