/**
 * Where parts of a chunk lie in the journal's segments, as a struct of arrays ordered by chunk offset. Bytes of a chunk that
 * no piece covers are not on disk, or are there no longer because nobody needs them.
 */
const fields = 4;
const noData: Uint32Array = new Uint32Array(0);

export class Pieces {
  /** Number of pieces. */
  count = 0;
  /** Bytes of pieces that were forgotten because compaction left nothing in them that is needed. */
  compactedBytes = 0;
  private data: Uint32Array = noData;

  /** Offset in the chunk. */
  start(index: number): number {
    return this.data[index * fields]!;
  }
  length(index: number): number {
    return this.data[index * fields + 1]!;
  }
  segment(index: number): number {
    return this.data[index * fields + 2]!;
  }
  fileOffset(index: number): number {
    return this.data[index * fields + 3]!;
  }

  /** Adds a piece at its place. It overlaps no other. One that continues the last, in the chunk and in the file, extends it. */
  add(start: number, length: number, segment: number, fileOffset: number): void {
    let at = this.count;
    while (at > 0 && this.start(at - 1) > start) at--;
    if (at > 0 && this.segment(at - 1) === segment) {
      const end = this.length(at - 1);
      if (this.start(at - 1) + end === start && this.fileOffset(at - 1) + end === fileOffset) {
        this.data[(at - 1) * fields + 1] = end + length;
        return;
      }
    }
    this.reserve();
    this.data.copyWithin((at + 1) * fields, at * fields, this.count * fields);
    this.data[at * fields] = start;
    this.data[at * fields + 1] = length;
    this.data[at * fields + 2] = segment;
    this.data[at * fields + 3] = fileOffset;
    this.count++;
  }

  /** Forgets all pieces that lie in `segment`, and returns their bytes. */
  dropSegment(segment: number): number {
    let kept = 0;
    let dropped = 0;
    for (let i = 0; i < this.count; i++) {
      if (this.segment(i) === segment) {
        dropped += this.length(i);
        continue;
      }
      if (kept !== i) this.data.copyWithin(kept * fields, i * fields, (i + 1) * fields);
      kept++;
    }
    this.count = kept;
    return dropped;
  }

  /** Bytes that lie in `segment`. */
  bytesIn(segment: number): number {
    let bytes = 0;
    for (let i = 0; i < this.count; i++) if (this.segment(i) === segment) bytes += this.length(i);
    return bytes;
  }

  /** Bytes that lie in any segment. */
  get totalBytes(): number {
    let bytes = 0;
    for (let i = 0; i < this.count; i++) bytes += this.length(i);
    return bytes;
  }

  /** Gives spare room back; for a chunk to which nothing will be added. */
  trim(): void {
    if (this.data.length > this.count * fields) this.data = this.data.slice(0, this.count * fields);
  }

  private reserve(): void {
    const needed = (this.count + 1) * fields;
    if (needed <= this.data.length) return;
    const grown = new Uint32Array(Math.max(fields * 2, this.data.length * 2));
    grown.set(this.data.subarray(0, this.count * fields));
    this.data = grown;
  }
}
