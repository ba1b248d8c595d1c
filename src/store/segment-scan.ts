/**
 * Walks a segment file frame by frame, batch by batch, checks everything, and finds its way again after damage.
 *
 * After a damaged batch the next one is trusted only where the damaged one's length leads to it, after a damaged frame header
 * only frames that name their own place and this store: the content of a message can never be taken for a part of the journal.
 */
import { batchHeaderBytes, batchIsSound, batchMagic } from '../log/batch.js';
import { BlockReader } from './block-reader.js';
import { readFully } from './chunk-reader.js';
import type { DiskFile } from './disk.js';
import { FrameHeader, frameHeaderBytes, frameMagic, type StoreTag } from './frame.js';

export interface ScanVisitor {
  /** A frame begins; the header is a flyweight. */
  frame?(header: FrameHeader): void;
  /** A sound batch in bytes [start, start + length), from `fileOffset` of the segment. Valid during the call only. */
  batch?(bytes: Uint8Array, view: DataView, start: number, length: number, fileOffset: number): void;
  /** Bytes [offset, offset + length) of the segment cannot be read; `frameStart`: where their frame begins. */
  damage(frameStart: number, offset: number, length: number): void;
  /** Awaited before each block. */
  pause?(): Promise<void>;
}

const zeroBlockBytes = 64 * 1024;
const magicBytes: Uint8Array = new Uint8Array(new Uint32Array([frameMagic]).buffer);

/** Where a scan ended. */
export interface ScanEnd {
  /** The end of the last frame, or of what cannot be read. */
  offset: number;
  /** From here on the file has zeros only. */
  zerosFrom: number;
}

/** Scans the first `size` bytes. Zeros after the last frame are no damage. The event loop runs between blocks. */
export async function scanSegment(
  file: DiskFile,
  segment: number,
  tag: StoreTag,
  size: number,
  visitor: ScanVisitor,
): Promise<ScanEnd> {
  const zerosFrom = await trailingZeros(file, size);
  const scan = new SegmentScan(file, segment, tag, size, zerosFrom, visitor);
  return { offset: await scan.run(), zerosFrom };
}

/** The offset behind the last byte that is not zero. */
async function trailingZeros(file: DiskFile, size: number): Promise<number> {
  const block = new Uint8Array(Math.min(size, zeroBlockBytes));
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - zeroBlockBytes);
    const bytes = block.subarray(0, end - start);
    await readFully(file, bytes, start);
    for (let i = bytes.length - 1; i >= 0; i--) if (bytes[i] !== 0) return start + i + 1;
    end = start;
  }
  return 0;
}

class SegmentScan {
  private readonly reader: BlockReader;
  private readonly segment: number;
  private readonly tag: StoreTag;
  private readonly size: number;
  private readonly zerosFrom: number;
  private readonly visitor: ScanVisitor;
  private readonly header = new FrameHeader();
  /** Index in the reader's bytes, and what must be added to get the file offset. */
  private at: number;
  private base: number;

  constructor(file: DiskFile, segment: number, tag: StoreTag, size: number, zerosFrom: number, visitor: ScanVisitor) {
    this.reader = new BlockReader(file, size, visitor.pause?.bind(visitor));
    this.segment = segment;
    this.tag = tag;
    this.size = size;
    this.zerosFrom = zerosFrom;
    this.visitor = visitor;
    this.at = this.reader.start;
    this.base = -this.at;
  }

  private get offset(): number {
    return this.base + this.at;
  }

  async run(): Promise<number> {
    while (this.offset < this.zerosFrom) {
      if (!this.has(frameHeaderBytes)) await this.need(frameHeaderBytes);
      const frameStart = this.offset;
      if (this.has(frameHeaderBytes) && this.decodeHeader(this.at)) {
        this.visitor.frame?.(this.header);
        this.at += frameHeaderBytes;
        await this.readFrame(frameStart, frameStart + this.header.length);
      } else await this.recoverFrom(frameStart);
    }
    return this.offset;
  }

