/** Which parts of a chunk must be written before it can be evicted: the batches without a durable record. */
import { BatchFlag, setBatchChecksum } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';

/**
 * Ranges of whole batches that were never written, with their checksums set: batches that were to stay in memory have none.
 * Durable batches are always journaled. Those that no piece covers were compacted away and must not come back.
 */
export function unwrittenRanges(chunk: Chunk): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  const pieces = chunk.pieces;
  const bytes = chunk.bytes!;
  const view = chunk.view!;
  let dropped = 0;
  for (let at = 0, piece = 0; at < chunk.used; ) {
    if (piece < pieces.count && pieces.start(piece) === at) {
      at += pieces.length(piece++);
      continue;
    }
    const length = view.getUint32(at + 4, true);
    if ((bytes[at + 15]! & BatchFlag.durable) !== 0) dropped += length;
    else {
      if (view.getUint32(at + 8, true) === 0) setBatchChecksum(bytes, view, at, at + length);
      const last = ranges[ranges.length - 1];
      if (last !== undefined && last[1] === at) last[1] = at + length;
      else ranges.push([at, at + length]);
    }
    at += length;
  }
  if (dropped > pieces.droppedBytes) throw new Error(`chunk ${chunk.id} has a durable batch that was never journaled`);
  if (ranges.length === 0) throw new Error(`chunk ${chunk.id} has nothing left to write`);
  return ranges;
}
