/** Where compaction writes the records it keeps: copy batches of one group, in chunks of their own. */
import { BatchKind, batchHeaderBytes, setBatchChecksum, setBatchVersion, writeBatchHeader } from '../log/batch.js';
import { type Chunk, chunkBytes } from '../log/chunk.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { JournalOwner } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import { versionOf } from '../log/record.js';

/** Puts a sealed copy batch on its way to the disk. */
export type AppendCopy = (owner: JournalOwner, chunk: Chunk, start: number, end: number) => Promise<void>;

export class CopyTarget {
  private readonly owner: JournalOwner;
  private readonly chunks: ChunkStore;
  private readonly appendCopy: AppendCopy;
  private chunk: Chunk | undefined;
  private batchStart = -1;
  private count = 0;
  private version = 1;
  private asOf: Lsn = 0;
  private pending: Promise<void>[] = [];
  /** Full chunks that nobody refers to yet. */
  private full: Chunk[] = [];

  constructor(owner: JournalOwner, chunks: ChunkStore, appendCopy: AppendCopy) {
    this.owner = owner;
    this.chunks = chunks;
    this.appendCopy = appendCopy;
  }

  /** The chunk of the record that was added last. */
  get lastChunk(): Chunk {
    return this.chunk!;
  }

  /** The commit point as of which the records added from now on are there. A new one begins a new batch. */
  begin(asOf: Lsn): void {
    if (asOf !== this.asOf) this.seal();
    this.asOf = asOf;
  }

  /** Copies the record at [at, at + length) and returns its offset in `lastChunk`, which stays pinned until `settle`. */
  add(bytes: Uint8Array, at: number, length: number): number {
    const chunk = this.room(length);
    if (this.batchStart < 0) {
      this.batchStart = chunk.used;
      chunk.used += batchHeaderBytes;
    }
    const offset = chunk.used;
    chunk.bytes!.set(bytes.subarray(at, at + length), offset);
    chunk.used += length;
    this.count++;
    this.version = Math.max(this.version, versionOf(bytes, at));
    return offset;
  }

  /** Ends the batch; resolves when all that was added is on disk. */
  async flush(): Promise<void> {
    this.seal();
    const pending = this.pending;
    this.pending = [];
    await Promise.all(pending);
  }

  /** All that was flushed is referred to now, or dead: lets go of full chunks. */
  settle(): void {
    for (const chunk of this.full) this.chunks.unpin(chunk);
    this.full = [];
  }

  /** Lets go of all chunks. */
  close(): void {
    this.settle();
    if (this.chunk !== undefined) this.chunks.unpin(this.chunk);
    this.chunk = undefined;
  }

  private room(length: number): Chunk {
    const chunk = this.chunk;
    const header = this.batchStart < 0 ? batchHeaderBytes : 0;
    if (chunk !== undefined && chunk.used + header + length <= chunk.capacity) return chunk;
    this.seal();
    if (chunk !== undefined) this.full.push(chunk);
    this.chunk = this.chunks.open(this.owner.group, Math.max(length + batchHeaderBytes, chunkBytes));
    return this.chunk;
  }

  private seal(): void {
    const chunk = this.chunk;
    if (chunk === undefined || this.batchStart < 0) return;
    const start = this.batchStart;
    this.batchStart = -1;
    const view = chunk.view!;
    const end = chunk.used;
    writeBatchHeader(
      view,
      start,
      end - start,
      this.owner.group,
      BatchKind.copy,
      true,
      this.count,
      this.asOf,
      this.asOf,
    );
    setBatchVersion(chunk.bytes!, start, this.version);
    setBatchChecksum(chunk.bytes!, view, start, end);
    this.count = 0;
    this.version = 1;
    this.pending.push(this.appendCopy(this.owner, chunk, start, end));
  }
}