  private decodeHeader(at: number): boolean {
    return this.header.decode(this.reader.bytes, this.reader.view, at, this.tag, this.segment, this.base + at);
  }

  private async readFrame(frameStart: number, frameEnd: number): Promise<void> {
    const end = Math.min(frameEnd, this.size);
    while (this.offset < end) {
      const left = end - this.offset;
      if (!this.has(Math.min(left, batchHeaderBytes))) await this.need(batchHeaderBytes);
      const length = this.batchLength(left);
      if (length > 0 && !this.has(length)) await this.need(length);
      if (length > 0 && batchIsSound(this.reader.bytes, this.reader.view, this.at, this.at + length)) {
        this.visitor.batch?.(this.reader.bytes, this.reader.view, this.at, length, this.offset);
        this.at += length;
      } else {
        const skip = length > 0 && (await this.batchFollows(length, left)) ? length : left;
        this.visitor.damage(frameStart, this.offset, skip);
        await this.skip(skip);
      }
    }
    if (frameEnd > this.size) this.visitor.damage(frameStart, this.size, 0);
  }

  /** The length that the batch header here tells, 0 if there is none that fits into `left` bytes. */
  private batchLength(left: number): number {
    const view = this.reader.view;
    if (left < batchHeaderBytes || view.getUint32(this.at, true) !== batchMagic) return 0;
    const length = view.getUint32(this.at + 4, true);
    return length >= batchHeaderBytes && length <= left ? length : 0;
  }

  private async batchFollows(length: number, left: number): Promise<boolean> {
    if (length === left) return true;
    await this.need(Math.min(left, length + batchHeaderBytes));
    return left - length >= batchHeaderBytes && this.reader.view.getUint32(this.at + length, true) === batchMagic;
  }

  /** The frame header here is bad. Reads the batches behind it if they are sound, then looks for the next frame. */
  private async recoverFrom(frameStart: number): Promise<void> {
    await this.skip(Math.min(frameHeaderBytes, this.size - this.offset));
    let badFrom = frameStart;
    for (;;) {
      await this.need(batchHeaderBytes);
      const length = this.has(batchHeaderBytes) ? this.batchLength(this.size - this.offset) : 0;
      if (length > 0) await this.need(length);
      if (length === 0 || !batchIsSound(this.reader.bytes, this.reader.view, this.at, this.at + length)) break;
      if (badFrom === frameStart) this.visitor.damage(frameStart, frameStart, frameHeaderBytes);
      this.visitor.batch?.(this.reader.bytes, this.reader.view, this.at, length, this.offset);
      this.at += length;
      badFrom = this.offset;
    }
    await this.findFrame();
    if (this.offset > badFrom) this.visitor.damage(frameStart, badFrom, this.offset - badFrom);
  }

  /** Moves to the next frame header that belongs where it lies, or to the end. */
  private async findFrame(): Promise<void> {
    while (this.offset < this.zerosFrom) {
      await this.need(frameHeaderBytes);
      const { bytes, end } = this.reader;
      const window = Buffer.from(bytes.buffer, bytes.byteOffset, end);
      let found = window.indexOf(magicBytes, this.at);
      while (found >= 0 && found + frameHeaderBytes <= end && !this.decodeHeader(found))
        found = window.indexOf(magicBytes, found + 1);
      if (found >= 0 && found + frameHeaderBytes <= end) {
        this.at = found;
        return;
      }
      // What is left may be the beginning of one.
      this.at = found >= 0 ? found : Math.max(this.at, end - magicBytes.length + 1);
      if (this.reader.exhausted) this.at = end;
    }
  }

  private has(bytes: number): boolean {
    return this.reader.end - this.at >= bytes;
  }

  private async need(bytes: number): Promise<void> {
    if (this.has(bytes)) return;
    const offset = this.offset;
    this.at = await this.reader.fill(this.at, bytes);
    this.base = offset - this.at;
  }

  private async skip(bytes: number): Promise<void> {
    await this.need(bytes);
    this.at += bytes;
  }
}
