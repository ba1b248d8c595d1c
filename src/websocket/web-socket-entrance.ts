/**
 * AMQP over WebSocket (RFC 6455, and OASIS' binding of AMQP to it): the way in of clients that begin with an HTTP request, for browsers and where nothing
 * but HTTP gets through.
 *
 *   "GET " on the port of AMQP ── request whole, path, origin and sub-protocol are good ──▶ WebSocket ── a stream of bytes ──▶ the port's servers
 *        └── 400, 403, 404, 426, too late, or too many ──▶ gone
 *
 * What the client says then is as on a plain socket: the header decides what it speaks. The library is loaded with the first of them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import type { Clock, Timer } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { RareLog } from '../base/rare-log.js';
import { HeldBytes } from './held-bytes.js';
import { isOriginAllowed } from './origin.js';
import { WebSocketStream } from './web-socket-stream.js';

/** RabbitMQ's, Azure's, and a plain one. */
const paths: ReadonlySet<string> = new Set(['/amqp', '/ws', '/$servicebus/websocket']);
/** `amqp` is OASIS' for 1.0, AMQPWSB10 Azure's; those of 0-9-1 send `amqp` or `binary`, or none. The first that is asked for is chosen. */
const protocols: ReadonlySet<string> = new Set(['amqp', 'AMQPWSB10', 'binary']);

export interface WebSocketLimits {
  /** Clients that are not through with HTTP; one more and the oldest of them is dropped. */
  handshakesMax: number;
  /** From the connection to its WebSocket, ms. */
  handshakeTimeoutMs: number;
  /** Bytes of a request's head. */
  headBytesMax: number;
  /** Bytes of a message, which comes whole; frames of AMQP are smaller, but a client may send many in one. */
  messageBytesMax: number;
  /** Bytes of messages of all clients that have come in part, or wait. */
  allHeldBytesMax: number;
}

export const webSocketLimits: WebSocketLimits = {
  handshakesMax: 512,
  handshakeTimeoutMs: 10_000,
  headBytesMax: 16 * 1024,
  messageBytesMax: 16 * 1024 * 1024,
  allHeldBytesMax: 128 * 1024 * 1024,
};

/** @template Transport what is known of a client's connection besides */
export interface WebSocketOptions<Transport> {
  clock: Clock;
  logger: Logger;
  /** Origins of pages that may connect, in lower case; '*' = all. See `isOriginAllowed`. */
  origins: readonly string[];
  limits?: Partial<WebSocketLimits>;
  /** A client is in: `socket` is as one that was just accepted. */
  entered(socket: Socket, transport: Transport): void;
}

/** A client that is not through with HTTP. */
interface Arrival<Transport> {
  readonly transport: Transport;
  readonly timer: Timer;
}

/** Clients that are turned away, in ten seconds of the log. */
const turnedAwayLinesMax = 20;
/** "GET " */
const beginning = [0x47, 0x45, 0x54, 0x20];

export class WebSocketEntrance<Transport> {
  private readonly options: WebSocketOptions<Transport>;
  private readonly limits: WebSocketLimits;
  private readonly turnedAway: RareLog;
  private readonly server: Server;
  private readonly held: HeldBytes;
  private sockets: WebSocketServer | undefined;
  /** Oldest first. */
  private readonly arrivals: Map<Socket, Arrival<Transport>> = new Map();
  private isClosed = false;

