/**
 * Reads a journal at start: finds where it really ends, the newest meta data of each group, then all records.
 *
 *   1. the last segment: damage behind everything that a later frame, or the last clean stop, calls synced is taken for the
 *      torn end of a crash; cut off
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
import { FrameFlag, frameHeaderBytes, type StoreTag } from './frame.js';
import { tooNew } from './refusal.js';
import type { JournalStart, Manifest } from './journal.js';
import { decodeJson, type StoredMeta } from './lane.js';
import type { Place } from './place.js';
import { putAside, quarantine, quarantineTail } from './quarantine.js';
import { Segment, segmentName, segmentNumber } from './segment.js';
import { type ScanEnd, type ScanVisitor, scanSegment } from './segment-scan.js';
import type { SegmentSet } from './segment-set.js';
import { isNoSpace } from './shortage.js';
import { Windows } from './windows.js';

/** What the store's identity says of the journal. */
export interface KnownJournal {
  /** The last segment that was begun; 0: not known. */
  readonly segment: number;
  /** Where it ended at the last clean stop: everything before was on disk. */
  readonly end: Place;
}

interface Tail {
  /** Bytes of whole frames. */
  end: number;
  tornBytes: number;
  lastFrameNumber: number;
  /** Everything before this is synced, as a frame or the last clean stop tells. */
  syncedOffset: number;
  /** It begins like one of our segments. */
  isOurs: boolean;
}

const blockBytes = 1024 * 1024;

export class Recovery {
  private readonly segments: SegmentSet;
  private readonly chunks: ChunkStore;
  private readonly tag: StoreTag;
  private readonly known: KnownJournal;
  private readonly formatMax: number;
  private readonly logger: Logger;
  private readonly metas = new Map<number, StoredMeta>();
  private manifest: Manifest['segments'] | undefined;
  /** The copy of a last segment in which nothing is sound, though its beginning was synced. */
  private lostLast = '';
  /** Length of the last segment's file. */
  private lastFileBytes = 0;
  private readonly report: RecoveryReport = { segments: 0, batches: 0, bytes: 0, tornBytes: 0, damaged: [] };

  /** @param formatMax the newest protocol version that may be read */
  constructor(
    segments: SegmentSet,
    chunks: ChunkStore,
    tag: StoreTag,
    known: KnownJournal,
    formatMax: number,
    logger: Logger,
  ) {
    this.segments = segments;
    this.chunks = chunks;
    this.tag = tag;
    this.known = known;
    this.formatMax = formatMax;
    this.logger = logger;
  }

