/** The disk as the chunk store sees it. It serves from the start of recovery on; spilling begins with the journal. */
import type { Chunk } from '../log/chunk.js';
import type { ChunkBacking } from '../log/chunk-store.js';
import { ChunkReader } from './chunk-reader.js';
import type { DiskJournal } from './journal.js';
import type { SegmentSet } from './segment-set.js';

export class DiskBacking implements ChunkBacking {
  journal: DiskJournal | undefined = undefined;
  private readonly segments: SegmentSet;
  private readonly reader: ChunkReader;

  constructor(segments: SegmentSet) {
    this.segments = segments;
    this.reader = new ChunkReader(segments);
  }

  spill(chunk: Chunk, done: () => void): boolean {
    return this.journal?.spill(chunk, done) ?? false;
  }

  read(chunk: Chunk, into: Uint8Array): Promise<void> {
    return this.reader.read(chunk, into);
  }

  freed(chunk: Chunk): void {
    const pieces = chunk.pieces;
    for (let i = 0; i < pieces.count; i++) this.segments.get(pieces.segment(i))?.chunks.delete(chunk);
  }
}
