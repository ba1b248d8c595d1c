/**
 * A chunk is a piece of one group's log in memory, and the place where messages live: records are encoded into it
 * once, journaled from it, sent to backups from it and delivered from it. It is also the unit of eviction: when
 * memory is short a journaled chunk gives up its bytes and is read back when a consumer comes near.
 */
import { Pieces } from './pieces.js';

export const chunkBytes: number = 256 * 1024;

export class Chunk {
  /** Stable number, u32; queue indexes refer to chunks by it. */
  readonly id: number;
  readonly group: number;
  /** Undefined while evicted. Never read it without checking, or `pin` the chunk first. */
  bytes: Uint8Array | undefined;
  view: DataView | undefined;
  capacity: number;
  /** Bytes written so far. */
  used = 0;
  /** Index entries that refer to this chunk, and the bytes of their records. */
  live = 0;
  liveBytes = 0;
  /** Users that need the bytes in memory: the open chunk of a log, batches that are not committed or not on disk yet. */
  pins = 0;
  /** Where the journal has its bytes: a chunk may lie in pieces in several segments. Kept by the journal. */
  readonly pieces: Pieces = new Pieces();
  /**
   * Bytes that were ever written to a segment; all of `used` = it can be evicted. Ranges without a durable record are
   * written only when memory is short.
   */
  writtenBytes = 0;
  /** The chunk store's own: place in the group's order, place in an eviction list, who waits for the bytes. */
  readonly links: ChunkLinks = new ChunkLinks();

  constructor(id: number, group: number, bytes: Uint8Array) {
    this.id = id;
    this.group = group;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.capacity = bytes.byteLength;
  }
}

/** Lists are threaded through the chunks themselves: taking a chunk out of the middle costs nothing. */
export class ChunkLinks {
  /** Neighbours among the chunks of the group, in order of opening. */
  before: Chunk | undefined = undefined;
  after: Chunk | undefined = undefined;
  /** In an eviction list now: resident and not pinned. */
  listed = false;
  /** It was evicted once and read back. */
  readBack = false;
  older: Chunk | undefined = undefined;
  newer: Chunk | undefined = undefined;
  /** Called when the bytes that are being read arrive; undefined = no read under way. */
  waiters: ((error?: Error) => void)[] | undefined = undefined;
}

/** All chunks of a node: allocation, residency within the memory budget, reading back. */
export interface Chunks {
  /** A fresh chunk with room for `bytes` at least, pinned once; the log that asked unpins it when it is full. */
  open(group: number, bytes: number): Chunk;
  byId(id: number): Chunk;
  /**
   * An index entry refers to `bytes` bytes of it: a message of a queue, or the open record of a queue that exists.
   * What nobody retains is dead: the journal removes it from the disk.
   */
  retain(chunk: Chunk, bytes: number): void;
  /** The entry is gone: its dequeue is committed. A chunk with neither entries nor pins is freed (its disk space by the journal). */
  release(chunk: Chunk, bytes: number): void;
  pin(chunk: Chunk): void;
  unpin(chunk: Chunk): void;
  /**
   * Brings an evicted chunk's bytes back; `then` never runs within this call, and has the bytes resident for its own time at
   * least. Concurrent requests share one read, and the group's next chunks are read ahead.
   * If the bytes cannot be read (`error`), the chunk stays evicted.
   */
  load(chunk: Chunk, then: (error?: Error) => void): void;
  /** Bytes resident now, and the budget. */
  readonly residentBytes: number;
  readonly budgetBytes: number;
}
