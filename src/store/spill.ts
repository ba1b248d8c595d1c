/** Which parts of a chunk must be written before it can be evicted: the batches that were never journaled. */
import { BatchFlag, setBatchChecksum } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';

/**
 * Ranges of whole batches that were never written, with their checksums set: batches that were to stay in memory have none.
 *
 * Recovery must pass over what was only spilled, so none of them may say it is durable. A group that is journaled journals all
 * its durable batches; those that no piece covers were compacted away, and stay away. A group that is not journaled has
 * nothing to do with durability, whatever its records say: the mark goes.
 */
export function unwrittenRanges(chunk: Chunk): [start: number, end: number][] {
  const ranges: [number, number][] = [];
  const pieces = chunk.pieces;
  const bytes = chunk.bytes!;
  const view = chunk.view!;
  for (let at = 0, piece = 0; at < chunk.used; ) {
    if (piece < pieces.count && pieces.start(piece) === at) {
      at += pieces.length(piece++);
      continue;
    }
    const length = view.getUint32(at + 4, true);
    const durable = (bytes[at + 15]! & BatchFlag.durable) !== 0;
    const compacted = durable && pieces.compactedBytes > 0;
    if (!compacted) {
      bytes[at + 15]! &= ~BatchFlag.durable;
      if (durable || view.getUint32(at + 8, true) === 0) setBatchChecksum(bytes, view, at, at + length);
      const last = ranges[ranges.length - 1];
      if (last !== undefined && last[1] === at) last[1] = at + length;
      else ranges.push([at, at + length]);
    }
    at += length;
  }
  if (ranges.length === 0) throw new Error(`chunk ${chunk.id} has nothing left to write`);
  return ranges;
}
