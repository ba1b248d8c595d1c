/**
 * All chunks of a node, within a memory budget.
 *
 *   open ──log unpins──→ fresh ──over budget: newest first──→ evicted ──load──→ read back ──LRU──→ evicted
 *                          │ not wholly on disk: spilled first
 *   any of them, when neither entries nor pins are left: freed
 *
 * The oldest messages of a queue are what its consumers need next and the newest are needed last, so a growing backlog
 * keeps its head in memory and gives up its tail as it comes. Read-back chunks have consumers near, so they go only when
 * there are no fresh ones, or when they hold more than half of the budget.
 *
 * A chunk that is neither pinned nor being read is in exactly one of: the fresh list, the read-back list, evicted.
 */
import type { Logger } from '../base/logger.js';
import { Phase, type Turn } from '../base/turn.js';
import { Chunk, type Chunks, chunkBytes } from './chunk.js';
import { ChunkList } from './chunk-list.js';
import { Slabs } from './slabs.js';

/** The disk behind the chunks. */
export interface ChunkBacking {
  /**
   * Writes what of the chunk is not on disk yet, without waiting for a sync, and calls `done` then. The bytes stay until then.
   * False: the disk takes nothing now.
   */
  spill(chunk: Chunk, done: () => void): boolean;
  /** Reads all of the chunk's pieces into their places of `into`. Rejects if a checksum does not fit. */
  read(chunk: Chunk, into: Uint8Array): Promise<void>;
  /** Nobody needs the chunk any longer. */
  freed(chunk: Chunk): void;
}

/** Reads under way at a time; more wait. */
const readsMax = 16;
/** Chunks of a group that are read ahead of its consumers. */
const readAheadChunks = 4;
/** Unused buffers kept: 16 MiB. */
const slabsKept = 64;

export class ChunkStore implements Chunks {
  residentBytes = 0;
  readonly budgetBytes: number;
  private readonly turn: Turn;
  private readonly logger: Logger;
  private backing: ChunkBacking | undefined;
  private readonly slabs = new Slabs(slabsKept);
  private readonly table: (Chunk | undefined)[] = [];
  private readonly freeIds: number[] = [];
  private readonly lastOfGroup = new Map<number, Chunk>();
  private readonly fresh = new ChunkList();
  private readonly readBack = new ChunkList();
  private spillingBytes = 0;
  private reads = 0;
  private readQueue: Chunk[] = [];
  /** Requests for chunks that were resident: chunk, callback. */
  private ready: { chunk: Chunk; then: (error?: Error) => void }[] = [];

  /** @param budgetBytes resident bytes above which chunks are evicted; pinned ones may exceed it. */
  constructor(turn: Turn, logger: Logger, budgetBytes: number) {
    this.turn = turn;
    this.logger = logger;
    this.budgetBytes = budgetBytes;
  }

  /** Without a backing nothing is ever evicted. */
  attach(backing: ChunkBacking): void {
    this.backing = backing;
  }

  /** Chunks that exist, resident or not. */
  get count(): number {
    return this.table.length - this.freeIds.length;
  }

  open(group: number, bytes: number): Chunk {
    const buffer = this.slabs.take(Math.max(bytes, chunkBytes));
    const id = this.freeIds.pop() ?? this.table.length;
    const chunk = new Chunk(id, group, buffer);
    this.table[id] = chunk;
    const last = this.lastOfGroup.get(group);
    if (last !== undefined) {
      chunk.links.before = last;
      last.links.after = chunk;
    }
    this.lastOfGroup.set(group, chunk);
    chunk.pins = 1;
    this.residentBytes += chunk.capacity;
    this.keepBudget();
    return chunk;
  }

  byId(id: number): Chunk {
    const chunk = this.table[id];
    if (chunk === undefined) throw new RangeError(`no chunk ${id}`);
    return chunk;
  }

  retain(chunk: Chunk, bytes: number): void {
    chunk.live++;
    chunk.liveBytes += bytes;
  }

  release(chunk: Chunk, bytes: number): void {
    chunk.live--;
    chunk.liveBytes -= bytes;
    if (chunk.live === 0 && chunk.pins === 0) this.free(chunk);
  }

  pin(chunk: Chunk): void {
    if (chunk.pins++ === 0 && chunk.links.listed) this.listOf(chunk).remove(chunk);
  }

  unpin(chunk: Chunk): void {
    if (--chunk.pins > 0) return;
    if (chunk.live === 0) {
      this.free(chunk);
      return;
    }
    if (chunk.bytes === undefined) return;
    this.listOf(chunk).add(chunk);
    this.keepBudget();
  }

