/**
 * The journal of a node: every group's batches in one sequence of segments, by group commit.
 *
 *   append ─→ lane of the group ─end of turn→ one frame ─write→ placed ─fdatasync→ durable, in order
 *                                   │ while one is under way the next gathers
 *                                   └ the first of a segment also carries all groups' meta data and the list of segments
 *
 * States: a full disk, or too many open files, keeps the frame in memory, tries again every second, and goes on by itself; any
 * other error of a write or sync ends it all, because what the disk holds is then unknown (rule 7): nothing is called durable ever after.
 */
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Phase, type Turn } from '../base/turn.js';
import { BatchKind } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { Journal, JournalOwner, JournalState } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import type { StoreTag } from './frame.js';
import { FramePlan } from './frame-plan.js';
import { JournalHealth, type StateListener } from './journal-health.js';
import { encodeJson, Lane, Range, type StoredMeta } from './lane.js';
import type { Place } from './place.js';
import type { SegmentSet } from './segment-set.js';
import { type JournalEnd, SegmentWriter } from './segment-writer.js';
import { isOutOfFiles, shortageOf } from './shortage.js';
import { SpaceWatch } from './space-watch.js';
import { unwrittenRanges } from './spill.js';

export interface JournalOptions {
  clock: Clock;
  turn: Turn;
  logger: Logger;
  chunks: ChunkStore;
  segments: SegmentSet;
  tag: StoreTag;
  /** Size at which a segment is full; one bigger frame may exceed it. */
  segmentBytes: number;
  /** Zeros that a small write brings along for the next ones to overwrite: see SegmentWriter. */
  zeroBytes: number;
  /** Free bytes of the disk below which the state is 'full'. */
  lowWaterBytes: number;
  /** Notes, elsewhere and durably, that a segment was begun: should its file be lost, nothing else would tell. */
  begun: (segment: number) => Promise<void>;
}

/** What recovery found. */
export interface JournalStart {
  end: JournalEnd;
  metas: ReadonlyMap<number, StoredMeta>;
}

/** Content of a manifest batch: the segments that must be there, each with the bytes that it has at least. */
export interface Manifest {
  segments: [number: number, bytes: number][];
}

/** Group number of batches that belong to no group. */
export const noGroup = 0xffff;

const retryMs = 1000;
const markPeriodMs = 1000;
/** Bytes of spilled chunks in one frame: the next waits for it. */
const spillBytesMax = 4 * 1024 * 1024;

export class DiskJournal implements Journal {
  pendingBytes = 0;
  readonly segments: SegmentSet;
  readonly writer: SegmentWriter;
  private readonly clock: Clock;
  private readonly turn: Turn;
  private readonly chunks: ChunkStore;
  private readonly begun: (segment: number) => Promise<void>;
  private readonly health: JournalHealth;
  private readonly space: SpaceWatch;
  private readonly lanes = new Map<number, Lane>();
  private dirty: Lane[] = [];
  private spills: Range[] = [];
  private spillHead = 0;
  private queued = false;
  private writing = false;
  /** When the write or sync under way began. */
  private busySince = 0;
  /** The frame that is being gathered or written: no segment knows of its records before they are written. */
  private underWay: FramePlan | undefined;
  private closing: Promise<void> | undefined;
  /** Nothing came for a while: tell what is synced, so that damage at rest is known as such. */
  private markWanted = false;
  private wroteSinceTick = false;
  private readonly markTimer: Timer;
  private retry: { timer: Timer; go: () => void } | undefined;
  private idle: (() => void) | undefined;
  /** Segments that are about to be removed: the next checkpoint no longer lists them. */
  private leaving: ReadonlySet<number> = new Set();
  private checkpointDone: (() => void)[] = [];
  /** The next frame begins a segment, however short the open one is. */
  private rollWanted = false;

