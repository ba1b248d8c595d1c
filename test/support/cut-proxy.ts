/** A wire between a client and a server of this machine that can be cut, or go silent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { within } from './within.js';

export class CutProxy implements AsyncDisposable {
  private readonly server: Server;
  private readonly sockets: Set<Socket> = new Set();
  private readonly muted: WeakSet<Socket> = new WeakSet();
  private isCut = false;

  private constructor(targetPort: number) {
    this.server = createServer((client) => this.join(client, targetPort));
  }

  static async start(targetPort: number): Promise<CutProxy> {
    const proxy = new CutProxy(targetPort);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends all connections, and takes no new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend(): void {
    this.isCut = false;
  }

  /** On the connections there are, what the server says is lost, for good. */
  mute(): void {
    for (const socket of this.sockets) this.muted.add(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    const closed = once(this.server, 'close');
    this.server.close();
    await within(20_000, () => `a proxy of ${this.sockets.size} connections closes`, closed);
  }

  private join(client: Socket, targetPort: number): void {
    if (this.isCut) {
      client.destroy();
      return;
    }
    const server = connect(targetPort, '127.0.0.1');
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      if (!this.muted.has(server)) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
