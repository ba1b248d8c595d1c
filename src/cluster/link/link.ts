import type { Flushable, Turn } from '../../base/turn.js';
import { Phase } from '../../base/turn.js';
import type { ByteStream } from '../byte-stream.js';
import { type Frame, FrameError } from './frame.js';
import { FrameOutput } from './frame-output.js';
import { FrameParser } from './frame-parser.js';
import type { Hello } from './hello.js';

export interface LinkLimits {
  /** Largest frame accepted, header included: the largest message (128 MiB) in one record. Both ends must allow what is sent. */
  frameBytesMax: number;
  /** Above this a link is `congested`; its users are to wait for `onDrain`. */
  congestedBytes: number;
  /** Above this the link is closed: its users did not wait. */
  outputBytesMax: number;
}

export const linkLimits: LinkLimits = {
  frameBytesMax: 136 * 1024 * 1024,
  congestedBytes: 4 * 1024 * 1024,
  outputBytesMax: 512 * 1024 * 1024,
};

/** Largest frame from an end that is not admitted: it may be anybody. */
const strangerFrameBytesMax = 64 * 1024;

/** While the stream holds this much, more is gathered here, so that it leaves in few large writes. */
const streamBytesMax = 512 * 1024;

/** How a link ended: `timeout` = nothing heard for too long, or we were frozen; `replaced` = by a newer link or boot. */
export type Evidence = 'closed' | 'timeout' | 'replaced';

/** What a link tells its node's Links. */
export interface LinkOwner {
  /** A read has arrived; false: the link is to be closed unread. */
  mayRead(link: Link): boolean;
  frame(link: Link, frame: Frame): void;
  closed(link: Link, evidence: Evidence, reason: string): void;
}

/** One connection to one boot of another node. Frames sent in a turn leave together at its end. */
export class Link implements Flushable {
  /** True: we dialed. */
  readonly dialed: boolean;
  /** Who is at the other end; set by its hello, before anybody but Links sees the link. */
  peer: Hello = nobody;
  /** Its hello was accepted. */
  admitted = false;
  /** Between the up and the down event. */
  up = false;
  closed = false;
  /** It was closed by the other end, or by the network. */
  endedByPeer = false;
  private readonly stream: ByteStream;
  private readonly turn: Turn;
  private readonly limits: LinkLimits;
  private readonly owner: LinkOwner;
  private readonly parser: FrameParser;
  private readonly output = new FrameOutput();
  private readonly drainListeners: (() => void)[] = [];
  private dirty = false;
  private blocked = false;
  private wasCongested = false;

  constructor(stream: ByteStream, dialed: boolean, turn: Turn, limits: LinkLimits, owner: LinkOwner) {
    this.stream = stream;
    this.dialed = dialed;
    this.turn = turn;
    this.limits = limits;
    this.owner = owner;
    this.parser = new FrameParser(Math.min(limits.frameBytesMax, strangerFrameBytesMax), (frame) =>
      owner.frame(this, frame),
    );
    stream.onData = (bytes) => this.read(bytes);
    stream.onDrain = () => this.drained();
    stream.onClose = (error) => {
      this.endedByPeer = !this.closed;
      this.close('closed', error?.message ?? 'closed by the peer');
    };
  }

  greet(peer: Hello): void {
    this.peer = peer;
  }

  /** From now on it is one of us. */
  admit(): void {
    this.admitted = true;
    this.parser.allow(this.limits.frameBytesMax);
  }

  /** Where the other end is, HOST:PORT. */
  get remote(): string {
    return this.stream.remote;
  }

  /** Bytes sent and not yet with the network. */
  get pendingBytes(): number {
    return this.output.pendingBytes + this.stream.pendingBytes;
  }

  /** True: send no more before `onDrain` is called. What must be sent all the same is accepted. */
  get congested(): boolean {
    if (this.output.pendingBytes + this.stream.pendingBytes <= this.limits.congestedBytes) return false;
    this.wasCongested = true;
    return true;
  }

  /** `listener` is called when a link that said it was congested has room again. */
  onDrain(listener: () => void): void {
    this.drainListeners.push(listener);
  }

  /**
   * Begins a frame; its payload of exactly `payloadBytes` is to be written at once, into `bytes` (or `view`) at `offset`
   * of what is returned, which is valid until the next call. On a closed link the frame goes nowhere.
   */
  beginFrame(type: number, group: number, payloadBytes: number, version: number = 1): FrameOutput {
    this.output.begin(type, version, group, payloadBytes);
    if (!this.dirty) {
      this.dirty = true;
      this.turn.add(Phase.output, this);
    }
    return this.output;
  }

  /** Shortens the frame begun last, if its payload came to less than was asked for. */
  endFrame(payloadBytes: number): void {
    this.output.end(payloadBytes);
  }

  /** Sends a frame whose payload is a copy of `parts`, one after the other. */
  send(type: number, group: number, ...parts: readonly Uint8Array[]): void {
    let length = 0;
    for (const part of parts) length += part.length;
    const output = this.beginFrame(type, group, length);
    let at = output.offset;
    for (const part of parts) {
      output.bytes.set(part, at);
      at += part.length;
    }
  }

  /** Writes now what was sent so far. */
  flush(): void {
    this.dirty = false;
    if (this.closed) return this.output.clear();
    if (!this.blocked) this.blocked = !this.output.writeTo(this.stream) && this.stream.pendingBytes > streamBytesMax;
    if (this.pendingBytes > this.limits.outputBytesMax) {
      this.close('closed', `${this.pendingBytes} bytes wait to be sent, allowed are ${this.limits.outputBytesMax}`);
    } else this.relieve();
  }

  /** What is not yet with the network is lost; nothing more is handed on from the peer. */
  close(evidence: Evidence, reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.parser.stop();
    this.output.clear();
    this.stream.close();
    this.owner.closed(this, evidence, reason);
  }

  private read(bytes: Uint8Array): void {
    if (this.closed) return;
    if (!this.owner.mayRead(this)) return this.close('timeout', 'nothing was heard in time');
    try {
      this.parser.push(bytes);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.close('closed', error.message);
    }
  }

  private drained(): void {
    if (this.closed) return;
    this.blocked = false;
    if (this.output.pendingBytes > 0) this.flush();
    else this.relieve();
  }

  private relieve(): void {
    if (!this.wasCongested || this.pendingBytes > this.limits.congestedBytes / 2) return;
    this.wasCongested = false;
    for (const listener of this.drainListeners) listener();
  }
}

const nobody: Hello = {
  cluster: '',
  versionMin: 0,
  versionMax: 0,
  node: '',
  store: '',
  boot: 0,
  ordinal: 0,
  address: '',
  amqp: '',
  http: '',
};
