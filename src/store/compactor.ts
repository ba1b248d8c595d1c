/**
 * Gives disk space back, beside live traffic.
 *
 *   a segment without chunks, whose dequeues cancel nothing that may lie elsewhere → checkpoint → unlinked, folder synced
 *   a segment with little in it that is needed → copied to the journal's end (SegmentCopy) → as above
 *
 * The checkpoint (all groups' meta, list of segments) comes first, so that an old segment never holds the last word on a
 * publisher's number or a cut range, and so that recovery does not miss the segment (rule 19).
 *
 * While space is tight nothing waits until it is worth it: the open segment is ended when much of it is dead (while publishing
 * is paused it would not grow, and never end), and whatever is sparse is copied, if the disk has room for the copy.
 *
 * When what was lost by damage is there again, damaged segments go the same way, however much of them is needed: the next
 * recovery is to find a journal without damage.
 */
import { type Clock, sleep, type Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Rules } from '../base/rules.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { StoreTag } from './frame.js';
import type { DiskJournal } from './journal.js';
import type { Segment } from './segment.js';
import { SegmentCopy } from './segment-copy.js';
import type { SegmentSet } from './segment-set.js';
import { shortageOf } from './shortage.js';

export interface CompactorOptions {
  clock: Clock;
  logger: Logger;
  rules: Rules;
  chunks: ChunkStore;
  segments: SegmentSet;
  journal: DiskJournal;
  tag: StoreTag;
  /** Copying begins when so many bytes could be won in all. */
  garbageBytesMin: number;
}

const periodMs = 250;
/** A segment is copied when less of it than this is needed. */
const neededRatioMax = 0.5;
/** While space is tight this share of what is worth it otherwise is enough. */
const tightShare = 1 / 16;
/** Of a segment's size, for what a new segment begins with and consumers write meanwhile. */
const spareShare = 1 / 64;
/** A look at what a segment's dequeues cancel elsewhere takes up to a few tenths of a millisecond, with a thousand segments. */
const looksPerTurn = 8;
/** A segment of which a part is in use is looked at again after this. */
const postponeMs = 2000;
/** Rest for each millisecond of copying; less when garbage outgrows what is needed. */
const restRatio = 4;
const restRatioInHaste = 1;
const hasteBytes = 256 * 1024 * 1024;

export class Compactor {
  private readonly options: CompactorOptions;
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;
  private rejectWait: ((error: Error) => void) | undefined;
  private hasty = false;
  /** Called when no damage is left; set while it is being got rid of. */
  private mended: (() => Promise<void>) | undefined;

  constructor(options: CompactorOptions) {
    this.options = options;
  }

  start(): void {
    this.timer = this.options.clock.every(periodMs, () => {
      if (this.running === undefined && this.options.journal.state !== 'failed') void this.round();
    });
  }

