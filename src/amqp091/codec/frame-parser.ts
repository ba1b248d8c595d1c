/**
 * Cuts a stream of bytes into frames (§4.2.3), however it is split:
 *
 *   u8 type   u16 channel   u32 size   payload of that size   u8 0xCE
 *
 * A frame that lies whole in the fed chunk is handed on where it lies; nothing is copied or allocated. Only the beginning
 * of a frame whose rest has not come yet is kept, in one buffer that is used again and grows with what really arrives.
 */
import { readI32, readU16, readU32 } from '../../wire/bytes.js';
import { Frame } from './generated/ids.js';
import { ReplyCode } from './generated/reply-codes.js';
import { ProtocolError } from './protocol-error.js';
import { beginsLikeAmqp, isSupportedHeader, protocolHeaderBytes } from './protocol-header.js';

/** Takes the frames. Payloads are bytes[start..end), valid during the call only. */
export interface FrameHandler {
  /**
   * The connection's first bytes. `supported`: AMQP 0-9-1, frames follow. Otherwise the parser has stopped; bytes[start..end)
   * are the eight bytes of another version's header, or fewer if they are no AMQP at all. The answer is `protocolHeader`.
   */
  protocolHeader(supported: boolean, bytes: Uint8Array, start: number, end: number): void;
  method(channel: number, bytes: Uint8Array, start: number, end: number): void;
  header(channel: number, bytes: Uint8Array, start: number, end: number): void;
  body(channel: number, bytes: Uint8Array, start: number, end: number): void;
  heartbeat(): void;
}

/** Type, channel and size; with the end octet a frame has eight bytes besides its payload. */
const frameHeaderBytes = 7;
export const frameOverheadBytes = 8;

/** What may be kept while paused, besides one frame. Sockets are paused too, so that at most a few reads come on top. */
const pausedBytesMax = 1024 * 1024;

const State = { running: 0, paused: 1, stopped: 2 } as const;
type State = (typeof State)[keyof typeof State];

const nothing = new Uint8Array(0);

export class FrameParser {
  /**
   * The largest payload accepted, in bytes, never 0; to be set to the negotiated frame-max. (By the specification frame-max counts the
   * eight bytes around the payload as well; some clients do not, so as RabbitMQ does, payloads up to frame-max pass.)
   */
  frameMax: number = Frame.minSize;
  private readonly handler: FrameHandler;
  private state: State = State.running;
  private opening: boolean;
  /** True while frames are being handed on; `resume` then has nothing to do. */
  private feeding = false;
  /** The first byte that is not used up, in whatever is being parsed. */
  private next = 0;
  private held: Uint8Array = nothing;
  private heldStart = 0;
  private heldEnd = 0;

  /** @param opening the stream begins with a protocol header (a broker's side). */
  constructor(handler: FrameHandler, opening: boolean) {
    this.handler = handler;
    this.opening = opening;
  }

  get stopped(): boolean {
    return this.state === State.stopped;
  }

  get paused(): boolean {
    return this.state === State.paused;
  }

  /** Of the bytes that were fed last, those that are used up. */
  get usedBytes(): number {
    return this.next;
  }

  /** Bytes kept: the beginning of a frame, or whatever came since `pause`. */
  get heldBytes(): number {
    return this.heldEnd - this.heldStart;
  }

