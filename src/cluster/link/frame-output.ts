import type { ByteStream } from '../byte-stream.js';
import { frameHeaderBytes } from './frame.js';

const segmentBytes = 128 * 1024;

/**
 * Frames on their way out, gathered in one buffer per turn. Payloads are encoded in place, in `bytes` at `offset`.
 * A buffer that the stream still holds on to is never written to again; another takes its place.
 */
export class FrameOutput {
  bytes: Uint8Array = new Uint8Array(segmentBytes);
  view: DataView = new DataView(this.bytes.buffer);
  /** Where the payload of the frame begun last starts. */
  offset = 0;
  private used = 0;
  /** Full buffers before the present one. */
  private sealed: Uint8Array[] = [];
  private sealedBytes = 0;

  /** Begins a frame with room for `payloadBytes`, and counts it as complete. */
  begin(type: number, version: number, group: number, payloadBytes: number): void {
    const length = frameHeaderBytes + payloadBytes;
    if (this.used + length > this.bytes.length) this.renew(length);
    const at = this.used;
    this.view.setUint32(at, length, true);
    this.bytes[at + 4] = type;
    this.bytes[at + 5] = version;
    this.view.setUint16(at + 6, group, true);
    this.offset = at + frameHeaderBytes;
    this.used = at + length;
  }

  /** Shortens the frame begun last to what its payload came to. */
  end(payloadBytes: number): void {
    this.used = this.offset + payloadBytes;
    this.view.setUint32(this.offset - frameHeaderBytes, frameHeaderBytes + payloadBytes, true);
  }

  get pendingBytes(): number {
    return this.sealedBytes + this.used;
  }

  /** Writes all. Returns what the stream said last: false = it wants no more before `onDrain`. */
  writeTo(stream: ByteStream): boolean {
    let more = true;
    for (const segment of this.sealed) more = stream.write(segment);
    this.sealed = [];
    this.sealedBytes = 0;
    if (this.used > 0) more = stream.write(this.bytes.subarray(0, this.used));
    this.used = 0;
    if (stream.pendingBytes > 0 || this.bytes.length > segmentBytes) this.allocate(segmentBytes);
    return more;
  }

  clear(): void {
    this.sealed = [];
    this.sealedBytes = 0;
    this.used = 0;
  }

  private renew(length: number): void {
    if (this.used > 0) {
      this.sealed.push(this.bytes.subarray(0, this.used));
      this.sealedBytes += this.used;
      this.used = 0;
    } else if (length <= this.bytes.length) return;
    this.allocate(Math.max(length, segmentBytes));
  }

  private allocate(bytes: number): void {
    this.bytes = new Uint8Array(bytes);
    this.view = new DataView(this.bytes.buffer);
  }
}