  constructor(options: JournalOptions, start: JournalStart) {
    this.clock = options.clock;
    this.turn = options.turn;
    this.health = new JournalHealth(options.logger);
    this.chunks = options.chunks;
    this.begun = options.begun;
    this.segments = options.segments;
    this.writer = new SegmentWriter(options.segments, options.tag, options.segmentBytes, options.zeroBytes, start.end);
    this.space = new SpaceWatch(options.segments.disk, options.clock, options.lowWaterBytes, (low, freeBytes) =>
      this.health.setLow(low ? freeBytes : -1),
    );
    this.markTimer = options.clock.every(markPeriodMs, () => this.markIfIdle());
    for (const [group, meta] of start.metas) this.lane(group).adopt(meta);
  }

  // ---- Journal ----

  register(owner: JournalOwner): void {
    const lane = this.lane(owner.group);
    lane.join(owner);
    this.wantMeta(lane);
  }

  unregister(owner: JournalOwner): void {
    const lane = this.lanes.get(owner.group);
    if (lane?.owner !== owner) return;
    for (const range of lane.leave()) {
      this.chunks.unpin(range.chunk);
      this.pendingBytes -= range.byteLength;
      range.done?.();
    }
    this.underWay?.forget(owner.group);
    this.segments.forget(owner.group);
    this.wantMeta(lane);
  }

  append(owner: JournalOwner, chunk: Chunk, start: number, end: number, token: Lsn): void {
    const lane = this.lane(owner.group);
    if (lane.owner !== owner) return;
    // A copy batch has no place in the log: its token must not take that of a log batch in the same frame.
    if (token > lane.token) lane.token = token;
    const last = lane.ranges[lane.ranges.length - 1];
    if (last !== undefined && last.chunk === chunk && last.end === start && last.done === undefined) last.end = end;
    else this.addRange(lane, new Range(chunk, start, end));
    this.pendingBytes += end - start;
    this.queue(lane);
  }

  saveMeta(owner: JournalOwner, done: () => void): void {
    const lane = this.lane(owner.group);
    if (lane.owner !== owner) return;
    lane.metaDone.push(done);
    this.wantMeta(lane);
  }

  mayHold(group: number, from: Lsn, to: Lsn): boolean {
    if ((this.lanes.get(group)?.ranges.length ?? 0) > 0 || this.underWay?.holds(group) === true) return true;
    return this.segments.holds(group, from, to);
  }

  get state(): JournalState {
    return this.health.state;
  }

  /** Why the state is what it is; '' if it is 'ok'. */
  get reason(): string {
    return this.health.reason;
  }

  /** For how long the disk has not answered; 0 = it has nothing to do, or no space. */
  get stuckMs(): number {
    return this.writing && this.retry === undefined ? this.clock.now() - this.busySince : 0;
  }

  onState(listener: StateListener): void {
    this.health.listen(listener);
  }

