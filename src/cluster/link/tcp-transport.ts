/** Links over TCP. The only file of the cluster that knows node:net. */
import net from 'node:net';
import { type ByteStream, DialError, type Transport } from '../byte-stream.js';

export class TcpTransport implements Transport {
  /** Rejects with the system's error (EADDRINUSE, …), or a TypeError for a malformed address. */
  async listen(
    address: string,
    accepted: (stream: ByteStream) => void,
  ): Promise<{ address: string; close(): Promise<void> }> {
    const { host, port } = parseAddress(address);
    const sockets = new Set<net.Socket>();
    const server = net.createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      accepted(new TcpStream(socket));
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

  dial(address: string, timeoutMs: number): Promise<ByteStream> {
    return new Promise((resolve, reject) => {
      const { host, port } = parseAddress(address);
      const socket = net.connect({ host, port, noDelay: true });
      const fail = (error: NodeJS.ErrnoException): void => {
        socket.destroy();
        const failure = error.code === 'ECONNREFUSED' ? 'refused' : 'unreachable';
        reject(new DialError(failure, `${address}: ${error.message}`));
      };
      socket.setTimeout(timeoutMs, () => fail(new Error(`no answer within ${timeoutMs} ms`)));
      socket.once('error', fail);
      socket.once('connect', () => {
        socket.setTimeout(0);
        socket.off('error', fail);
        if (socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress) {
          // A port of the ephemeral range on which nothing listens can be connected to itself.
          socket.destroy();
          reject(new DialError('refused', `${address}: nothing listens there`));
        } else resolve(new TcpStream(socket));
      });
    });
  }
}

class TcpStream implements ByteStream {
  onData: (bytes: Uint8Array) => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: Error) => void = () => {};
  private readonly socket: net.Socket;
  private error: Error | undefined;

  constructor(socket: net.Socket) {
    this.socket = socket;
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
