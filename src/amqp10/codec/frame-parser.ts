/**
 * Cuts a stream of bytes into frames (§2.3), however it is split:
 *
 *   u32 size of the whole frame   u8 doff, where the body begins, in words of four bytes   u8 type   u16 channel   body
 *
 * A frame that lies whole in the fed chunk is handed on where it lies; nothing is copied or allocated. Only the beginning of a frame whose
 * rest has not come yet is kept, in one buffer that is used again and grows with what really arrives.
 */
import { readI32, readU16, readU32 } from '../../wire/bytes.js';
import { AmqpError } from './amqp-error.js';
import { hex } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { protocolHeaderBytes } from './protocol-header.js';

export const FrameType = { amqp: 0, sasl: 1 } as const;

/** Takes the frames. Bodies are bytes[start..end), valid during the call only. */
export interface FrameHandler {
  /** Eight bytes, where `expectHeader` asked for them. */
  protocolHeader(bytes: Uint8Array, start: number): void;
  /** An empty body is a sign of life. */
  frame(type: number, channel: number, bytes: Uint8Array, start: number, end: number): void;
}

export const frameHeaderBytes = 8;
/** Every peer takes frames of this size (§2.8.1). */
export const frameMaxLeast = 512;
const doffLeast = 2;

/** What may be kept while paused, besides one frame. Sockets are paused too, so that at most a few reads come on top. */
const pausedBytesMax = 1024 * 1024;

const State = { running: 0, paused: 1, stopped: 2 } as const;
type State = (typeof State)[keyof typeof State];

const nothing = new Uint8Array(0);

export class FrameParser {
  /** The largest frame accepted, in bytes, its header included. */
  frameMax: number = frameMaxLeast;
  private readonly handler: FrameHandler;
  private state: State = State.running;
  private opening = false;
  /** True while frames are being handed on; `resume` then has nothing to do. */
  private feeding = false;
  /** The first byte that is not used up, in whatever is being parsed. */
  private next = 0;
  private held: Uint8Array = nothing;
  private heldStart = 0;
  private heldEnd = 0;

  constructor(handler: FrameHandler) {
    this.handler = handler;
  }

  get stopped(): boolean {
    return this.state === State.stopped;
  }

  /** Of the bytes that were fed last, those that are used up. */
  get usedBytes(): number {
    return this.next;
  }

  /** Bytes kept: the beginning of a frame, or whatever came since `pause`. */
  get heldBytes(): number {
    return this.heldEnd - this.heldStart;
  }

  /** A protocol header comes next. May be called by the handler. */
  expectHeader(): void {
    this.opening = true;
  }

  /**
   * Parses the next bytes of the stream; not to be called by the handler. Throws AmqpError if they are no frames (framing-error; the parser
   * has stopped), or if too much came while paused. What a handler throws goes through: its frame is used up, the rest is kept, and
   * `resume` or the next `feed` goes on behind it.
   */
  feed(bytes: Uint8Array): void {
    this.next = 0;
    this.feeding = true;
    try {
      while (this.state === State.running && this.heldEnd > 0 && this.next < bytes.length) {
        this.runHeld(this.topUp(bytes, this.next));
      }
      if (this.state === State.running) this.run(bytes, this.next, bytes.length);
    } finally {
      this.feeding = false;
      if (this.state !== State.stopped && this.next < bytes.length) this.hold(bytes, this.next, bytes.length);
    }
  }

  /** Hands on no more frames until `resume`; what comes is kept. May be called by the handler. */
  pause(): void {
    if (this.state === State.running) this.state = State.paused;
  }

  /** Goes on with what was kept. Throws as `feed` does. Called by the handler itself it just undoes `pause`. */
  resume(): void {
    if (this.state === State.paused) this.state = State.running;
    if (this.feeding || this.state !== State.running || this.heldEnd === 0) return;
    this.feeding = true;
    try {
      this.runHeld(0);
    } finally {
      this.feeding = false;
    }
  }

  /** Drops what was kept and ignores all that comes. May be called by the handler. */
  stop(): void {
    this.state = State.stopped;
    this.held = nothing;
    this.heldStart = 0;
    this.heldEnd = 0;
  }

  /** Gives back the buffer of kept bytes if it is empty; for connections that are idle. */
  shrink(): void {
    if (this.heldEnd === 0) this.held = nothing;
  }