  /** Throws StoreRefusedError. @param segmentBytes the last segment is gone on with while it is smaller. */
  async run(visitor: RecoveryVisitor, segmentBytes: number): Promise<{ report: RecoveryReport; start: JournalStart }> {
    const numbers = (await this.segments.disk.list()).map(segmentNumber).filter((number) => number > 0);
    numbers.sort((a, b) => a - b);
    const lastSegmentNumber = Math.max(numbers[numbers.length - 1] ?? 0, this.known.segment);
    const lastFrameNumber = numbers.length === 0 ? 0 : await this.openSegments(numbers);
    await this.findMetas();
    const windows = new Windows(this.chunks, visitor, this.metas);
    for (const segment of this.segments.all()) await this.readSegment(segment, windows);
    this.findMissing(lastSegmentNumber);
    visitor.done();
    const last = this.segments.get(lastSegmentNumber);
    const goOn = last !== undefined && last.size < segmentBytes && !last.damaged;
    for (const segment of this.segments.all()) segment.sealed = segment !== last || !goOn;
    const segment = goOn ? last : undefined;
    const end = { segment, fileBytes: this.lastFileBytes, lastSegmentNumber, lastFrameNumber };
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
      this.report.tornBytes = number === this.known.segment && tail.end === 0 ? 0 : tail.tornBytes;
      if (tail.end === 0) {
        await this.putAsideLast(number, tail);
        return tail.lastFrameNumber;
      }
      if (tail.tornBytes > 0) await this.tellTorn(file, number, tail);
      // Zeros stay: on a full disk there may be no other room.
      this.lastFileBytes = tail.tornBytes > 0 ? tail.end : size;
      if (tail.tornBytes > 0) await file.truncate(tail.end);
      // What a dead process wrote may not be on disk yet, but will be relied on from now on. If its sync failed, the cache
      // still has it, and takes it for written: no sync would bring it to the disk.
      await writeAgain(file, tail.syncedOffset, tail.end);
      await file.sync();
    } finally {
      await file.close();
    }
    this.segments.add(new Segment(number, tail.end));
    return tail.lastFrameNumber;
  }

  /** The last segment's file, in which no frame is sound: removed if a crash left it so, otherwise kept under another name. */
  private async putAsideLast(number: number, tail: Tail): Promise<void> {
    const { disk } = this.segments;
    const segment = segmentName(number);
    const bytes = tail.tornBytes;
    const begun = number === this.known.segment;
    if (begun || (bytes > frameHeaderBytes && !tail.isOurs)) {
      const quarantinedAs = await putAside(disk, segment);
      if (begun) this.lostLast = quarantinedAs;
      else
        this.logger.warn("a file that is none of the journal's was in the place of a segment: it is put aside", {
          segment,
          bytes,
          quarantinedAs,
        });
    } else await disk.unlink(segment);
    await disk.syncFolder();
  }

  /** Of what was written since the last clean stop nobody knows if it was confirmed: that only a crash tears it is likely. */
  private async tellTorn(file: DiskFile, number: number, { end, tornBytes }: Tail): Promise<void> {
    const segment = segmentName(number);
    const [lastSegment, lastEnd] = this.known.end;
    // A clean stop may leave a mark behind what it notes. If nothing more was written since, no crash explains what is there.
    const isUnexplained = number === lastSegment && end <= lastEnd + frameHeaderBytes && tornBytes > frameHeaderBytes;
    const keep = (): Promise<string> => quarantineTail(this.segments.disk, file, segment, end, tornBytes);
    const quarantinedAs = isUnexplained ? await this.kept(segment, keep) : '';
    this.logger.warn(
      'the journal does not end with a whole frame, as after a crash in the middle of a write: its end is cut off',
      {
        segment,
        offset: end,
        bytes: tornBytes,
        quarantinedAs,
      },
    );
  }

  /** The name of a copy, '' if there is no space for it: a full disk must not keep anybody from what is sound. */
  private async kept(segment: string, copy: () => Promise<string>): Promise<string> {
    try {
      return await copy();
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      this.logger.error('there is no space for a copy of what is damaged', { segment });
      return '';
    }
  }

  private async inspectTail(file: DiskFile, number: number, size: number): Promise<Tail> {
    let syncedOffset = this.knownBytes(number);
    let lastFrameNumber = 0;
    let isOurs = false;
    const bad: number[] = [];
    const scan = await scanSegment(file, number, this.tag, size, {
      frame: (header) => {
        lastFrameNumber = Math.max(lastFrameNumber, header.number);
        syncedOffset = Math.max(syncedOffset, header.syncedOffset);
        isOurs ||= header.offset === 0;
      },
      damage: (frameStart) => {
        if (bad[bad.length - 1] !== frameStart) bad.push(frameStart);
      },
    });
    const torn = bad.find((offset) => offset >= syncedOffset);
    const common = { lastFrameNumber, syncedOffset, isOurs };
    if (torn === undefined) return { end: scan.offset, tornBytes: 0, ...common };
    return { end: torn, tornBytes: Math.max(scan.zerosFrom, torn) - torn, ...common };
  }

  /** Bytes that the segment had at the last clean stop, as far as it is known. */
  private knownBytes(number: number): number {
    const [segment, offset] = this.known.end;
    return number === segment ? offset : 0;
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
    const listed = this.manifest?.find(([number]) => number === segment.number)?.[1] ?? 0;
    const expected = Math.max(listed, this.knownBytes(segment.number));
    if (end < expected) damaged.push({ offset: end, bytes: expected - end });
    this.report.bytes += segment.size;
    if (damaged.length === 0) return;
    segment.damaged = true;
    const quarantinedAs = await this.kept(segment.name, () => quarantine(this.segments.disk, segment));
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
    const begun = this.known.segment;
    if (begun > 0 && begun === lastSegmentNumber) expected.add(begun);
    for (const number of expected) {
      if (this.segments.get(number) !== undefined) continue;
      const segment = segmentName(number);
      this.report.damaged.push({
        segment,
        offset: 0,
        bytes: 0,
        quarantinedAs: number === begun ? this.lostLast : '',
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