  /** One look at the whole journal; resolves when nothing can be done at once. Never rejects. */
  round(): Promise<void> {
    this.running ??= this.work().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Gets rid of all damaged segments, and calls `mended` when none is on disk any more, nor known to be missing. */
  mend(mended: () => Promise<void>): void {
    this.mended = mended;
  }

  /** Resolves when no file is touched any more. To be called before the journal is closed. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    this.rejectWait?.(new Error('the journal is being closed'));
    await this.running;
  }

  private async work(): Promise<void> {
    try {
      await this.removeDead();
      if (this.options.journal.isTight) await this.endOpen();
      const segment = await this.choose();
      if (segment !== undefined && (await this.copy(segment))) await this.removeDead();
      if (this.mended !== undefined) await this.endMending(this.mended);
    } catch (error) {
      if (!this.stopped)
        this.options.logger.warn('compaction will be tried again', { error: (error as Error).message });
    }
  }

  private async endMending(mended: () => Promise<void>): Promise<void> {
    const { segments, journal } = this.options;
    for (const segment of segments.all()) if (segment.damaged) return;
    // The list of segments no longer has what is missing.
    await this.unlessStopped(journal.checkpoint(new Set()));
    await this.unlessStopped(mended());
    this.mended = undefined;
  }

  // ---- dead segments ----

  /** Removing one may free another whose dequeues it held back, hence the loop. */
  private async removeDead(): Promise<void> {
    const { segments, journal, logger } = this.options;
    for (;;) {
      const dead = await this.findDead();
      if (dead.length === 0) return;
      await this.unlessStopped(journal.checkpoint(new Set(dead.map((segment) => segment.number))));
      let removed = 0;
      for (const segment of dead) {
        if (this.stopped) return;
        if (segment.users > 0) continue;
        await segments.unlink(segment);
        removed++;
        logger.debug('segment removed', { segment: segment.name });
      }
      journal.freed();
      if (removed === 0) return;
    }
  }

  private async findDead(): Promise<Segment[]> {
    const { segments, clock } = this.options;
    const dead: Segment[] = [];
    let looked = 0;
    for (const segment of [...segments.all()]) {
      if (!segment.sealed || segment.chunks.size > 0 || segment.users > 0) continue;
      if (++looked % looksPerTurn === 0) await this.unlessStopped(sleep(clock, 1));
      if (segment.carried || !segments.isNeeded(segment)) dead.push(segment);
    }
    return dead;
  }

  // ---- sparse segments ----

  /** Ends the open segment if that makes it one that can be emptied. */
  private async endOpen(): Promise<void> {
    const { journal, garbageBytesMin } = this.options;
    const open = journal.writer.current;
    if (open === undefined || open.sealed) return;
    const needed = this.neededBytes(open, liveBytes(open));
    if (needed >= open.size * neededRatioMax || open.size - needed < garbageBytesMin * tightShare) return;
    if (await this.hasRoom(needed)) await this.unlessStopped(journal.endSegment());
  }

  /** Bytes of the segment that a copy of it would have. */
  private neededBytes(segment: Segment, live: number): number {
    return live + (this.options.segments.isNeeded(segment) ? segment.cancelBytes : 0);
  }

  /** Is there space for a copy of so many bytes? */
  private async hasRoom(bytes: number): Promise<boolean> {
    const { segments, garbageBytesMin } = this.options;
    const free = await this.unlessStopped(segments.disk.freeBytes().catch(() => Number.POSITIVE_INFINITY));
    return bytes + garbageBytesMin * spareShare <= free;
  }

  /** The sealed segment with the smallest needed part, if copying is worth it; before that a damaged one. */
  private async choose(): Promise<Segment | undefined> {
    if (this.mended !== undefined) {
      const damaged = this.chooseDamaged();
      if (damaged !== undefined) return damaged;
    }
    const { segments, journal, garbageBytesMin, clock } = this.options;
    const sparse: { segment: Segment; live: number }[] = [];
    let garbage = 0;
    let needed = 0;
    for (const segment of segments.all()) {
      if (!segment.sealed || segment.size === 0) continue;
      const live = liveBytes(segment);
      if (live === 0) this.closeDeadChunks(segment);
      garbage += Math.max(0, segment.size - live - segment.cancelBytes);
      needed += live + segment.cancelBytes;
      if (live < segment.size * neededRatioMax && clock.now() >= segment.copyNotBefore && !segment.carried)
        sparse.push({ segment, live });
    }
    const { isTight } = journal;
    this.hasty = isTight || garbage > needed + hasteBytes;
    if (garbage < garbageBytesMin && !isTight) return undefined;
    const gainMin = isTight ? garbageBytesMin * tightShare : 0;
    sparse.sort((a, b) => a.live / a.segment.size - b.live / b.segment.size);
    let best: Segment | undefined;
    let bestRatio = neededRatioMax;
    for (const { segment, live } of sparse.slice(0, looksPerTurn)) {
      const ratio = this.neededBytes(segment, live) / segment.size;
      if (ratio >= bestRatio || segment.size * (1 - ratio) < gainMin) continue;
      best = segment;
      bestRatio = ratio;
    }
    if (best !== undefined && isTight && !(await this.hasRoom(bestRatio * best.size))) return undefined;
    return best;
  }

  private chooseDamaged(): Segment | undefined {
    const { segments, clock } = this.options;
    for (const segment of segments.all()) {
      if (!segment.damaged || segment.carried || clock.now() < segment.copyNotBefore) continue;
      this.closeDeadChunks(segment);
      return segment;
    }
    return undefined;
  }

  /** A group that has nothing to write keeps its last chunk open, perhaps for days. */
  private closeDeadChunks(segment: Segment): void {
    for (const chunk of [...segment.chunks])
      if (chunk.live === 0) this.options.journal.ownerOf(chunk.group)?.closeChunk(chunk);
  }

  private async copy(segment: Segment): Promise<boolean> {
    const { clock, chunks, segments, tag, journal, logger } = this.options;
    const copy = new SegmentCopy(
      {
        clock,
        chunks,
        segments,
        tag,
        rules: this.options.rules,
        ownerOf: (group) => journal.ownerOf(group),
        counts: (group, number, offset) => journal.counts(group, number, offset),
        appendCopy: (owner, chunk, start, end) => journal.appendCopy(owner, chunk, start, end),
        unlessStopped: (promise) => this.unlessStopped(promise),
        restRatio: this.hasty ? restRatioInHaste : restRatio,
      },
      segment,
    );
    try {
      const done = await copy.run();
      if (done) logger.debug('segment copied', { segment: segment.name, bytes: copy.copiedBytes });
      else segment.copyNotBefore = clock.now() + postponeMs;
      return done;
    } catch (error) {
      if (!this.stopped && shortageOf(error) !== '') {
        segment.copyNotBefore = clock.now() + postponeMs;
        logger.warn('compaction will be tried again', { segment: segment.name, error: (error as Error).message });
      } else if (!this.stopped) {
        segment.copyNotBefore = Number.POSITIVE_INFINITY;
        logger.error('a segment cannot be compacted; it stays', {
          segment: segment.name,
          error: (error as Error).message,
        });
      }
      return false;
    }
  }

  /** There is one wait at a time. (`Promise.race` with a promise of the end would keep every wait until then.) */
  private unlessStopped<T>(promise: Promise<T>): Promise<T> {
    if (this.stopped) return Promise.reject(new Error('the journal is being closed'));
    return new Promise((resolve, reject) => {
      this.rejectWait = reject;
      promise.then(resolve, reject);
    });
  }
}

/** Bytes of live records in the segment. A chunk that lies in several segments is taken to be live evenly. */
function liveBytes(segment: Segment): number {
  let bytes = 0;
  for (const chunk of segment.chunks) {
    const pieces = chunk.pieces;
    const alone = pieces.segment(0) === segment.number && pieces.segment(pieces.count - 1) === segment.number;
    bytes += alone ? chunk.liveBytes : (chunk.liveBytes * pieces.bytesIn(segment.number)) / pieces.totalBytes;
  }
  return bytes;
}
