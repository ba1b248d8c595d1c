import { Frame, FrameError, frameHeaderBytes } from './frame.js';

const bufferBytesMin = 64 * 1024;
const bufferBytesKept = 1024 * 1024;

/**
 * Cuts a byte stream into frames, however it was split. Whole frames are handed on where they lie; only a frame that is
 * split between two reads is put together in a buffer, which grows with what has really arrived, not with what was announced.
 */
export class FrameParser {
  private frameBytesMax: number;
  private readonly take: (frame: Frame) => void;
  private readonly frame = new Frame();
  private buffer = new Uint8Array(0);
  private view = new DataView(this.buffer.buffer);
  /** Bytes of the incomplete frame in `buffer`. */
  private have = 0;
  private stopped = false;

  /** @param take is given each frame; it may call `stop`. */
  constructor(frameBytesMax: number, take: (frame: Frame) => void) {
    this.frameBytesMax = frameBytesMax;
    this.take = take;
  }

  /** Larger frames are accepted from now on, or only smaller ones. */
  allow(frameBytesMax: number): void {
    this.frameBytesMax = frameBytesMax;
  }

  /** No frame is handed on any more, not even from the bytes being parsed. */
  stop(): void {
    this.stopped = true;
    this.have = 0;
    this.buffer = new Uint8Array(0);
  }

  /** Throws a FrameError if the bytes cannot be frames of this protocol; the parser is of no use afterwards. */
  push(bytes: Uint8Array): void {
    if (this.stopped) return;
    let at = this.have > 0 ? this.complete(bytes) : 0;
    if (this.stopped || at === bytes.length) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (bytes.length - at >= frameHeaderBytes) {
      const length = this.checked(view.getUint32(at, true));
      if (bytes.length - at < length) break;
      this.emit(bytes, view, at, length);
      if (this.stopped) return;
      at += length;
    }
    if (at < bytes.length) this.keep(bytes, at, bytes.length);
  }

  /** Adds to the incomplete frame; returns where in `bytes` the next one begins. */
  private complete(bytes: Uint8Array): number {
    let at = 0;
    if (this.have < frameHeaderBytes) {
      at = Math.min(bytes.length, frameHeaderBytes - this.have);
      this.keep(bytes, 0, at);
      if (this.have < frameHeaderBytes) return at;
    }
    const length = this.checked(this.view.getUint32(0, true));
    const end = Math.min(bytes.length, at + length - this.have);
    this.keep(bytes, at, end);
    if (this.have < length) return end;
    this.have = 0;
    this.emit(this.buffer, this.view, 0, length);
    if (this.buffer.length > bufferBytesKept) this.buffer = new Uint8Array(0);
    return end;
  }

  private keep(bytes: Uint8Array, start: number, end: number): void {
    const need = this.have + end - start;
    if (need > this.buffer.length) {
      const grown = new Uint8Array(Math.max(bufferBytesMin, this.have === 0 ? need : need * 2));
      grown.set(this.buffer.subarray(0, this.have));
      this.buffer = grown;
      this.view = new DataView(grown.buffer);
    }
    this.buffer.set(bytes.subarray(start, end), this.have);
    this.have = need;
  }

  private emit(bytes: Uint8Array, view: DataView, at: number, length: number): void {
    const frame = this.frame;
    frame.type = bytes[at + 4]!;
    frame.version = bytes[at + 5]!;
    frame.group = view.getUint16(at + 6, true);
    frame.bytes = bytes;
    frame.view = view;
    frame.start = at + frameHeaderBytes;
    frame.end = at + length;
    this.take(frame);
  }

  private checked(length: number): number {
    if (length >= frameHeaderBytes && length <= this.frameBytesMax) return length;
    throw new FrameError(`a frame of ${length} bytes, allowed are ${frameHeaderBytes} to ${this.frameBytesMax}`);
  }
}