  /** Writes what was appended, unless the disk takes nothing, and lets go of the files. */
  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    // Not before `closing` is set.
    await Promise.resolve();
    if (this.retry !== undefined) {
      this.retry.timer.cancel();
      this.retry.go();
    }
    this.markTimer.cancel();
    await new Promise<void>((resolve) => {
      this.idle = resolve;
      if (!this.queued) this.flush();
    });
    this.space.stop();
    await this.writer.close();
    await this.segments.close();
  }

  /**
   * Writes what of the chunk was never written, without waiting for a sync, and calls `done` then; the caller keeps it pinned
   * until then. False: the disk takes nothing now.
   */
  spill(chunk: Chunk, done: () => void): boolean {
    if (this.state === 'failed' || this.health.isShort || this.closing !== undefined) return false;
    const gaps = unwrittenRanges(chunk);
    for (const [index, [start, end]] of gaps.entries()) {
      const last = index === gaps.length - 1;
      this.spills.push(new Range(chunk, start, end, last ? done : undefined));
    }
    this.wake();
    return true;
  }

  // ---- for compaction ----

  ownerOf(group: number): JournalOwner | undefined {
    return this.lanes.get(group)?.owner;
  }

  /** Does what lies there count? Not if its group has left this node since. */
  counts(group: number, segment: number, offset: number): boolean {
    return this.lanes.get(group)?.counts(segment, offset) ?? true;
  }

  /** Queues a copy batch in bytes [start, end) of `chunk`; resolves when it is on disk, or the owner's group has left. */
  appendCopy(owner: JournalOwner, chunk: Chunk, start: number, end: number): Promise<void> {
    const lane = this.lane(owner.group);
    if (lane.owner !== owner) return Promise.resolve();
    return new Promise((resolve) => {
      this.addRange(lane, new Range(chunk, start, end, resolve));
      this.pendingBytes += end - start;
      this.queue(lane);
    });
  }

  /** Writes all groups' meta and the list of segments, without those in `leaving`; resolves when that is on disk. */
  checkpoint(leaving: ReadonlySet<number>): Promise<void> {
    return new Promise((resolve) => {
      this.leaving = leaving;
      this.checkpointDone.push(resolve);
      this.wake();
    });
  }

  /** Begins a new segment, though the open one is not full: only one that has ended can be emptied. Resolves when that is on disk. */
  endSegment(): Promise<void> {
    this.rollWanted = true;
    return this.checkpoint(new Set());
  }

  /** Space is short, or soon will be: what is not needed should go at once. */
  get isTight(): boolean {
    return this.space.tight || this.state === 'full';
  }

  /** Everything before this place is on disk; undefined: that is not known. */
  get end(): Place | undefined {
    const { current, syncedOffset } = this.writer;
    return current === undefined || syncedOffset === 0 || this.state === 'failed'
      ? undefined
      : [current.number, syncedOffset];
  }

  /** Files were removed: publishers may go on if that was enough. */
  freed(): void {
    if (this.isTight) void this.space.look();
  }

  // ---- gathering ----

  private lane(group: number): Lane {
    let lane = this.lanes.get(group);
    if (lane === undefined) {
      lane = new Lane(group);
      this.lanes.set(group, lane);
    }
    return lane;
  }

  private addRange(lane: Lane, range: Range): void {
    this.chunks.pin(range.chunk);
    lane.ranges.push(range);
  }

  private wantMeta(lane: Lane): void {
    lane.metaWanted = true;
    this.queue(lane);
  }

  private queue(lane: Lane): void {
    if (!lane.queued) {
      lane.queued = true;
      this.dirty.push(lane);
    }
    this.wake();
  }

  private wake(): void {
    if (this.queued || this.writing) return;
    this.queued = true;
    this.turn.add(Phase.journal, this);
  }

  private markIfIdle(): void {
    if (!this.wroteSinceTick && this.writer.untold) {
      this.markWanted = true;
      this.wake();
    }
    this.wroteSinceTick = false;
  }

  /** The end of a turn: starts the disk. */
  flush(): void {
    this.queued = false;
    if (this.writing) return;
    if (this.state === 'failed' || (this.closing !== undefined && this.health.isShort)) {
      this.idle?.();
      return;
    }
    const plan = this.gather();
    if (plan.empty) this.idle?.();
    else void this.write(plan);
  }

  private gather(): FramePlan {
    const plan = new FramePlan();
    // Before metas are taken: they ask what may be on disk.
    this.underWay = plan;
    const dirty = this.dirty;
    this.dirty = [];
    for (const lane of dirty) {
      lane.queued = false;
      plan.take(lane);
    }
    for (let bytes = 0; this.spillHead < this.spills.length && bytes < spillBytesMax; this.spillHead++) {
      const range = this.spills[this.spillHead]!;
      plan.takeSpill(range);
      bytes += range.byteLength;
    }
    if (this.spillHead === this.spills.length) {
      this.spills = [];
      this.spillHead = 0;
    }
    const checkpoint = this.checkpointDone.length > 0;
    plan.mark = (this.markWanted || this.closing !== undefined) && plan.empty && this.writer.untold;
    this.markWanted = false;
    if (!plan.empty || checkpoint || dirty.length > 0)
      plan.head = this.writer.needsRoll(plan.bytes) || (this.rollWanted && this.writer.current!.size > 0);
    this.rollWanted &&= !plan.head;
    for (const lane of dirty) {
      if (!lane.beginsAnew) continue;
      lane.begins = this.placeOf(plan);
      lane.beginsAnew = false;
    }
    // Metas come last: they must not claim more than what the frame and those before it bring to the disk.
    if (plan.head || checkpoint) for (const lane of this.lanes.values()) plan.takeMeta(lane);
    else for (const lane of dirty) if (lane.metaWanted) plan.takeMeta(lane);
    if (plan.head || checkpoint) plan.addPart(encodeJson(noGroup, BatchKind.manifest, this.manifest(plan.head)));
    for (const done of this.checkpointDone) plan.addDone(done);
    this.checkpointDone = [];
    return plan;
  }

  /** Where the frame will lie. */
  private placeOf(plan: FramePlan): Place {
    const { current, nextSegmentNumber } = this.writer;
    return plan.head || current === undefined ? [nextSegmentNumber, 0] : [current.number, current.size];
  }

  private manifest(roll: boolean): Manifest {
    const segments: [number, number][] = [];
    for (const segment of this.segments.all()) {
      if (this.leaving.has(segment.number)) continue;
      // A segment that ends now is synced before the next begins.
      const bytes = segment === this.writer.current && !roll ? this.writer.syncedOffset : segment.size;
      segments.push([segment.number, bytes]);
    }
    if (roll) segments.push([this.writer.nextSegmentNumber, 0]);
    return { segments };
  }

  // ---- writing ----

  private async write(plan: FramePlan): Promise<void> {
    this.writing = true;
    this.busySince = this.clock.now();
    this.wroteSinceTick = true;
    const synced = await this.writeUntilDone(plan);
    this.writing = false;
    this.underWay = undefined;
    if (!synced) {
      this.idle?.();
      return;
    }
    this.pendingBytes -= plan.pendingBytes;
    plan.complete((range) => this.chunks.unpin(range.chunk));
    this.space.wrote(plan.bytes);
    this.wake();
  }

  /** Writes and syncs the frame; false if it never can be. Space, or a file descriptor, is waited for. */
  private async writeUntilDone(plan: FramePlan): Promise<boolean> {
    for (let placed = false, synced = false, rolled = !plan.head; ; ) {
      try {
        if (!placed) {
          const segment = await this.writer.prepare(!rolled);
          rolled = true;
          plan.note(segment);
          plan.placed(segment, await this.writer.append(plan.parts, plan.bytes, plan.head));
          placed = true;
          this.busySince = this.clock.now();
          this.health.setShortage('');
        }
        if ((plan.sync || plan.head) && !synced) await this.writer.sync();
        synced = true;
        if (plan.head) await this.begun(this.writer.current!.number);
        this.health.setShortage('');
        return true;
      } catch (error) {
        const shortage = placed && !synced ? '' : shortageOf(error);
        if (shortage === '') {
          this.health.fail(error as Error);
          return false;
        }
        if (isOutOfFiles(error) && (await this.segments.closeUnused(0)) > 0) continue;
        this.health.setShortage(shortage);
        if (!(await this.waitForRetry())) return false;
        this.busySince = this.clock.now();
      }
    }
  }

  /** False if the journal is being closed. */
  private waitForRetry(): Promise<boolean> {
    if (this.closing !== undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      const go = () => {
        this.retry = undefined;
        resolve(this.closing === undefined);
      };
      this.retry = { timer: this.clock.after(retryMs, go), go };
    });
  }
}
