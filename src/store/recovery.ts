/**
 * Reads a journal at start: finds where it really ends, the newest meta data of each group, then all records.
 *
 *   1. the last segment: damage behind everything that a later frame calls synced is the torn end of a crash; cut off
 *   2. metas: the last segment's; an intact first frame of a segment names all groups, so older ones are looked at only if it is not
 *   3. every segment from front to back; damage there is reported, the file copied aside, what is sound still used
 *   4. segments that the newest list of them names, or the store's identity, and that are not there: damage too
 */
import type { Logger } from '../base/logger.js';
import { BatchKind, batchVersion } from '../log/batch.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { RecoveryReport, RecoveryVisitor } from '../log/journal.js';
import { readFully } from './chunk-reader.js';
import type { DiskFile } from './disk.js';
import { FrameFlag, type StoreTag } from './frame.js';
import { tooNew } from './identity.js';
import type { JournalStart, Manifest } from './journal.js';
import { decodeJson, type StoredMeta } from './lane.js';
import { quarantine } from './quarantine.js';
import { Segment, segmentName, segmentNumber } from './segment.js';
import { type ScanEnd, type ScanVisitor, scanSegment } from './segment-scan.js';
import type { SegmentSet } from './segment-set.js';
import { Windows } from './windows.js';

interface Tail {
  /** Bytes of whole frames. */
  end: number;
  tornBytes: number;
  lastFrameNumber: number;
  /** Everything before this is synced, as a frame tells. */
  syncedOffset: number;
}

const blockBytes = 1024 * 1024;

export class Recovery {
  private readonly segments: SegmentSet;
  private readonly chunks: ChunkStore;
  private readonly tag: StoreTag;
  /** The last segment that was begun, as the store's identity knows; 0: it does not. */
  private readonly segmentBegun: number;
  private readonly formatMax: number;
  private readonly logger: Logger;
  private readonly metas = new Map<number, StoredMeta>();
  private manifest: Manifest['segments'] | undefined;
  /** The copy of a last segment in which nothing is sound, though its beginning was synced. */
  private lostLast = '';
  private readonly report: RecoveryReport = { segments: 0, batches: 0, bytes: 0, tornBytes: 0, damaged: [] };

  /** @param formatMax the newest protocol version that may be read */
  constructor(
    segments: SegmentSet,
    chunks: ChunkStore,
    tag: StoreTag,
    segmentBegun: number,
    formatMax: number,
    logger: Logger,
  ) {
    this.segments = segments;
    this.chunks = chunks;
    this.tag = tag;
    this.segmentBegun = segmentBegun;
    this.formatMax = formatMax;
    this.logger = logger;
  }

  /** Throws StoreRefusedError. @param segmentBytes the last segment is gone on with while it is smaller. */
  async run(visitor: RecoveryVisitor, segmentBytes: number): Promise<{ report: RecoveryReport; start: JournalStart }> {
    const numbers = (await this.segments.disk.list()).map(segmentNumber).filter((number) => number > 0);
    numbers.sort((a, b) => a - b);
    const lastSegmentNumber = Math.max(numbers[numbers.length - 1] ?? 0, this.segmentBegun);
    const lastFrameNumber = numbers.length === 0 ? 0 : await this.openSegments(numbers);
    await this.findMetas();
    const windows = new Windows(this.chunks, visitor, this.metas);
    for (const segment of this.segments.all()) await this.readSegment(segment, windows);
    this.findMissing(lastSegmentNumber);
    visitor.done();
    const last = this.segments.get(lastSegmentNumber);
    const goOn = last !== undefined && last.size < segmentBytes && !last.damaged;
    for (const segment of this.segments.all()) segment.sealed = segment !== last || !goOn;
    const end = { segment: goOn ? last : undefined, lastSegmentNumber, lastFrameNumber };
    this.report.segments = this.segments.size;
    return { report: this.report, start: { end, metas: this.metas } };
  }

  /** Finds the sizes; cuts the torn end. Returns the last frame's number. */
  private async openSegments(numbers: readonly number[]): Promise<number> {
    const disk = this.segments.disk;
    for (const number of numbers.slice(0, -1)) {
      const segment = new Segment(number, 0);
      this.segments.add(segment);
      segment.size = await this.withFile(segment, (file) => file.size());
    }
    const number = numbers[numbers.length - 1]!;
    const file = await disk.open(segmentName(number), { create: false });
    let tail: Tail;
    try {
      const size = await file.size();
      tail = await this.inspectTail(file, number, size);
      if (tail.end === 0 && number === this.segmentBegun) {
        this.lostLast = await quarantine(disk, new Segment(number, size));
      } else if (tail.tornBytes > 0) {
        this.report.tornBytes = tail.tornBytes;
        this.logger.warn('the end of the journal was torn by a crash; it was never acknowledged', {
          segment: segmentName(number),
          offset: tail.end,
          bytes: tail.tornBytes,
        });
      }
      if (tail.end < size) await file.truncate(tail.end);
      // What a dead process wrote may not be on disk yet, but will be relied on from now on. If its sync failed, the cache
      // still has it, and takes it for written: no sync would bring it to the disk.
      await writeAgain(file, tail.syncedOffset, tail.end);
      await file.sync();
    } finally {
      await file.close();
    }
    if (tail.end === 0) {
      await disk.unlink(segmentName(number));
      await disk.syncFolder();
    } else this.segments.add(new Segment(number, tail.end));
    return tail.lastFrameNumber;
  }

