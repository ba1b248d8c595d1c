const initialBytes = 4096;
const entryHeaderBytes = 5;
const nothing = new Uint8Array(0);

/** Takes frames out of a backlog. */
export type FrameVisitor = (type: number, bytes: Uint8Array, start: number, end: number) => void;

/**
 * Frames of a channel that wait for the method before them, as bytes in one buffer: type u8, length u32, payload.
 * Its bound is the channel's affair: above it the socket is not read.
 */
export class Backlog {
  /** Most channels never need any. */
  private bytes: Uint8Array = nothing;
  private view: DataView = new DataView(this.bytes.buffer);
  private head = 0;
  private tail = 0;

  get isEmpty(): boolean {
    return this.head === this.tail;
  }

  /** Bytes that wait. */
  get size(): number {
    return this.tail - this.head;
  }

  /** Adds a copy of a frame's payload [start, end) of `from`. */
  push(type: number, from: Uint8Array, start: number, end: number): void {
    const length = end - start;
    const needed = entryHeaderBytes + length;
    if (this.tail + needed > this.bytes.length) this.makeRoom(needed);
    this.view.setUint8(this.tail, type);
    this.view.setUint32(this.tail + 1, length);
    this.bytes.set(from.subarray(start, end), this.tail + entryHeaderBytes);
    this.tail += needed;
  }

  /** Takes the oldest frame; its bytes are valid until the next `push`. */
  shift(visit: FrameVisitor): void {
    const at = this.head + entryHeaderBytes;
    const type = this.view.getUint8(this.head);
    const end = at + this.view.getUint32(this.head + 1);
    this.head = end;
    visit(type, this.bytes, at, end);
    if (this.head === this.tail) this.reset();
  }

  private reset(): void {
    this.head = 0;
    this.tail = 0;
    if (this.bytes.length > 16 * initialBytes) this.use(nothing);
  }

  private makeRoom(needed: number): void {
    const size = this.size;
    let capacity = Math.max(initialBytes, this.bytes.length);
    while (capacity < size + needed) capacity *= 2;
    const bytes = new Uint8Array(capacity);
    bytes.set(this.bytes.subarray(this.head, this.tail));
    this.use(bytes);
    this.head = 0;
    this.tail = size;
  }

  private use(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}
