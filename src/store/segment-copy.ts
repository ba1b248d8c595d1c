/**
 * Empties one segment: what is still needed of it is written again at the journal's end, in copy batches.
 *
 *   live messages and open queues, chunk by chunk:   copy → durable → the owner refers to the copy
 *   records that cancel others (rule 19), if what they cancel may lie in another segment:   copy → durable
 *
 * Then nothing in the segment matters any more. What is of a group that has left this node since counts no more, and stays behind.
 * Whatever fails or stops in between leaves both places valid: a copy has its
 * record's lsn, and cancelling records are kept as long as any copy is.
 */
import { type Clock, sleep } from '../base/clock.js';
import type { Rules } from '../base/rules.js';
import { BatchFlag, BatchKind, batchHeaderBytes } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { JournalOwner } from '../log/journal.js';
import { RecordKind } from '../log/record.js';
import { CancelFilter } from './cancel-filter.js';
import { type AppendCopy, CopyTarget } from './copy-target.js';
import type { StoreTag } from './frame.js';
import type { Segment } from './segment.js';
import { scanSegment } from './segment-scan.js';
import type { SegmentSet } from './segment-set.js';

export interface CopyOptions {
  clock: Clock;
  chunks: ChunkStore;
  segments: SegmentSet;
  tag: StoreTag;
  rules: Rules;
  ownerOf(group: number): JournalOwner | undefined;
  /** Does what lies at that place of a segment count? */
  counts(group: number, segment: number, offset: number): boolean;
  appendCopy: AppendCopy;
  /** Waits as well as `promise` does, but rejects when the journal is being closed. */
  unlessStopped<T>(promise: Promise<T>): Promise<T>;
  /** Milliseconds of rest for each millisecond of work. */
  restRatio: number;
}

/** About what it takes to look through a block of dequeues. */
const blockWorkMs = 2;

/** Live records under way: from offset, to chunk, to offset. */
class Moves {
  readonly from: number[] = [];
  readonly to: Chunk[] = [];
  readonly toOffset: number[] = [];

  add(from: number, target: CopyTarget, record: Uint8Array): void {
    this.from.push(from);
    this.toOffset.push(target.add(record, 0, record.length));
    this.to.push(target.lastChunk);
  }
}

export class SegmentCopy {
  private readonly options: CopyOptions;
  private readonly segment: Segment;
  /** As they were at the beginning: a group may leave, and another stay of it begin. */
  private readonly owners = new Map<number, JournalOwner>();
  private readonly targets = new Map<number, CopyTarget>();
  /** Bytes of records that were copied. */
  copiedBytes = 0;

  constructor(options: CopyOptions, segment: Segment) {
    this.options = options;
    this.segment = segment;
  }

  /** True if the segment is now without anything needed. False: somebody still uses a part of it; try later. */
  async run(): Promise<boolean> {
    const segment = this.segment;
    for (const group of segment.groups.keys()) {
      const owner = this.options.ownerOf(group);
      if (owner === undefined || owner.mayCopy?.() === false) return false;
      this.owners.set(group, owner);
    }
    try {
      for (const chunk of [...segment.chunks]) if (!(await this.emptyChunk(chunk))) return false;
      if (this.options.segments.isNeeded(segment)) await this.carry();
      segment.carried = true;
      return true;
    } finally {
      for (const target of this.targets.values()) target.close();
    }
  }

  // ---- live records ----

  private async emptyChunk(chunk: Chunk): Promise<boolean> {
    const { chunks, ownerOf, unlessStopped } = this.options;
    const segment = this.segment;
    if (!segment.chunks.has(chunk)) return true;
    if (!this.counts(chunk)) {
      // Nobody will read it again: it is about to be let go.
      segment.chunks.delete(chunk);
      return true;
    }
    const owner = ownerOf(chunk.group);
    if (chunk.pins > 0) owner?.closeChunk(chunk);
    if (!segment.chunks.has(chunk)) return true;
    if (chunk.pins > 0) return false;
    await unlessStopped(this.loadAndPin(chunk));
    try {
      if (owner === undefined) return this.unspill(chunk);
      return await this.copyChunk(chunk, owner);
    } finally {
      chunks.unpin(chunk);
    }
  }

  /** A chunk lies in one stay of its group. */
  private counts(chunk: Chunk): boolean {
    const { pieces } = chunk;
    return pieces.count === 0 || this.options.counts(chunk.group, pieces.segment(0), pieces.fileOffset(0));
  }

  private async copyChunk(chunk: Chunk, owner: JournalOwner): Promise<boolean> {
    const { clock, unlessStopped } = this.options;
    const { segment } = this;
    const began = clock.now();
    const target = this.target(owner);
    const moves = this.copyLive(chunk, owner, target);
    for (const record of moves.from) this.copiedBytes += chunk.view!.getUint32(record, true);
    await this.rest(clock.now() - began);
    await unlessStopped(target.flush());
    if (this.options.ownerOf(chunk.group) !== owner) return false;
    for (let i = 0; i < moves.from.length; i++) owner.moved(chunk, moves.from[i]!, moves.to[i]!, moves.toOffset[i]!);
    target.settle();
    if (chunk.live > 0 && isWhollyIn(segment, chunk))
      throw new Error(`chunk ${chunk.id} of ${segment.name} has ${chunk.live} entries that were not found in it`);
    segment.chunks.delete(chunk);
    chunk.pieces.compactedBytes += chunk.pieces.dropSegment(segment.number);
    return true;
  }