  private async inspectTail(file: DiskFile, number: number, size: number): Promise<Tail> {
    let syncedOffset = 0;
    let lastFrameNumber = 0;
    const bad: number[] = [];
    const scan = await scanSegment(file, number, this.tag, size, {
      frame: (header) => {
        lastFrameNumber = Math.max(lastFrameNumber, header.number);
        syncedOffset = Math.max(syncedOffset, header.syncedOffset);
      },
      damage: (frameStart) => {
        if (bad[bad.length - 1] !== frameStart) bad.push(frameStart);
      },
    });
    const torn = bad.find((offset) => offset >= syncedOffset);
    if (torn === undefined) return { end: scan.offset, tornBytes: 0, lastFrameNumber, syncedOffset };
    return { end: torn, tornBytes: Math.max(scan.zerosFrom, torn) - torn, lastFrameNumber, syncedOffset };
  }

  private async findMetas(): Promise<void> {
    for (const segment of [...this.segments.all()].reverse()) {
      const found = new Map<number, StoredMeta>();
      let manifest: Manifest['segments'] | undefined;
      let headLength = 0;
      let headDamaged = false;
      await this.scan(segment, {
        frame: (header) => {
          if (header.offset === 0 && (header.flags & FrameFlag.head) !== 0) headLength = header.length;
        },
        batch: (bytes, _view, start, length) => {
          const kind = bytes[start + 14]!;
          if (kind < BatchKind.meta) return;
          const value = decodeJson(bytes, start, start + length);
          if (kind === BatchKind.meta) found.set(bytes[start + 12]! + bytes[start + 13]! * 256, value as StoredMeta);
          else manifest = (value as Manifest).segments;
        },
        damage: (frameStart) => {
          headDamaged ||= frameStart < headLength;
        },
      });
      for (const [group, meta] of found) if (!this.metas.has(group)) this.metas.set(group, meta);
      this.manifest ??= manifest;
      if (headLength > 0 && !headDamaged) return;
    }
  }

  private async readSegment(segment: Segment, windows: Windows): Promise<void> {
    const damaged: { offset: number; bytes: number }[] = [];
    windows.begin(segment);
    const { offset: end } = await this.scan(segment, {
      batch: (bytes, view, start, length, fileOffset) => {
        const version = batchVersion(bytes, start);
        if (version > this.formatMax) throw tooNew(`the journal, ${segment.name},`, version, this.formatMax);
        this.report.batches++;
        windows.batch(bytes, view, start, length, fileOffset);
      },
      damage: (_frameStart, offset, bytes) => damaged.push({ offset, bytes }),
    });
    windows.end();
    const expected = this.manifest?.find(([number]) => number === segment.number)?.[1] ?? 0;
    if (end < expected) damaged.push({ offset: end, bytes: expected - end });
    this.report.bytes += segment.size;
    if (damaged.length === 0) return;
    segment.damaged = true;
    const quarantinedAs = await quarantine(this.segments.disk, segment);
    for (const { offset, bytes } of damaged)
      this.report.damaged.push({ segment: segment.name, offset, bytes, quarantinedAs });
    this.logger.error('the journal is damaged: acknowledged messages may be missing', {
      segment: segment.name,
      places: damaged.length,
      quarantinedAs,
    });
  }

  private findMissing(lastSegmentNumber: number): void {
    const expected = new Set((this.manifest ?? []).map(([number]) => number));
    // Of an older one the list tells, or it was removed since.
    if (this.segmentBegun > 0 && this.segmentBegun === lastSegmentNumber) expected.add(this.segmentBegun);
    for (const number of expected) {
      if (this.segments.get(number) !== undefined) continue;
      const segment = segmentName(number);
      this.report.damaged.push({
        segment,
        offset: 0,
        bytes: 0,
        quarantinedAs: number === this.segmentBegun ? this.lostLast : '',
      });
      this.logger.error('a segment of the journal is missing: acknowledged messages may be missing', { segment });
    }
  }

  private scan(segment: Segment, visitor: ScanVisitor): Promise<ScanEnd> {
    return this.withFile(segment, (file) => scanSegment(file, segment.number, this.tag, segment.size, visitor));
  }

  private async withFile<T>(segment: Segment, use: (file: DiskFile) => Promise<T>): Promise<T> {
    const file = await this.segments.acquire(segment);
    try {
      return await use(file);
    } finally {
      this.segments.release(segment);
    }
  }
}

async function writeAgain(file: DiskFile, start: number, end: number): Promise<void> {
  const block = new Uint8Array(Math.min(blockBytes, Math.max(0, end - start)));
  for (let at = start; at < end; at += block.length) {
    const bytes = block.subarray(0, end - at);
    await readFully(file, bytes, at);
    await file.write([bytes], at);
  }
}
