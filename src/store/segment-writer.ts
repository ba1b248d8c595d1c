/**
 * The end of the journal: appends frames to the open segment and begins new segments. One call at a time.
 *
 * A small frame that would make the file longer brings zeros along, which the next ones overwrite: a sync that need not make
 * a new file size durable takes less than half of the time. They are also what is left to dequeues, and to the next start, when
 * others have filled the disk. A segment that ends is cut to its frames.
 */
import type { DiskFile } from './disk.js';
import { FrameFlag, FrameHeader, frameHeaderBytes, type StoreTag } from './frame.js';
import { Segment, segmentName } from './segment.js';
import type { SegmentSet } from './segment-set.js';
import { isNoSpace } from './shortage.js';

/** Where recovery found the end of the journal. */
export interface JournalEnd {
  /** The segment to go on with; undefined: begin a new one. */
  segment: Segment | undefined;
  /** Length of that segment's file: what is behind the segment's size are zeros. */
  fileBytes: number;
  lastSegmentNumber: number;
  lastFrameNumber: number;
}

/** Frames up to this size bring zeros along. Larger ones are not many enough to be worth it. */
const smallFrameBytes = 64 * 1024;

export class SegmentWriter {
  /** The open segment; none before the first frame of a fresh journal. */
  current: Segment | undefined;
  private readonly segments: SegmentSet;
  private readonly tag: StoreTag;
  private readonly segmentBytes: number;
  private readonly zeros: Uint8Array;
  /** Length of the open segment's file, zeros included. */
  private fileBytes = 0;
  private spaceWasShort = false;
  private file: DiskFile | undefined;
  private segmentNumber: number;
  private frameNumber: number;
  /** Everything before this offset of the open segment, and all older segments, are synced. */
  syncedOffset = 0;
  /** The synced offset that the last frame told. */
  private toldOffset = 0;
  private readonly header = new FrameHeader();

  /** @param zeroBytes zeros that a small frame brings along */
  constructor(segments: SegmentSet, tag: StoreTag, segmentBytes: number, zeroBytes: number, end: JournalEnd) {
    this.segments = segments;
    this.tag = tag;
    this.segmentBytes = segmentBytes;
    this.current = end.segment;
    this.segmentNumber = end.lastSegmentNumber;
    this.frameNumber = end.lastFrameNumber;
    this.syncedOffset = end.segment?.size ?? 0;
    this.toldOffset = this.syncedOffset;
    this.fileBytes = Math.max(this.syncedOffset, end.fileBytes);
    this.zeros = new Uint8Array(zeroBytes);
  }

  /** Must a frame with `bytes` bytes of batches begin a new segment? */
  needsRoll(bytes: number): boolean {
    const current = this.current;
    return current === undefined || (current.size > 0 && current.size + frameHeaderBytes + bytes > this.segmentBytes);
  }

  /** Something is synced that no frame tells of: if it were damaged now, it would look like the torn end of a crash. */
  get untold(): boolean {
    return this.syncedOffset > this.toldOffset;
  }

  get nextSegmentNumber(): number {
    return this.segmentNumber + 1;
  }

  /**
   * Makes the segment for the next frame the open one. Everything in the older one is synced first, so that damage there is
   * never taken for a torn end. May be repeated after an error.
   */
  async prepare(roll: boolean): Promise<Segment> {
    if (roll) await this.roll();
    else this.file ??= await this.segments.disk.open(this.current!.name, { create: false });
    return this.current!;
  }

  private async roll(): Promise<void> {
    await this.end();
    const disk = this.segments.disk;
    const number = this.segmentNumber + 1;
    const file = await disk.open(segmentName(number), { create: true });
    try {
      await disk.syncFolder();
    } catch (error) {
      await file.close();
      throw error;
    }
    const old = this.file;
    if (this.current !== undefined) this.current.sealed = true;
    this.segmentNumber = number;
    this.file = file;
    this.syncedOffset = 0;
    this.toldOffset = 0;
    this.fileBytes = 0;
    this.current = new Segment(number, 0);
    this.segments.add(this.current);
    await old?.close();
  }

  /** Nothing more comes into the open segment. */
  private async end(): Promise<void> {
    const segment = this.current;
    if (segment === undefined) return;
    if (this.fileBytes > segment.size) {
      // After a start nothing may have been written to it yet.
      this.file ??= await this.segments.disk.open(segment.name, { create: false });
      await this.file.truncate(segment.size);
      this.fileBytes = segment.size;
    } else if (this.syncedOffset === segment.size) return;
    await this.sync();
  }

  /**
   * Appends a frame of `parts`, `bytes` long in all, and returns where its first part lies in the segment. When it fails for
   * lack of space, the file is as before.
   */
  async append(parts: readonly Uint8Array[], bytes: number, head: boolean): Promise<number> {
    const segment = this.current!;
    const header = this.header;
    header.length = frameHeaderBytes + bytes;
    header.flags = head ? FrameFlag.head : 0;
    header.number = this.frameNumber + 1;
    header.segment = segment.number;
    header.offset = segment.size;
    header.syncedSegment = segment.number;
    header.syncedOffset = this.syncedOffset;
    const offset = segment.size;
    const end = offset + header.length;
    const zeros = this.zerosAfter(header.length, end);
    try {
      await this.file!.write([header.encode(this.tag), ...parts, zeros], offset);
    } catch (error) {
      if (isNoSpace(error)) {
        await this.file!.truncate(offset);
        this.fileBytes = offset;
        this.spaceWasShort = true;
      }
      throw error;
    }
    this.spaceWasShort = false;
    this.fileBytes = Math.max(this.fileBytes, end + zeros.length);
    this.frameNumber++;
    this.toldOffset = header.syncedOffset;
    segment.size += header.length;
    return offset + frameHeaderBytes;
  }

  private zerosAfter(frameBytes: number, end: number): Uint8Array {
    if (end <= this.fileBytes || frameBytes > smallFrameBytes || this.spaceWasShort) return this.zeros.subarray(0, 0);
    return this.zeros.subarray(0, Math.max(0, this.segmentBytes - end));
  }

  /** fdatasync of everything appended. */
  async sync(): Promise<void> {
    const size = this.current!.size;
    await this.file!.sync();
    this.syncedOffset = size;
  }

  async close(): Promise<void> {
    const file = this.file;
    this.file = undefined;
    await file?.close();
  }
}
