/**
 * Links over TCP, or over TLS in which each end shows a certificate of the same authority. The only file of the cluster that knows
 * node:net and node:tls.
 */
import net from 'node:net';
import tls from 'node:tls';
import { type ByteStream, DialError, type Transport } from '../byte-stream.js';

/** PEM texts. */
export interface LinkTls {
  /** The authority that all nodes' certificates are from, and nobody else's. */
  ca: string;
  /** For the host of this node's address, and good for both ends of a connection. */
  certificate: string;
  key: string;
}

export interface TcpTransportOptions {
  tls?: LinkTls | null;
  /** Told who was turned away before there was a stream, HOST:PORT, and why. */
  turnedAway?: (remote: string, reason: string) => void;
}

const tlsHandshakeMsMax = 5000;
/** Connections that are not through with TLS. */
const tlsHandshakesMax = 128;

export class TcpTransport implements Transport {
  /** Undefined: plain TCP. */
  private tls: tls.SecureContextOptions | undefined;
  /** Those that take calls over TLS. */
  private readonly servers: Set<tls.Server> = new Set();
  private readonly turnedAway: (remote: string, reason: string) => void;

  /** Throws for certificates and keys that cannot be read, or do not fit together. */
  constructor(options: TcpTransportOptions = {}) {
    this.turnedAway = options.turnedAway ?? ((): void => {});
    if (options.tls) this.renew(options.tls);
  }

  /** From now on these are shown and checked; links that are up stay. Throws as the constructor does. */
  renew({ ca, certificate, key }: LinkTls): void {
    const context = { ca, cert: certificate, key, minVersion: 'TLSv1.3' as const };
    tls.createSecureContext(context);
    this.tls = context;
    for (const server of this.servers) server.setSecureContext(context);
  }

  /** Rejects with the system's error (EADDRINUSE, …), or a TypeError for a malformed address. */
  async listen(
    address: string,
    accepted: (stream: ByteStream) => void,
  ): Promise<{ address: string; close(): Promise<void> }> {
    const { host, port } = parseAddress(address);
    const sockets = new Set<net.Socket>();
    const take = this.tls ? this.secured(this.tls, accepted) : plain(accepted);
    const server = net.createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      take(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        server.on('error', () => {}); // accept errors (no descriptors left): the callers try again
        resolve();
      });
    });
    const bound = (server.address() as net.AddressInfo).port;
    return {
      address: `${host.includes(':') ? `[${host}]` : host}:${bound}`,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        }),
    };
  }

  /** Only a refused connection is `refused`: whatever TLS says, somebody is there. */
  dial(address: string, timeoutMs: number): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      const { host, port } = parseAddress(address);
      const socket = net.connect({ host, port, noDelay: true });
      const fail = (error: NodeJS.ErrnoException): void => {
        socket.destroy();
        const failure = error.code === 'ECONNREFUSED' ? 'refused' : 'unreachable';
        reject(new DialError(failure, `${address}: ${reasonOf(error)}`));
      };
      const done = (stream: net.Socket): void => {
        socket.setTimeout(0);
        socket.off('error', fail);
        stream.off('error', fail);
        resolve(new TcpStream(stream, address));
      };
      socket.setTimeout(timeoutMs, () => fail(new Error(`no answer within ${timeoutMs} ms`)));
      socket.once('error', fail);
      socket.once('connect', () => {
        if (socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress) {
          // A port of the ephemeral range on which nothing listens can be connected to itself.
          socket.destroy();
          return reject(new DialError('refused', `${address}: nothing listens there`));
        }
        if (!this.tls) return done(socket);
        const secure = tls.connect({ ...this.tls, socket, host, rejectUnauthorized: true });
        secure.once('error', fail);
        secure.once('secureConnect', () => done(secure));
      });
    });
  }

  /** Lets those through that show a certificate of our authority. */
  private secured(
    context: tls.SecureContextOptions,
    accepted: (stream: ByteStream) => void,
  ): (socket: net.Socket) => void {
    let handshakes = 0;
    const server = tls.createServer({
      ...context,
      requestCert: true,
      // We do, below: here the other end would be gone before we could say who it was.
      rejectUnauthorized: false,
      handshakeTimeout: tlsHandshakeMsMax,
    });
    this.servers.add(server);
    server.on('secureConnection', (socket) => {
      handshakes--;
      if (socket.authorized) return accepted(new TcpStream(socket, remoteOf(socket)));
      this.turnedAway(remoteOf(socket), `TLS: its certificate: ${String(socket.authorizationError)}`);
      socket.destroy();
    });
    server.on('tlsClientError', (error, socket) => {
      handshakes--;
      this.turnedAway(remoteOf(socket), `TLS: ${reasonOf(error)}`);
      socket.destroy();
    });
    return (socket) => {
      if (handshakes >= tlsHandshakesMax) {
        this.turnedAway(remoteOf(socket), 'too many connections');
        socket.destroy();
        return;
      }
      handshakes++;
      server.emit('connection', socket);
    };
  }
}

function plain(accepted: (stream: ByteStream) => void): (socket: net.Socket) => void {
  return (socket) => accepted(new TcpStream(socket, remoteOf(socket)));
}

class TcpStream implements ByteStream {
  readonly remote: string;
  onData: (bytes: Uint8Array) => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: Error) => void = () => {};
  private readonly socket: net.Socket;
  private error: Error | undefined;

  constructor(socket: net.Socket, remote: string) {
    this.socket = socket;
    this.remote = remote;
    socket.on('data', (bytes) => this.onData(bytes));
    socket.on('drain', () => this.onDrain());
    socket.on('error', (error) => {
      this.error = error;
    });
    socket.on('close', () => this.onClose(this.error));
  }

  write(bytes: Uint8Array): boolean {
    return this.socket.write(bytes);
  }

  get pendingBytes(): number {
    return this.socket.writableLength;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** OpenSSL's messages name source files; its reasons are for people. */
function reasonOf(error: Error & { reason?: string }): string {
  return error.reason ?? error.message;
}

function remoteOf({ remoteAddress = '', remotePort = 0 }: net.Socket): string {
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}

/** HOST:PORT, with [HOST] for IPv6. */
function parseAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const port = Number(address.slice(colon + 1));
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  if (colon <= 0 || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new TypeError(`"${address}" is no HOST:PORT`);
  }
  return { host, port };
}
