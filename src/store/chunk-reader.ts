/** Reads evicted chunks back: their pieces by few large reads, every batch checked. */
import { batchIsSound } from '../log/batch.js';
import type { Chunk } from '../log/chunk.js';
import type { DiskFile } from './disk.js';
import type { SegmentSet } from './segment-set.js';

/** Pieces so close to each other in the file are read together. */
const gapMax = 64 * 1024;
const spanMax = 1024 * 1024;
const scratchesKept = 4;

export class ChunkReader {
  private readonly segments: SegmentSet;
  private readonly scratches: Uint8Array[] = [];

  constructor(segments: SegmentSet) {
    this.segments = segments;
  }

  /** Fills the chunk's pieces into `into`. Rejects if one cannot be read, or a checksum does not fit. */
  async read(chunk: Chunk, into: Uint8Array): Promise<void> {
    const pieces = chunk.pieces;
    for (let i = 0; i < pieces.count; ) {
      const number = pieces.segment(i);
      const begin = pieces.fileOffset(i);
      let end = begin + pieces.length(i);
      let next = i + 1;
      while (next < pieces.count && pieces.segment(next) === number) {
        const offset = pieces.fileOffset(next);
        if (offset < end || offset - end > gapMax || offset + pieces.length(next) - begin > spanMax) break;
        end = offset + pieces.length(next);
        next++;
      }
      await this.readRun(chunk, into, i, next, begin, end);
      i = next;
    }
  }

  /** Reads pieces [from, to), which lie in bytes [begin, end) of one segment. */
  private async readRun(
    chunk: Chunk,
    into: Uint8Array,
    from: number,
    to: number,
    begin: number,
    end: number,
  ): Promise<void> {
    const pieces = chunk.pieces;
    // The chunk's pieces may be dropped while we read: what is needed of them is taken now.
    const starts: number[] = [];
    const lengths: number[] = [];
    const offsets: number[] = [];
    for (let i = from; i < to; i++) {
      starts.push(pieces.start(i));
      lengths.push(pieces.length(i));
      offsets.push(pieces.fileOffset(i) - begin);
    }
    const number = pieces.segment(from);
    const segment = this.segments.get(number);
    if (segment === undefined) throw new Error(`segment ${number} is gone`);
    const direct = starts.length === 1;
    const buffer = direct ? into.subarray(starts[0]!, starts[0]! + lengths[0]!) : this.takeScratch(end - begin);
    const file = await this.segments.acquire(segment);
    try {
      await readFully(file, buffer.subarray(0, end - begin), begin);
    } finally {
      this.segments.release(segment);
    }
    if (!direct) {
      for (let i = 0; i < starts.length; i++)
        into.set(buffer.subarray(offsets[i]!, offsets[i]! + lengths[i]!), starts[i]!);
      this.giveScratch(buffer);
    }
    const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
    for (let i = 0; i < starts.length; i++)
      checkBatches(into, view, starts[i]!, starts[i]! + lengths[i]!, segment.name, begin + offsets[i]!);
  }

  private takeScratch(bytes: number): Uint8Array {
    const scratch = this.scratches.pop();
    return scratch !== undefined && scratch.length >= bytes ? scratch : new Uint8Array(Math.max(bytes, spanMax));
  }

  private giveScratch(buffer: Uint8Array): void {
    if (this.scratches.length < scratchesKept) this.scratches.push(buffer);
  }
}

function checkBatches(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  name: string,
  fileOffset: number,
): void {
  for (let at = start; at < end; at += view.getUint32(at + 4, true))
    if (!batchIsSound(bytes, view, at, end))
      throw new Error(`the batch at ${fileOffset + at - start} of ${name} is damaged: its checksum does not fit`);
}

/** Fills `into` from `position` on, whatever portions the disk reads in. Rejects at the end of the file. */
export async function readFully(file: DiskFile, into: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const read = await file.read(done === 0 ? into : into.subarray(done), position + done);
    if (read === 0) throw new Error(`the file ends at ${position + done}, ${into.length - done} bytes too early`);
    done += read;
  }
}
