/**
 * A small, fast AMQP 0-9-1 client for load: one connection with one channel, on our own codec. Calls are answered one at a time;
 * the hot methods (deliver, ack, nack) go to a `LoadHandler` without an object.
 */
import { connect, isIP, type Socket } from 'node:net';
import {
  BasicProperties,
  ChannelOpen,
  ConnectionClose,
  ConnectionCloseOk,
  ConnectionOpen,
  ConnectionStartOk,
  type ConnectionTune,
  ConnectionTuneOk,
  decodeMethod,
  type FrameHandler,
  FrameParser,
  FrameWriter,
  type Method,
  MethodId,
  methodIdAt,
  methodName,
  ProtocolError,
} from '../../amqp091/codec/index.js';
import type { Arguments } from '../../model/broker.js';
import { CommandError } from '../fail.js';

/** Takes what is not the answer to a call. Bytes are valid during the call only. */
export interface LoadHandler {
  /** basic.ack or basic.nack of the broker, or any other method of the channel. */
  method(id: number, bytes: Uint8Array, start: number, end: number): void;
  body(bytes: Uint8Array, start: number, end: number): void;
  /** What was received together has been handed on. */
  received(): void;
  /** The socket takes more. */
  drained(): void;
}

export const channelNumber = 1;
const callTimeoutMs = 10_000;

interface Call {
  resolve(method: Method): void;
  reject(error: Error): void;
}

export class LoadConnection implements FrameHandler {
  readonly frames: FrameWriter = new FrameWriter();
  /** Rejects when the connection ends that should not. */
  readonly lost: Promise<never>;
  handler: LoadHandler | undefined;
  private readonly socket: Socket;
  /** HOST:PORT of the broker. */
  private readonly where: string;
  private readonly parser: FrameParser;
  private call: Call | undefined;
  private closing = false;
  private lose: (error: Error) => void = () => {};

  private constructor(socket: Socket, where: string) {
    this.socket = socket;
    this.where = where;
    this.parser = new FrameParser(this, false);
    this.lost = new Promise((_, reject) => {
      this.lose = reject;
    });
    this.lost.catch(() => {});
    socket.on('data', (bytes) => this.read(bytes));
    socket.on('drain', () => this.handler?.drained());
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new CommandError(`${where} has closed the connection`)));
  }

  /** Opens connection and channel. Rejects with CommandError, or as a socket fails. */
  static async open(url: URL): Promise<LoadConnection> {
    const secure = url.protocol === 'amqps:';
    const port = Number(url.port || (secure ? 5671 : 5672));
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const socket = secure ? await connectTls(host, port) : connect({ host, port, noDelay: true });
    const connection = new LoadConnection(socket, `${url.hostname}:${port}`);
    const connected = new Promise<void>((resolve) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => resolve());
    });
    await Promise.race([connected, connection.lost]);
    const user = decodeURIComponent(url.username || 'guest');
    const password = decodeURIComponent(url.password || 'guest');
    const vhost = decodeURIComponent(url.pathname.slice(1)) || '/';
    connection.frames.protocolHeader();
    await connection.answer('connection.start');
    const response = Buffer.from(`\0${user}\0${password}`);
    const capabilities = { 'basic.nack': true, authentication_failure_close: true };
    const properties = { product: 'understudy bench', capabilities };
    const tune = (await connection.ask(
      new ConnectionStartOk(properties, 'PLAIN', response, 'en_US'),
      0,
    )) as ConnectionTune;
    connection.frames.frameMax = tune.frameMax || 131_072;
    connection.parser.frameMax = connection.frames.frameMax;
    connection.frames.method(0, new ConnectionTuneOk(tune.channelMax, connection.frames.frameMax, 0));
    await connection.ask(new ConnectionOpen(vhost), 0);
    await connection.ask(new ChannelOpen(), channelNumber);
    return connection;
  }

  /** Sends a method and resolves to the answer. */
  ask(method: Method, channel: number = channelNumber): Promise<Method> {
    this.frames.method(channel, method);
    return this.answer(methodName(method.id));
  }

  /** Sends what was written. False: the socket is full, `drained` will follow. */
  flush(): boolean {
    const { output } = this.frames;
    if (output.length === 0) return !this.socket.writableNeedDrain;
    const bytes = output.take();
    return this.socket.write(bytes, () => output.recycle(bytes));
  }

  async close(): Promise<void> {
    this.closing = true;
    if (this.socket.destroyed) return;
    await this.ask(new ConnectionClose(200, 'done', 0, 0), 0).catch(() => {});
    this.socket.destroy();
  }

  // FrameHandler

  protocolHeader(): void {}

  method(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    const id = methodIdAt(bytes, start, end);
    if (id === MethodId.basicDeliver || id === MethodId.basicAck || id === MethodId.basicNack) {
      this.handler?.method(id, bytes, start, end);
      return;
    }
    const method = decodeMethod(bytes, start, end);
    if (method.id === MethodId.connectionClose || method.id === MethodId.channelClose) {
      if (method.id === MethodId.connectionClose) this.frames.method(0, new ConnectionCloseOk());
      this.flush();
      this.fail(new CommandError(`${this.where} refuses: ${method.replyCode} ${method.replyText}`));
      return;
    }
    // Sent unasked: publishers are held back by the socket anyway.
    if (method.id === MethodId.connectionBlocked || method.id === MethodId.connectionUnblocked) return;
    const { call } = this;
    this.call = undefined;
    if (call === undefined) this.handler?.method(id, bytes, start, end);
    else call.resolve(method);
  }

  header(): void {}

  body(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.handler?.body(bytes, start, end);
  }

  heartbeat(): void {}

  private answer(what: string): Promise<Method> {
    this.flush();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new CommandError(`no answer to ${what}`)), callTimeoutMs);
      this.call = {
        resolve: (method) => {
          clearTimeout(timer);
          resolve(method);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
    });
  }

  private read(buffer: Buffer): void {
    try {
      this.parser.feed(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length));
      this.handler?.received();
    } catch (error) {
      const foreign = error instanceof ProtocolError;
      this.fail(
        foreign ? new CommandError(`${this.where} does not speak AMQP 0-9-1: ${error.message}`) : (error as Error),
      );
      this.socket.destroy();
    }
  }

  private fail(error: Error): void {
    const { call } = this;
    this.call = undefined;
    call?.reject(error);
    if (!this.closing) this.lose(error);
  }
}

/** The broker's certificate must be from an authority that Node.js knows, or from one in the file that NODE_EXTRA_CA_CERTS names. */
async function connectTls(host: string, port: number): Promise<Socket> {
  const { connect: connectSecurely } = await import('node:tls');
  return connectSecurely({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) }).setNoDelay(true);
}

/** The frames of one basic.publish with `size` bytes of body, to be sent again and again; the body's bytes come last but one. */
export function publishFrames(
  method: Method,
  persistent: boolean,
  size: number,
  frameMax: number,
  headers?: Arguments,
): Uint8Array {
  const writer = new FrameWriter();
  writer.frameMax = frameMax;
  const properties = new BasicProperties();
  properties.deliveryMode = persistent ? 2 : 1;
  properties.headers = headers;
  writer.methodWithContent(channelNumber, method, properties, new Uint8Array(size));
  return writer.output.take();
}
