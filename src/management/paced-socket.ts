import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { InputInLine, InputTurns } from '../base/input-turns.js';

/** What is handed on at once. */
const pieceBytes = 1024;
const nothing = Buffer.alloc(0);

/**
 * A client's socket as node:http gets it. What comes is handed on in small pieces, when their turn has come: node:http makes
 * requests of all that it is given, and given thousands of tiny ones at once it keeps the process from everything else.
 */
export class PacedSocket extends Duplex implements InputInLine {
  private readonly socket: Socket;
  private readonly turns: InputTurns;
  /** Read, and not handed on; the socket is paused meanwhile. */
  private waiting: Buffer = nothing;
  private wanted = false;
  private inLine = false;
  private ended = false;

  constructor(socket: Socket, turns: InputTurns) {
    super();
    this.socket = socket;
    this.turns = turns;
    socket.on('data', (bytes: Buffer) => {
      socket.pause();
      this.waiting = bytes;
      this.lineUp();
    });
    socket.on('end', () => {
      this.ended = true;
      if (this.waiting.length === 0) this.push(null);
    });
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.pause();
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  /** As of net.Socket: 'timeout' after `ms` without anything in either direction. */
  setTimeout(ms: number): this {
    this.socket.setTimeout(ms);
    return this;
  }

  goOn(): number {
    this.inLine = false;
    if (this.destroyed || !this.wanted) return 0;
    const piece = this.waiting.subarray(0, pieceBytes);
    this.waiting = this.waiting.subarray(piece.length);
    this.wanted = false;
    this.push(piece);
    if (this.ended && this.waiting.length === 0) this.push(null);
    return piece.length;
  }

  override _read(): void {
    this.wanted = true;
    if (this.waiting.length > 0) this.lineUp();
    else if (!this.ended) this.socket.resume();
  }

  override _write(bytes: Buffer, _encoding: string, written: (error?: Error | null) => void): void {
    this.socket.write(bytes, written);
  }

  override _final(done: () => void): void {
    this.socket.destroySoon();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  private lineUp(): void {
    if (this.inLine || !this.wanted) return;
    this.inLine = true;
    this.turns.lineUp(this);
  }
}
