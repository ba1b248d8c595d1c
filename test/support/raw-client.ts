/** An AMQP 0-9-1 client that does exactly what a test says, right or wrong. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, type SecureContextOptions } from 'node:tls';
import {
  BasicProperties,
  BasicPublish,
  ChannelOpen,
  ConnectionOpen,
  ConnectionStartOk,
  ConnectionTuneOk,
  decodeMethod,
  expectsContent,
  type FrameHandler,
  FrameParser,
  FrameWriter,
  type Method,
  MethodId,
  methodName,
  PropertyView,
  protocolHeader,
} from '../../src/amqp091/codec/index.js';
import type { Arguments } from '../../src/model/broker.js';
import { readU32 } from '../../src/wire/bytes.js';

/** What the server sent: a method with its content, or a heartbeat (`method` undefined). */
export interface Received {
  channel: number;
  method: Method | undefined;
  properties: BasicProperties;
  body: Buffer;
}

export class RawClient implements FrameHandler {
  readonly socket: Socket;
  readonly frames: FrameWriter = new FrameWriter();
  /** Bytes before any frame, if the server answers with a protocol header. */
  readonly raw: Buffer[] = [];
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>;
  /** How long `next` waits. */
  patienceMs = 10_000;
  private readonly parser: FrameParser = new FrameParser(this, false);
  private readonly queue: Received[] = [];
  private waiting: (() => void) | undefined;
  private isClosed = false;
  private content: { received: Received; size: number; parts: Uint8Array[]; length: number } | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.parser.frameMax = 0x7fff_ffff;
    this.frames.frameMax = 0;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        this.waiting?.();
        resolve();
      });
    });
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (this.raw.length > 0 || bytes.subarray(0, 4).toString('latin1') === 'AMQP') this.raw.push(bytes);
      else this.parser.feed(bytes);
    });
  }

  /** @param tls over TLS, with this */
  static async dial(port: number, tls?: SecureContextOptions): Promise<RawClient> {
    const socket =
      tls === undefined
        ? connect({ port, host: '127.0.0.1', noDelay: true })
        : connectSecurely({ port, host: '127.0.0.1', ...tls });
    await once(socket, tls === undefined ? 'connect' : 'secureConnect');
    return new RawClient(socket);
  }

  /** A client whose connection is open. */
  static async open(
    port: number,
    options: {
      capabilities?: Arguments;
      /** What it calls itself. */
      product?: string;
      heartbeat?: number;
      frameMax?: number;
      vhost?: string;
      tls?: SecureContextOptions;
      /** That is open already. */
      socket?: Socket;
    } = {},
  ): Promise<RawClient> {
    const { socket } = options;
    const client = socket === undefined ? await RawClient.dial(port, options.tls) : new RawClient(socket);
    client.sendBytes(protocolHeader);
    await client.expect(MethodId.connectionStart);
    const capabilities = options.capabilities ?? {
      consumer_cancel_notify: true,
      'connection.blocked': true,
      authentication_failure_close: true,
    };
    client.send(0, startOk('guest', 'guest', capabilities, options.product));
    await client.expect(MethodId.connectionTune);
    const frameMax = options.frameMax ?? 131_072;
    client.send(0, new ConnectionTuneOk(2047, frameMax, options.heartbeat ?? 0));
    client.frames.frameMax = frameMax;
    client.send(0, new ConnectionOpen(options.vhost ?? '/'));
    await client.expect(MethodId.connectionOpenOk);
    return client;
  }

  async openChannel(channel: number): Promise<void> {
    this.send(channel, new ChannelOpen());
    await this.expect(MethodId.channelOpenOk, channel);
  }

  send(channel: number, method: Method): void {
    this.frames.method(channel, method);
    this.flush();
  }

  /** basic.publish with its content. */
  publish(
    channel: number,
    exchange: string,
    routingKey: string,
    body: string | Uint8Array = '',
    set: Partial<BasicProperties> = {},
    mandatory = false,
  ): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const properties = Object.assign(new BasicProperties(), set);
    this.frames.methodWithContent(channel, new BasicPublish(exchange, routingKey, mandatory, false), properties, bytes);
    this.flush();
  }

  /** Bytes as they are. */
  sendBytes(bytes: Uint8Array): void {
    this.flush();
    this.socket.write(bytes);
  }

  /** The next thing that the server sends; fails after a while without any. */
  async next(): Promise<Received> {
    if (this.queue.length === 0 && !this.isClosed) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('nothing came from the server')), this.patienceMs);
        this.waiting = () => {
          clearTimeout(timer);
          this.waiting = undefined;
          resolve();
        };
      });
    }
    const received = this.queue.shift();
    if (!received) throw new Error('the server closed the socket');
    return received;
  }

  /** The next thing that the server sends, which must be this method on this channel. */
  async expect<Id extends Method['id']>(
    id: Id,
    channel = 0,
  ): Promise<Received & { method: Extract<Method, { id: Id }> }> {
    const received = await this.next();
    const { method } = received;
    if (method?.id !== id || received.channel !== channel) {
      const came = method ? `${methodName(method.id)} ${JSON.stringify(method)}` : 'a heartbeat';
      throw new Error(`expected ${methodName(id)} on channel ${channel}, got ${came} on channel ${received.channel}`);
    }
    return received as Received & { method: Extract<Method, { id: Id }> };
  }

  /** True if nothing comes for a few turns of the event loop. */
  async silent(ms = 30): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return this.queue.length === 0;
  }

  /** What came and was not taken. */
  get received(): readonly Received[] {
    return this.queue;
  }

  end(): void {
    this.socket.destroy();
  }

  protocolHeader(): void {}

  method(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const received = {
      channel,
      method: decodeMethod(bytes, start, end),
      properties: new BasicProperties(),
      body: Buffer.alloc(0),
    };
    if (expectsContent.has(received.method.id)) this.content = { received, size: 0, parts: [], length: 0 };
    else this.add(received);
  }

  header(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    const content = this.content!;
    content.size = readU32(bytes, start + 8);
    content.received.properties = new PropertyView().set(bytes, start + 12, end).decode();
    if (content.size === 0) this.add(content.received);
  }

  body(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    const content = this.content!;
    content.parts.push(bytes.slice(start, end));
    content.length += end - start;
    if (content.length < content.size) return;
    content.received.body = Buffer.concat(content.parts);
    this.add(content.received);
  }

  heartbeat(): void {
    this.add({ channel: 0, method: undefined, properties: new BasicProperties(), body: Buffer.alloc(0) });
  }

  private add(received: Received): void {
    this.queue.push(received);
    this.waiting?.();
  }

  private flush(): void {
    const bytes = this.frames.output.take();
    if (bytes.length > 0) this.socket.write(bytes);
  }
}

/** start-ok with PLAIN. */
export function startOk(
  user: string,
  password: string,
  capabilities: Arguments,
  product: string = 'raw',
): ConnectionStartOk {
  const response = Buffer.from(`\0${user}\0${password}`);
  return new ConnectionStartOk({ product, capabilities }, 'PLAIN', response, 'en_US');
}
