/** Buffers of one chunk's size, used again and again: fresh ones cost the kernel a fault per page and V8 a collection. */
import { chunkBytes } from './chunk.js';

export class Slabs {
  private readonly free: Uint8Array[] = [];
  private readonly keepMax: number;

  /** @param keepMax unused buffers that are kept at most. */
  constructor(keepMax: number) {
    this.keepMax = keepMax;
  }

  /** A buffer of at least `bytes` bytes with arbitrary content: a slab, or one of its own for an oversized record. */
  take(bytes: number): Uint8Array {
    if (bytes > chunkBytes) return new Uint8Array(bytes);
    return this.free.pop() ?? new Uint8Array(chunkBytes);
  }

  give(buffer: Uint8Array): void {
    if (buffer.length === chunkBytes && this.free.length < this.keepMax) this.free.push(buffer);
  }
}
