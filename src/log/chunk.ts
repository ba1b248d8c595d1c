/**
 * A chunk is a piece of one group's log in memory, and the place where messages live: records are encoded into it
 * once, journaled from it, sent to backups from it and delivered from it. It is also the unit of eviction: when
 * memory is short a journaled chunk gives up its bytes and is read back when a consumer comes near.
 */
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
  /** The journal segment that holds its journaled batches; 0 = none yet. A chunk never spans two segments. */
  segment = 0;

  constructor(id: number, group: number, bytes: Uint8Array) {
    this.id = id;
    this.group = group;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.capacity = bytes.byteLength;
  }
}

/** All chunks of a node: allocation, residency within the memory budget, reading back. */
export interface Chunks {
  /** A fresh chunk with room for `bytes` at least, pinned once; the log that asked unpins it when it is full. */
  open(group: number, bytes: number): Chunk;
  byId(id: number): Chunk;
  /** An index entry refers to `bytes` bytes of it. */
  retain(chunk: Chunk, bytes: number): void;
  /** The entry is gone: its dequeue is committed. A chunk with neither entries nor pins is freed (its disk space by the journal). */
  release(chunk: Chunk, bytes: number): void;
  pin(chunk: Chunk): void;
  unpin(chunk: Chunk): void;
  /**
   * Brings an evicted chunk's bytes back; `then` runs in a later turn, with the bytes resident for that call at least.
   * If the bytes cannot be read (`error`), the chunk stays evicted.
   */
  load(chunk: Chunk, then: (error?: Error) => void): void;
  /** Bytes resident now, and the budget. */
  readonly residentBytes: number;
  readonly budgetBytes: number;
}
