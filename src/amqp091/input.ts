import type { Socket } from 'node:net';
import { type Flushable, Phase, type Turn } from '../base/turn.js';
import { type FrameHandler, FrameParser } from './codec/index.js';
import type { Counters } from './counters.js';
import { InputGate, type Pause } from './input-gate.js';

/** What the input tells its connection. */
export interface InputOwner {
  /** The input has been parsed, or was no AMQP (the error is thrown by parser or frame handler). */
  fail(error: unknown): void;
  /** Frames that queued on channels may go on. */
  drainChannels(): void;
  /** Everything that a read brought was handled. */
  handledInput(): void;
}

/** A content that is only half received and refers to bytes of the chunk being parsed. */
export interface OpenContent {
  /** Copies what it refers to: the bytes are about to be used again. */
  detach(): void;
}

/**
 * All input of a connection: from the socket through the parser to the frame handler, at once. While its gate is shut (see
 * Pause) neither socket nor parser go on; what was read and not parsed stays in the parser.
 */
export class Input implements Flushable {
  /** The bytes being parsed, which stay as they are until all of them are parsed. */
  chunk: Uint8Array | null = null;
  /** The content whose parts lie in the chunk; detached before the chunk is given up. */
  openContent: OpenContent | null = null;
  /** Bytes read so far. */
  bytes = 0;
  readonly parser: FrameParser;
  private readonly gate: InputGate = new InputGate();
  private readonly socket: Socket;
  private readonly turn: Turn;
  private readonly counters: Counters;
  private readonly owner: InputOwner;
  private resuming = false;

  constructor(socket: Socket, turn: Turn, counters: Counters, handler: FrameHandler, owner: InputOwner) {
    this.socket = socket;
    this.turn = turn;
    this.counters = counters;
    this.owner = owner;
    this.parser = new FrameParser(handler, true);
    socket.on('data', (buffer: Buffer) => this.read(buffer));
  }

  get paused(): boolean {
    return !this.gate.open;
  }

  isPausedBy(why: Pause): boolean {
    return this.gate.has(why);
  }

  /** Frames that have queued on channels wait on: the input is paused for something that concerns them too. */
  get holdsBacklogs(): boolean {
    return this.gate.holdsBacklogs;
  }

  pause(why: Pause): void {
    if (this.gate.open) {
      this.parser.pause();
      this.socket.pause();
    }
    this.gate.pause(why);
  }

  /** Undoes one `pause`. The input goes on later in this turn, since whoever calls is in the middle of something. */
  unpause(why: Pause): void {
    this.gate.unpause(why);
    if (this.resuming) return;
    this.resuming = true;
    this.turn.add(Phase.log, this);
  }

  flush(): void {
    this.resuming = false;
    if (this.parser.stopped) return;
    this.owner.drainChannels();
    if (!this.gate.open) return;
    this.resumeParser();
    if (this.gate.open) this.socket.resume();
  }

  /** Goes on whatever has paused it: the connection ends, and only the end of the stream is of interest. */
  unpauseForGood(): void {
    this.resumeParser();
    this.socket.resume();
  }

  resumeParser(): void {
    try {
      this.parser.resume();
    } catch (error) {
      this.owner.fail(error);
    }
  }

  private read(buffer: Buffer): void {
    this.bytes += buffer.length;
    this.counters.bytesIn += buffer.length;
    // A plain array: views of a Buffer are dearer, and every message needs some.
    const chunk = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
    this.chunk = chunk;
    try {
      this.parser.feed(chunk);
    } catch (error) {
      this.owner.fail(error);
    }
    this.openContent?.detach();
    this.chunk = null;
    this.owner.handledInput();
  }
}