  /** Parses what was kept, then goes back to the fed bytes at `fedNext`. */
  private runHeld(fedNext: number): void {
    try {
      this.run(this.held, this.heldStart, this.heldEnd);
    } finally {
      if (this.state !== State.stopped) {
        this.heldStart = this.next;
        if (this.heldStart === this.heldEnd) {
          this.heldStart = 0;
          this.heldEnd = 0;
        }
      }
      this.next = fedNext;
    }
  }

  /** Moves fed bytes from `start` behind the kept ones until those begin with a whole frame; returns where it stopped. */
  private topUp(bytes: Uint8Array, start: number): number {
    const next = this.move(bytes, start, frameHeaderBytes - this.heldBytes);
    if (this.opening || this.heldBytes < frameHeaderBytes) return next;
    this.checkBeginning(this.held, this.heldStart, this.heldEnd);
    return this.move(bytes, next, readU32(this.held, this.heldStart) - this.heldBytes);
  }

  private move(bytes: Uint8Array, start: number, wanted: number): number {
    const end = Math.min(start + wanted, bytes.length);
    if (end <= start) return start;
    this.hold(bytes, start, end);
    return end;
  }

  /** Keeps bytes [start, end) behind those kept before. */
  private hold(bytes: Uint8Array, start: number, end: number): void {
    const count = end - start;
    const before = this.heldBytes;
    const needed = before + count;
    if (needed > this.frameMax + pausedBytesMax) {
      this.stop();
      const text = `more than ${pausedBytesMax} bytes came while the connection was paused`;
      throw new AmqpError(Condition.resourceLimitExceeded, text);
    }
    if (this.heldEnd + count > this.held.length) {
      if (needed > this.held.length) {
        const larger = new Uint8Array(Math.max(needed, this.held.length * 2, 512));
        larger.set(this.held.subarray(this.heldStart, this.heldEnd));
        this.held = larger;
      } else {
        this.held.copyWithin(0, this.heldStart, this.heldEnd);
      }
      this.heldStart = 0;
      this.heldEnd = before;
    }
    this.held.set(bytes.subarray(start, end), this.heldEnd);
    this.heldEnd += count;
  }

  /** Hands on the whole frames in [start, end) while running; `next` tells where it got to. */
  private run(bytes: Uint8Array, start: number, end: number): void {
    const { handler } = this;
    let at = start;
    this.next = at;
    while (end - at >= frameHeaderBytes) {
      if (this.opening) {
        this.opening = false;
        this.next = at + protocolHeaderBytes;
        handler.protocolHeader(bytes, at);
        at = this.next;
      } else {
        // As i32, so that all of this stays small-integer arithmetic; what is negative is too large.
        const size = readI32(bytes, at);
        const doff = bytes[at + 4]!;
        const body = at + doff * 4;
        const frameEnd = at + size;
        const type = bytes[at + 5]!;
        const isSound =
          size >= frameHeaderBytes && size <= this.frameMax && doff >= doffLeast && type <= FrameType.sasl;
        if (!isSound || body > frameEnd || frameEnd > end) break;
        this.next = frameEnd;
        handler.frame(type, readU16(bytes, at + 6), bytes, body, frameEnd);
        at = frameEnd;
      }
      if (this.state !== State.running) return;
    }
    if (at < end && !this.opening) this.checkBeginning(bytes, at, end);
  }

  /** Refuses, as early as it can be told, a frame that will never be good: nothing is kept for it. */
  private checkBeginning(bytes: Uint8Array, at: number, end: number): void {
    if (end - at >= 4) {
      const size = readU32(bytes, at);
      if (size < frameHeaderBytes) this.fail(`a frame of ${size} bytes, ${frameHeaderBytes} are the least`);
      if (size > this.frameMax) this.fail(`a frame of ${size} bytes, max-frame-size is ${this.frameMax}`);
      if (end - at >= 5) this.checkOffset(bytes[at + 4]!, size);
    }
    if (end - at >= 6 && bytes[at + 5]! > FrameType.sasl)
      this.fail(`a frame of the unknown type ${hex(bytes[at + 5]!)}`);
  }

  private checkOffset(doff: number, size: number): void {
    if (doff < doffLeast) this.fail(`a frame with a data offset of ${doff}, ${doffLeast} is the least`);
    if (doff * 4 > size) this.fail(`a frame of ${size} bytes with a data offset of ${doff * 4} bytes`);
  }

  private fail(reason: string): never {
    this.stop();
    throw new AmqpError(Condition.connectionFramingError, reason);
  }
}