  /**
   * Parses the next bytes of the stream; not to be called by the handler. Throws ProtocolError if they are no frames (501; the parser has stopped), or if too
   * much came while paused (506). What a handler throws goes through: its frame is used up, the rest is kept, and `resume` or
   * the next `feed` goes on behind it.
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
    if (this.opening) return this.move(bytes, start, protocolHeaderBytes - this.heldBytes);
    const next = this.move(bytes, start, frameHeaderBytes - this.heldBytes);
    if (this.heldBytes < frameHeaderBytes) return next;
    this.checkBeginning(this.held, this.heldStart, this.heldEnd);
    const whole = readU32(this.held, this.heldStart + 3) + frameOverheadBytes;
    return this.move(bytes, next, whole - this.heldBytes);
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
    if (needed > this.frameMax + frameOverheadBytes + pausedBytesMax) {
      this.fail(ReplyCode.resourceError, `more than ${pausedBytesMax} bytes came while the connection was paused`);
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
    let at = start;
    this.next = at;
    if (this.opening) {
      at = this.open(bytes, at, end);
      if (this.opening || this.state !== State.running) return;
    }
    const { handler } = this;
    while (end - at >= frameOverheadBytes) {
      // As i32, so that all of this stays small-integer arithmetic; what is negative is too large.
      const size = readI32(bytes, at + 3);
      const payload = at + frameHeaderBytes;
      const payloadEnd = payload + size;
      if (size < 0 || size > this.frameMax || payloadEnd >= end) break;
      if (bytes[payloadEnd] !== Frame.end) this.failAtEnd(bytes, at, payloadEnd);
      const type = bytes[at]!;
      const channel = readU16(bytes, at + 1);
      at = payloadEnd + 1;
      this.next = at;
      if (type === Frame.method) handler.method(channel, bytes, payload, payloadEnd);
      else if (type === Frame.header) handler.header(channel, bytes, payload, payloadEnd);
      else if (type === Frame.body) handler.body(channel, bytes, payload, payloadEnd);
      else this.other(type, channel, size);
      if (this.state !== State.running) return;
    }
    if (at < end) this.checkBeginning(bytes, at, end);
  }

  /** Reads the protocol header and returns where it ends; `opening` stays true if there is too little to tell. */
  private open(bytes: Uint8Array, start: number, end: number): number {
    const headerEnd = Math.min(end, start + protocolHeaderBytes);
    const amqp = beginsLikeAmqp(bytes, start, headerEnd);
    if (amqp && headerEnd - start < protocolHeaderBytes) return start;
    this.opening = false;
    this.next = headerEnd;
    const supported = amqp && isSupportedHeader(bytes, start);
    if (!supported) this.stop();
    this.handler.protocolHeader(supported, bytes, start, headerEnd);
    return headerEnd;
  }

  /** Refuses, as early as it can be told, a frame that will never be good: nothing is kept for it. */
  private checkBeginning(bytes: Uint8Array, at: number, end: number): void {
    const type = bytes[at]!;
    if (type !== Frame.method && type !== Frame.header && type !== Frame.body && type !== Frame.heartbeat) {
      this.fail(ReplyCode.frameError, `unknown frame type ${type}`);
    }
    if (end - at < frameHeaderBytes) return;
    const size = readU32(bytes, at + 3);
    if (size > this.frameMax) {
      const channel = readU16(bytes, at + 1);
      this.fail(
        ReplyCode.frameError,
        `frame of type ${type} on channel ${channel} has a payload of ${size} bytes, frame-max is ${this.frameMax}`,
      );
    }
  }

  private other(type: number, channel: number, size: number): void {
    if (type !== Frame.heartbeat) this.fail(ReplyCode.frameError, `unknown frame type ${type}`);
    if (channel !== 0) this.fail(ReplyCode.frameError, `heartbeat on channel ${channel}, it belongs on channel 0`);
    if (size !== 0) this.fail(ReplyCode.frameError, `heartbeat with a payload of ${size} bytes`);
    this.handler.heartbeat();
  }

  private failAtEnd(bytes: Uint8Array, at: number, payloadEnd: number): never {
    this.checkBeginning(bytes, at, payloadEnd);
    const marker = bytes[payloadEnd]!.toString(16).padStart(2, '0');
    const size = payloadEnd - at - frameHeaderBytes;
    return this.fail(
      ReplyCode.frameError,
      `frame of type ${bytes[at]!} on channel ${readU16(bytes, at + 1)} and ${size} bytes ends in 0x${marker}, not 0xce`,
    );
  }

  private fail(code: number, reason: string): never {
    this.stop();
    throw new ProtocolError(code, reason);
  }
}