  load(chunk: Chunk, then: (error?: Error) => void): void {
    this.pin(chunk);
    if (chunk.bytes !== undefined) {
      if (this.ready.length === 0) this.turn.add(Phase.log, this);
      this.ready.push({ chunk, then });
      return;
    }
    if (chunk.links.waiters === undefined) this.request(chunk, [then]);
    else {
      chunk.links.waiters.push(then);
      this.unpin(chunk);
    }
    this.readAhead(chunk.links.after);
  }

  /** Answers the requests for chunks that were resident. */
  flush(): void {
    const ready = this.ready;
    this.ready = [];
    for (const { chunk, then } of ready) {
      then();
      this.unpin(chunk);
    }
  }

  // ---- reading back ----

  /** Begins, or queues, the read of an evicted chunk that is pinned for it. */
  private request(chunk: Chunk, waiters: ((error?: Error) => void)[]): void {
    chunk.links.waiters = waiters;
    if (this.reads >= readsMax) this.readQueue.push(chunk);
    else this.read(chunk);
  }

  private read(chunk: Chunk): void {
    this.reads++;
    const buffer = this.slabs.take(chunk.used);
    this.residentBytes += buffer.length;
    this.keepBudget();
    this.backing!.read(chunk, buffer).then(
      () => this.arrived(chunk, buffer, undefined),
      (error: Error) => this.arrived(chunk, buffer, error),
    );
  }

  private arrived(chunk: Chunk, buffer: Uint8Array, error: Error | undefined): void {
    this.reads--;
    if (error === undefined) {
      chunk.bytes = buffer;
      chunk.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      chunk.capacity = buffer.length;
      chunk.links.readBack = true;
    } else {
      this.residentBytes -= buffer.length;
      this.slabs.give(buffer);
      this.logger.error('a chunk cannot be read back', { chunk: chunk.id, group: chunk.group, error: error.message });
    }
    const waiters = chunk.links.waiters!;
    chunk.links.waiters = undefined;
    for (const then of waiters) then(error);
    this.unpin(chunk);
    this.nextRead();
  }

  private nextRead(): void {
    const next = this.readQueue.shift();
    if (next !== undefined) this.read(next);
  }

  /** Reads the group's next chunks, from `chunk` on, that a consumer who goes on will need. */
  private readAhead(chunk: Chunk | undefined): void {
    for (let i = 0, next = chunk; i < readAheadChunks && next !== undefined; i++, next = next.links.after) {
      if (this.reads >= readsMax || this.readBack.bytes > this.budgetBytes / 4) return;
      if (next.bytes !== undefined || next.links.waiters !== undefined || next.live === 0) continue;
      this.pin(next);
      this.request(next, []);
    }
  }

  // ---- giving memory back ----

  private listOf(chunk: Chunk): ChunkList {
    return chunk.links.readBack ? this.readBack : this.fresh;
  }

  private keepBudget(): void {
    if (this.backing === undefined) return;
    while (this.residentBytes - this.spillingBytes > this.budgetBytes) {
      const chunk = this.victim();
      if (chunk === undefined) return;
      if (chunk.writtenBytes >= chunk.used) this.evict(chunk);
      else if (!this.spill(chunk, this.backing)) return;
    }
  }

  private victim(): Chunk | undefined {
    if (this.readBack.bytes * 2 > this.budgetBytes) return this.readBack.oldest;
    return this.fresh.newest ?? this.readBack.oldest;
  }

  private evict(chunk: Chunk): void {
    this.listOf(chunk).remove(chunk);
    chunk.pieces.trim();
    this.dropBytes(chunk);
  }

  private spill(chunk: Chunk, backing: ChunkBacking): boolean {
    this.pin(chunk);
    const bytes = chunk.capacity;
    this.spillingBytes += bytes;
    const taken = backing.spill(chunk, () => {
      this.spillingBytes -= bytes;
      this.unpin(chunk);
    });
    if (!taken) {
      this.spillingBytes -= bytes;
      chunk.pins--;
      this.listOf(chunk).add(chunk);
    }
    return taken;
  }

  private dropBytes(chunk: Chunk): void {
    this.residentBytes -= chunk.capacity;
    this.slabs.give(chunk.bytes!);
    chunk.bytes = undefined;
    chunk.view = undefined;
  }

  private free(chunk: Chunk): void {
    const links = chunk.links;
    if (links.listed) this.listOf(chunk).remove(chunk);
    const consumed = chunk.bytes !== undefined && links.readBack;
    if (chunk.bytes !== undefined) this.dropBytes(chunk);
    if (links.before !== undefined) links.before.links.after = links.after;
    if (links.after !== undefined) links.after.links.before = links.before;
    else if (links.before !== undefined) this.lastOfGroup.set(chunk.group, links.before);
    else this.lastOfGroup.delete(chunk.group);
    this.backing?.freed(chunk);
    this.table[chunk.id] = undefined;
    this.freeIds.push(chunk.id);
    // Its consumer is in the next one now.
    if (consumed) this.readAhead(links.after?.links.after);
  }
}