  constructor(options: WebSocketOptions<Transport>) {
    this.options = options;
    this.limits = { ...webSocketLimits, ...options.limits };
    this.held = new HeldBytes(this.limits.allHeldBytesMax);
    this.turnedAway = new RareLog(
      options.logger,
      options.clock,
      'a client over WebSocket was turned away',
      turnedAwayLinesMax,
    );
    this.server = createServer({ maxHeaderSize: this.limits.headBytesMax }, (request, response) =>
      this.notUpgraded(request, response),
    );
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket as Socket, head));
  }

  /** Clients that are not through with HTTP; the others are the servers'. */
  get connectionCount(): number {
    return this.arrivals.size;
  }

  /** Whether a client that begins so is to be taken. */
  speaks(header: Uint8Array): boolean {
    return !this.isClosed && header.length >= beginning.length && beginning.every((byte, i) => header[i] === byte);
  }

  /** Takes a client over. @param first what it has said */
  take(socket: Socket, _id: string, transport: Transport, first: Uint8Array): void {
    // What came over a WebSocket is AMQP, or nothing: the stream is no socket that HTTP could be spoken on.
    if ((socket as Socket | WebSocketStream) instanceof WebSocketStream) {
      this.tell(socket, 'it asks for a WebSocket within a WebSocket');
      socket.destroy();
      return;
    }
    if (this.arrivals.size >= this.limits.handshakesMax) this.dropOldest();
    this.expect(socket, transport);
    socket.pause();
    socket.unshift(first);
    void this.load().then(
      () => {
        if (socket.destroyed) return;
        this.server.emit('connection', socket);
        socket.resume();
      },
      (error: unknown) => {
        this.options.logger.error('AMQP over WebSocket cannot be served', { error: String(error) });
        socket.destroy();
      },
    );
  }

  /** No more clients; those who are not through are cut off. */
  close(): void {
    this.isClosed = true;
    for (const socket of [...this.arrivals.keys()]) socket.destroy();
  }

  private expect(socket: Socket, transport: Transport): void {
    const { clock } = this.options;
    const timer = clock.after(this.limits.handshakeTimeoutMs, () => socket.destroy());
    this.arrivals.set(socket, { transport, timer });
    socket.on('error', () => {});
    socket.once('close', () => this.left(socket));
  }

  private left(socket: Socket): Arrival<Transport> | undefined {
    const arrival = this.arrivals.get(socket);
    arrival?.timer.cancel();
    this.arrivals.delete(socket);
    return arrival;
  }

  private dropOldest(): void {
    const [oldest] = this.arrivals.keys();
    if (oldest === undefined) return;
    this.left(oldest);
    oldest.destroy();
  }

  private async load(): Promise<void> {
    if (this.sockets !== undefined) return;
    const { WebSocketServer: Sockets } = await import('ws');
    this.sockets ??= new Sockets({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: this.limits.messageBytesMax,
      handleProtocols: (offered) => [...offered].find((name) => protocols.has(name)) ?? false,
    });
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const refusal = this.refusal(request);
    if (refusal !== undefined) {
      this.tell(socket, refusal.reason);
      socket.end(answerOf(refusal));
      return;
    }
    this.sockets!.handleUpgrade(request, socket, head, (client) => {
      const arrival = this.left(socket);
      if (arrival === undefined || this.isClosed) client.terminate();
      else this.options.entered(new WebSocketStream(client, socket, this.held).asSocket, arrival.transport);
    });
  }

  /** Undefined: nothing stands against it. */
  private refusal({ url = '', headers }: IncomingMessage): Refusal | undefined {
    const path = url.split('?', 1)[0]!;
    if (!paths.has(path))
      return { status: '404 Not Found', reason: `there is no ${path}: AMQP is at ${[...paths].join(', ')}` };
    const { origin, host } = headers;
    if (!isOriginAllowed(origin, host, this.options.origins))
      return { status: '403 Forbidden', reason: `pages of ${origin} may not connect: see websocket-origins` };
    const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
    if (offered.length > 0 && !offered.some((name) => protocols.has(name))) {
      const reason = `none of the sub-protocols ${offered.join(', ')} is known: ${[...protocols].join(', ')} are`;
      return { status: '400 Bad Request', reason };
    }
    return undefined;
  }

  private notUpgraded({ socket }: IncomingMessage, response: ServerResponse): void {
    const reason = 'this port speaks AMQP, also over WebSocket; it serves no pages';
    this.tell(socket, reason);
    response.writeHead(426, { 'content-type': 'text/plain', connection: 'close, Upgrade', upgrade: 'websocket' });
    response.end(`${reason}\n`);
  }

  private tell(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>, reason: string): void {
    this.turnedAway.warn({ client: `${socket.remoteAddress}:${socket.remotePort}`, reason });
  }
}

interface Refusal {
  readonly status: string;
  readonly reason: string;
}

/** What a request asks for in its refusal cannot end the head: node:http takes no line feeds in paths and headers. */
function answerOf({ status, reason }: Refusal): string {
  const body = `${reason}\n`;
  const head = [`HTTP/1.1 ${status}`, 'Connection: close', 'Content-Type: text/plain'];
  return [...head, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}
