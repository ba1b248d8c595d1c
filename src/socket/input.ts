import type { Socket } from 'node:net';
import { type Flushable, Phase, type Turn } from '../base/turn.js';
import { InputGate, Pause } from './input-gate.js';
import type { InputInLine, InputTurns } from '../base/input-turns.js';

/** Cuts what comes into frames, and hands them on. */
export interface StreamParser {
  /** Of the bytes that were fed last, those that are used up. */
  readonly usedBytes: number;
  readonly stopped: boolean;
  /** Bytes kept: the beginning of a frame, or whatever came since `pause`. */
  readonly heldBytes: number;
  feed(bytes: Uint8Array): void;
  pause(): void;
  resume(): void;
}

/** What the input tells its connection. */
export interface InputOwner {
  /** The input has been parsed, or was no AMQP (the error is thrown by parser or frame handler). */
  fail(error: unknown): void;
  /** Frames that queued on channels may go on. */
  drainChannels(): void;
  /** Everything that a read brought was handled. */
  handledInput(): void;
  /** The socket is somebody else's from now on: see `Input.giveAway`. @param first what it has said, from its header on */
  givenAway(first: Uint8Array): void;
  socketFailed(error: Error): void;
  socketClosed(): void;
}

/** A content that is only half received and refers to bytes of the chunk being parsed. */
export interface OpenContent {
  /** Copies what it refers to: the bytes are about to be used again. */
  detach(): void;
}

/**
 * All input of a connection: from the socket through the parser to the frame handler, at once if the turn has room for it (see
 * InputTurns). While its gate is shut (see Pause) neither socket nor parser go on; what was read and not parsed stays in
 * the parser.
 */
export class Input<Parser extends StreamParser = StreamParser> implements Flushable, InputInLine {
  /** The bytes being parsed, which stay as they are until all of them are parsed. */
  chunk: Uint8Array | null = null;
  /** The content whose parts lie in the chunk; detached before the chunk is given up. */
  openContent: OpenContent | null = null;
  /** Bytes read so far. */
  bytes = 0;
  readonly parser: Parser;
  private readonly gate: InputGate = new InputGate();
  private readonly socket: Socket;
  private readonly turn: Turn;
  private readonly turns: InputTurns;
  private readonly counters: { bytesIn: number };
  private readonly owner: InputOwner;
  private resuming = false;
  /** Read, and waiting in line. */
  private late: Buffer | null = null;
  /** The connection's opening waits for somebody: what comes stays in the parser. */
  private opening = false;
  /** The connection ends: what comes is hardly looked at. */
  private forGood = false;
  /** What the socket has begun with, which is to be given away. */
  private givenHeader: Uint8Array | null = null;

  constructor(
    socket: Socket,
    turn: Turn,
    turns: InputTurns,
    counters: { bytesIn: number },
    parser: Parser,
    owner: InputOwner,
  ) {
    this.socket = socket;
    this.turn = turn;
    this.turns = turns;
    this.counters = counters;
    this.owner = owner;
    this.parser = parser;
    socket.on('data', this.onData);
    socket.on('end', this.onEnd);
    socket.on('error', this.onError);
    socket.on('close', this.onClose);
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
    if (this.parser.stopped || this.isPausedBy(Pause.turn)) return;
    const { heldBytes } = this.parser;
    if (heldBytes > 0 && !this.forGood && !this.turns.hasRoomFor(heldBytes)) {
      this.lineUp();
      return;
    }
    if (heldBytes > 0) this.turns.used(heldBytes);
    this.resumeHeld();
    if (this.gate.open) this.socket.resume();
  }

  /** What waited in line is handled now, as far as nothing else has paused it. */
  goOn(): number {
    if (this.parser.stopped || this.forGood) return 0;
    const late = this.takeLate();
    const bytes = this.parser.heldBytes + (late?.length ?? 0);
    this.gate.unpause(Pause.turn);
    this.resumeHeld();
    if (late !== null) this.parse(late);
    if (this.gate.open) this.socket.resume();
    return bytes;
  }

  /** Goes on whatever has paused it: the connection ends, and only the end of the stream is of interest. */
  unpauseForGood(): void {
    this.forGood = true;
    this.resumeParser();
    const late = this.takeLate();
    if (late !== null) this.parse(late);
    this.socket.resume();
  }

  /** No frame is handled until `releaseParser`, while the socket is read on, so that its end is noticed. */
  holdParser(): void {
    this.opening = true;
    this.parser.pause();
  }

  releaseParser(): void {
    this.opening = false;
    if (this.gate.open) this.resumeParser();
  }

  /** The client that began with `header` is another server's: it is given away, with all that was read, when this read is over. */
  giveAway(header: Uint8Array): void {
    this.givenHeader = header;
  }

  private leave(header: Uint8Array, rest: Uint8Array): void {
    this.socket.off('data', this.onData);
    this.socket.off('end', this.onEnd);
    this.socket.off('error', this.onError);
    this.socket.off('close', this.onClose);
    this.owner.givenAway(Buffer.concat([header, rest]));
  }

  private readonly onError = (error: Error): void => this.owner.socketFailed(error);
  private readonly onClose = (): void => this.owner.socketClosed();
  private readonly onData = (buffer: Buffer): void => this.received(buffer);

  /** The socket closes now, whether anything waits or not. */
  private readonly onEnd = (): void => {
    if (this.isPausedBy(Pause.turn)) this.goOn();
  };

  private lineUp(): void {
    this.pause(Pause.turn);
    this.turns.lineUp(this);
  }

  /** Frames that have queued on channels, then those that wait in the parser. */
  private resumeHeld(): void {
    this.owner.drainChannels();
    if (this.gate.open && !this.opening) this.resumeParser();
  }

  private takeLate(): Buffer | null {
    const { late } = this;
    this.late = null;
    return late;
  }

  private resumeParser(): void {
    try {
      this.parser.resume();
    } catch (error) {
      this.owner.fail(error);
    }
  }

  /** Bytes of the socket, or what somebody else has read of it. */
  received(buffer: Buffer): void {
    this.bytes += buffer.length;
    this.counters.bytesIn += buffer.length;
    if (this.forGood || this.turns.hasRoomFor(buffer.length)) {
      this.parse(buffer);
      this.turns.used(buffer.length);
    } else {
      // The socket is paused now: nothing more is read until this is handled.
      this.late = buffer;
      this.lineUp();
    }
  }

  private parse(buffer: Buffer): void {
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
    if (this.givenHeader === null) this.owner.handledInput();
    else this.leave(this.givenHeader, chunk.subarray(this.parser.usedBytes));
  }
}