  /**
   * A chunk of a group that is not journaled was only spilled here. It is in memory now: its place here is given up, and it
   * is spilled again, elsewhere, when memory is short. False if it is of a journaled group that nobody has registered yet.
   */
  private unspill(chunk: Chunk): boolean {
    const { segment } = this;
    for (const [batch] of this.batchesHere(chunk))
      if ((chunk.bytes![batch + 15]! & BatchFlag.durable) !== 0) return false;
    segment.chunks.delete(chunk);
    chunk.writtenBytes -= chunk.pieces.dropSegment(segment.number);
    return true;
  }

  /** Start and end of the batches of the chunk, which is resident, that lie in the segment. */
  private *batchesHere(chunk: Chunk): Generator<[start: number, end: number]> {
    const { pieces } = chunk;
    const view = chunk.view!;
    for (let i = 0; i < pieces.count; i++) {
      if (pieces.segment(i) !== this.segment.number) continue;
      const end = pieces.start(i) + pieces.length(i);
      for (let batch = pieces.start(i); batch < end; ) {
        const batchEnd = batch + view.getUint32(batch + 4, true);
        yield [batch, batchEnd];
        batch = batchEnd;
      }
    }
  }

  private loadAndPin(chunk: Chunk): Promise<void> {
    return new Promise((resolve, reject) => {
      this.options.chunks.load(chunk, (error) => {
        if (error !== undefined) reject(error);
        else {
          this.options.chunks.pin(chunk);
          resolve();
        }
      });
    });
  }

  private copyLive(chunk: Chunk, owner: JournalOwner, target: CopyTarget): Moves {
    const moves = new Moves();
    const bytes = chunk.bytes!;
    const view = chunk.view!;
    target.begin(owner.meta().applied);
    for (const [batch, end] of this.batchesHere(chunk)) {
      for (let at = batch + batchHeaderBytes; at < end; at += view.getUint32(at, true)) {
        const kind = bytes[at + 4]!;
        if (kind !== RecordKind.enqueue && kind !== RecordKind.open) continue;
        const record = owner.copyRecord(chunk, at);
        if (record !== undefined) moves.add(at, target, record);
      }
    }
    return moves;
  }

  // ---- cancelling records ----

  /** Reads the whole segment: the chunks of its dequeues are long gone. */
  private async carry(): Promise<void> {
    const { segments, tag, rules } = this.options;
    if (!rules.cancelsKept) return;
    const segment = this.segment;
    const filters = new Map<number, CancelFilter>();
    for (const group of segment.groups.keys()) {
      const owner = this.owners.get(group)!;
      const { holds, opens } = segments.presenceElsewhere(group, segment);
      filters.set(group, new CancelFilter(holds, opens, owner.meta().voids));
      this.target(owner).begin(0);
    }
    const file = await segments.acquire(segment);
    try {
      await scanSegment(file, segment.number, tag, segment.size, {
        pause: () => this.rest(blockWorkMs),
        batch: (bytes, view, start, length, offset) => this.carryBatch(filters, bytes, view, start, length, offset),
        // Told by recovery. What cannot be read cancels nothing: its messages came back then, and are live now.
        damage: () => undefined,
      });
    } finally {
      segments.release(segment);
    }
    for (const target of this.targets.values()) await this.options.unlessStopped(target.flush());
  }

  private carryBatch(
    filters: ReadonlyMap<number, CancelFilter>,
    bytes: Uint8Array,
    view: DataView,
    start: number,
    length: number,
    fileOffset: number,
  ): void {
    const kind = bytes[start + 14]!;
    const group = view.getUint16(start + 12, true);
    const filter = filters.get(group);
    if (kind > BatchKind.copy || filter === undefined) return;
    if (!this.options.counts(group, this.segment.number, fileOffset)) return;
    for (let at = start + batchHeaderBytes; at < start + length; ) {
      const recordLength = view.getUint32(at, true);
      if (filter.isNeeded(bytes, view, at, kind === BatchKind.log)) {
        this.target(this.owners.get(group)!).add(bytes, at, recordLength);
        this.copiedBytes += recordLength;
      }
      at += recordLength;
    }
  }

  private target(owner: JournalOwner): CopyTarget {
    let target = this.targets.get(owner.group);
    if (target === undefined) {
      target = new CopyTarget(owner, this.options.chunks, this.options.appendCopy);
      this.targets.set(owner.group, target);
    }
    return target;
  }

  // ---- leaving time to live traffic ----

  private rest(workedMs: number): Promise<void> {
    const ms = Math.max(1, workedMs * this.options.restRatio);
    return this.options.unlessStopped(sleep(this.options.clock, ms));
  }
}

/** Whatever of the chunk is alive lies in that segment: not so while batches that need no disk were not spilled. */
function isWhollyIn({ number }: Segment, { pieces, writtenBytes, used }: Chunk): boolean {
  return writtenBytes >= used && pieces.bytesIn(number) === pieces.totalBytes;
}
