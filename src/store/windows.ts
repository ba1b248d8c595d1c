/**
 * Makes chunks of what recovery reads: per group a window of whole batches of one segment, handed to the visitor record by
 * record. A window whose records nobody wants is forgotten at its end.
 */
import { BatchFlag, BatchKind, batchHeaderBytes } from '../log/batch.js';
import { type Chunk, chunkBytes } from '../log/chunk.js';
import type { ChunkStore } from '../log/chunk-store.js';
import type { RecoveryVisitor } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import { RecordFlag } from '../log/record.js';
import { noMeta, type StoredMeta } from './lane.js';
import { isBefore } from './place.js';
import { noteBatch } from './presence.js';
import type { Segment } from './segment.js';
import { isVoid } from './void-ranges.js';

export class Windows {
  private readonly chunks: ChunkStore;
  private readonly visitor: RecoveryVisitor;
  private readonly metas: ReadonlyMap<number, StoredMeta>;
  private readonly voids = new Map<number, readonly [Lsn, Lsn][]>();
  private readonly open = new Map<number, Chunk>();
  private segment: Segment | undefined;

  constructor(chunks: ChunkStore, visitor: RecoveryVisitor, metas: ReadonlyMap<number, StoredMeta>) {
    this.chunks = chunks;
    this.visitor = visitor;
    this.metas = metas;
    for (const [group, meta] of metas) if (meta.left !== true) this.group(group, meta);
  }

  begin(segment: Segment): void {
    this.segment = segment;
  }

  /** Takes over the sound batch at `start`. */
  batch(bytes: Uint8Array, view: DataView, start: number, length: number, fileOffset: number): void {
    const kind = bytes[start + 14]!;
    if (kind > BatchKind.copy || (bytes[start + 15]! & BatchFlag.durable) === 0) return;
    const segment = this.segment!;
    const group = view.getUint16(start + 12, true);
    const meta: StoredMeta = this.metas.get(group) ?? noMeta;
    if (meta.begins !== undefined && isBefore(segment.number, fileOffset, meta.begins)) return;
    if (!this.voids.has(group)) this.group(group, meta);
    noteBatch(segment, bytes, view, start);
    const chunk = this.room(group, length);
    const at = chunk.used;
    chunk.bytes!.set(bytes.subarray(start, start + length), at);
    chunk.used += length;
    chunk.writtenBytes += length;
    chunk.pieces.add(at, length, segment.number, fileOffset);
    this.visit(chunk, at, at + length, kind);
  }

  /** The segment ends, and with it all windows. */
  end(): void {
    for (const chunk of this.open.values()) this.chunks.unpin(chunk);
    this.open.clear();
  }

  private group(group: number, meta: StoredMeta): void {
    this.voids.set(group, meta.voids);
    this.visitor.meta(group, meta);
  }

  private room(group: number, length: number): Chunk {
    let chunk = this.open.get(group);
    if (chunk !== undefined && chunk.used + length <= chunk.capacity) return chunk;
    if (chunk !== undefined) this.chunks.unpin(chunk);
    chunk = this.chunks.open(group, Math.max(length, chunkBytes));
    this.segment!.chunks.add(chunk);
    this.open.set(group, chunk);
    return chunk;
  }

  private visit(chunk: Chunk, start: number, end: number, kind: number): void {
    const bytes = chunk.bytes!;
    const view = chunk.view!;
    const voids = this.voids.get(chunk.group)!;
    const copyAsOf = view.getFloat64(start + 32, true);
    for (let at = start + batchHeaderBytes; at < end; at += view.getUint32(at, true)) {
      if ((bytes[at + 5]! & RecordFlag.durable) === 0) continue;
      const lsn = view.getFloat64(at + 8, true);
      if (kind === BatchKind.log && isVoid(voids, lsn)) continue;
      this.visitor.record(chunk.group, chunk, at, lsn, kind === BatchKind.log ? lsn : copyAsOf);
    }
  }
}
