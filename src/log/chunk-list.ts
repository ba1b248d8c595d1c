/** Chunks that may be evicted, from the one that joined first (oldest) to the one that joined last (newest). */
import type { Chunk } from './chunk.js';

export class ChunkList {
  oldest: Chunk | undefined = undefined;
  newest: Chunk | undefined = undefined;
  bytes = 0;

  add(chunk: Chunk): void {
    const links = chunk.links;
    links.listed = true;
    links.older = this.newest;
    links.newer = undefined;
    if (this.newest === undefined) this.oldest = chunk;
    else this.newest.links.newer = chunk;
    this.newest = chunk;
    this.bytes += chunk.capacity;
  }

  remove(chunk: Chunk): void {
    const links = chunk.links;
    links.listed = false;
    if (links.older === undefined) this.oldest = links.newer;
    else links.older.links.newer = links.newer;
    if (links.newer === undefined) this.newest = links.older;
    else links.newer.links.older = links.older;
    links.older = undefined;
    links.newer = undefined;
    this.bytes -= chunk.capacity;
  }
}
