import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { HeldBytes, Holder } from './held-bytes.js';

/** A message is handed on in such pieces: what of all sockets is handled in one turn is counted by them. */
const pieceBytes = 64 * 1024;
/** Answers to pings are left out while so much waits for a client: it need not read what it asks for. */
const pongBytesMax = 64 * 1024;
/** RFC 6455 §7.4.1 */
const CloseCode = { normal: 1000, unsupportedData: 1003, tryAgainLater: 1013 } as const;
const isOpen = 1;

/**
 * A WebSocket as the servers of AMQP have a socket: of `net.Socket`, what they use. Messages are a stream of bytes, wherever frames of AMQP end.
 *
 * Back pressure. While it is paused the socket beneath is not read; what was read of it already waits here, one message and 64 KiB at most.
 * `writableLength` is what the socket beneath has not sent, as theirs.
 */
export class WebSocketStream extends EventEmitter implements Holder {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  private readonly client: WebSocket;
  private readonly socket: Socket;
  private waiting: Buffer[] = [];
  /** Of what waits, and of a message that has come in part: nearly, for it is counted as it is read. */
  heldBytes = 0;
  private waitingBytes = 0;
  private readonly held: HeldBytes;
  private isGone = false;
  private isPaused = false;
  private isDue = false;
  private readonly handOn = (): void => {
    this.isDue = false;
    while (!this.isPaused && this.waiting.length > 0) this.pass();
    this.holds(this.waitingBytes);
    if (!this.isPaused) this.client.resume();
  };

  /** @param socket what is beneath */
  constructor(client: WebSocket, socket: Socket, held: HeldBytes) {
    super();
    this.held = held;
    held.add(this);
    this.client = client;
    this.socket = socket;
    ({
      remoteAddress: this.remoteAddress,
      remotePort: this.remotePort,
      localAddress: this.localAddress,
      localPort: this.localPort,
    } = socket);
    // Before the library, which may make messages of it.
    socket.prependListener('data', (bytes: Buffer) => this.holds(this.heldBytes + bytes.length));
    // Whoever has taken it is told by `close` as well, and nobody may have.
    this.on('error', () => {});
    client.on('message', (bytes: Buffer, isBinary) => this.received(bytes, isBinary));
    client.on('ping', (bytes: Buffer) => {
      if (socket.writableLength < pongBytesMax) client.pong(bytes);
    });
    client.on('error', (error) => this.emit('error', error));
    client.on('close', () => this.closed());
  }

  /** It is a `net.Socket` as far as the servers go. */
  get asSocket(): Socket {
    return this as unknown as Socket;
  }

  get writable(): boolean {
    return this.client.readyState === isOpen;
  }

  get writableLength(): number {
    return this.socket.writableLength;
  }

  pause(): this {
    this.isPaused = true;
    this.client.pause();
    return this;
  }

  /** Goes on later, as a socket does. */
  resume(): this {
    this.isPaused = false;
    if (this.isDue) return this;
    this.isDue = true;
    process.nextTick(this.handOn);
    return this;
  }

  write(bytes: Uint8Array, written: (error?: Error | null) => void): boolean {
    this.client.send(bytes, written);
    return this.writableLength === 0;
  }

  end(): this {
    this.client.close(CloseCode.normal);
    return this;
  }

  destroy(): this {
    this.client.terminate();
    return this;
  }

  /** It is ended: others need the room. */
  holdsMost(bytesMax: number): void {
    this.isGone = true;
    this.emit('error', new Error(`all WebSockets hold ${bytesMax} bytes, this one the most`));
    this.client.close(CloseCode.tryAgainLater);
    this.client.terminate();
  }

  private holds(bytes: number): void {
    if (this.isGone) return;
    const by = bytes - this.heldBytes;
    this.heldBytes = bytes;
    this.held.changed(by);
  }

  private received(bytes: Buffer, isBinary: boolean): void {
    if (!isBinary) return this.client.close(CloseCode.unsupportedData, 'AMQP comes in binary messages');
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    if (this.isPaused) this.holds(this.waitingBytes);
    else this.handOn();
  }

  /** A piece of what waits. */
  private pass(): void {
    const first = this.waiting[0]!;
    if (first.length <= pieceBytes) this.waiting.shift();
    else this.waiting[0] = first.subarray(pieceBytes);
    const piece = first.subarray(0, pieceBytes);
    this.waitingBytes -= piece.length;
    this.emit('data', piece);
  }

  private closed(): void {
    this.held.remove(this);
    this.isGone = true;
    this.emit('end');
    this.emit('close');
  }
}
