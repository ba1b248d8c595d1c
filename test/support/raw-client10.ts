/** An AMQP 1.0 client that does exactly what a test says, right or wrong. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FieldReader } from '../../src/amqp10/codec/field-reader.js';
import {
  Attach,
  Begin,
  Close,
  decodeSasl,
  Descriptor,
  descriptorName,
  Disposition,
  Flow,
  FrameType,
  FrameWriter,
  Open,
  type Performative,
  ProtocolId,
  SaslInit,
  type SaslPerformative,
  Source,
  Target,
  Transfer,
} from '../../src/amqp10/codec/index.js';
import { decodePerformative } from '../../src/amqp10/codec/generated/performatives.js';
import { ByteReader } from '../../src/wire/byte-reader.js';
import { ByteWriter } from '../../src/wire/byte-writer.js';
import { within } from './within.js';

/** What the broker sent: a frame, or eight bytes of a protocol header. */
export interface Received10 {
  channel: number;
  /** Undefined: an empty frame, or a header. */
  body: Performative | SaslPerformative | undefined;
  /** Of a transfer. */
  payload: Buffer;
  /** In hex. */
  header: string;
}

type BodyOf<D extends number> = Extract<Performative | SaslPerformative, { descriptor: D }>;

export class RawClient10 {
  readonly socket: Socket;
  readonly frames: FrameWriter = new FrameWriter(new ByteWriter());
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>;
  /** How long `next` waits. */
  patienceMs = 10_000;
  /** The next delivery-id. */
  nextDelivery = 0;
  private held: Buffer = Buffer.alloc(0);
  private readonly queue: Received10[] = [];
  private waiting: (() => void) | undefined;
  private isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.frames.frameMax = 0x7fff_ffff;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        this.waiting?.();
        resolve();
      });
    });
    socket.on('error', () => {});
    socket.on('data', (bytes) => this.received(bytes));
  }

  static async dial(port: number): Promise<RawClient10> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawClient10(socket);
  }

  /** A client whose connection is open. */
  static async open(port: number, fields: Partial<Open> = {}, patienceMs = 10_000): Promise<RawClient10> {
    const client = await RawClient10.dial(port);
    client.patienceMs = patienceMs;
    await client.logIn();
    client.send(0, Object.assign(new Open(), { containerId: 'raw' }, fields));
    await client.expect(Descriptor.open);
    return client;
  }

  /** Both headers, and PLAIN in between. */
  async logIn(user = 'guest', password = 'guest'): Promise<void> {
    this.header(ProtocolId.sasl);
    await this.expect(Descriptor.saslMechanisms);
    this.sendSasl(plain(user, password));
    const { code } = await this.expect(Descriptor.saslOutcome);
    assert.equal(code, 0);
    this.header(ProtocolId.amqp);
  }

  /** A protocol header, which is answered by one. */
  header(id: ProtocolId): void {
    this.frames.protocolHeader(id);
    this.flush();
  }

  send(channel: number, body: Performative, payload: Uint8Array = new Uint8Array(0)): void {
    const { output } = this.frames;
    const mark = output.length;
    this.frames.performative(channel, body);
    output.raw(payload);
    output.patchU32(mark, output.length - mark);
    this.flush();
  }

  sendSasl(body: SaslPerformative): void {
    this.frames.sasl(body);
    this.flush();
  }

  sendHex(hex: string): void {
    this.socket.write(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  }

  /** A frame with that body. */
  sendBody(channel: number, hex: string, type: number = FrameType.amqp): void {
    const body = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length + 8);
    head[4] = 2;
    head[5] = type;
    head.writeUInt16BE(channel, 6);
    this.socket.write(Buffer.concat([head, body]));
  }

  private flush(): void {
    this.socket.write(this.frames.output.take());
  }

  // Steps that most cases need

  async begin(channel = 0, fields: Partial<Begin> = {}): Promise<Begin> {
    const begin = { nextOutgoingId: 0, incomingWindow: 1000, outgoingWindow: 1000, ...fields };
    this.send(channel, Object.assign(new Begin(), begin));
    return this.expect(Descriptor.begin);
  }

  /** Asks for a link on which this client sends. */
  attachSender(address: string | undefined, fields: Partial<Attach> = {}, channel = 0): void {
    const target = Object.assign(new Target(), { address });
    this.attach({ role: false, source: new Source(), target, initialDeliveryCount: 0, ...fields }, channel);
  }

  /** Asks for a link on which this client receives. */
  attachReceiver(address: string, fields: Partial<Attach> = {}, channel = 0): void {
    const source = Object.assign(new Source(), { address });
    this.attach({ role: true, source, target: new Target(), ...fields }, channel);
  }

  private attach(fields: Partial<Attach>, channel: number): void {
    this.send(channel, Object.assign(new Attach(), { name: `link-${Math.random()}`, handle: 0 }, fields));
  }

  /** The link of `attachSender`, with its first credit. */
  async sender(address: string | undefined, fields: Partial<Attach> = {}, channel = 0): Promise<Flow> {
    this.attachSender(address, fields, channel);
    await this.expect(Descriptor.attach);
    return this.expect(Descriptor.flow);
  }

  /** The link of `attachReceiver`, with credit. */
  async receiver(address: string, credit: number, fields: Partial<Attach> = {}, channel = 0): Promise<Attach> {
    this.attachReceiver(address, fields, channel);
    const attach = await this.expect(Descriptor.attach);
    if (credit > 0) this.flow({ handle: fields.handle ?? 0, deliveryCount: 0, linkCredit: credit }, channel);
    return attach;
  }

  flow(fields: Partial<Flow>, channel = 0): void {
    const flow = {
      nextIncomingId: undefined,
      incomingWindow: 1000,
      nextOutgoingId: 0,
      outgoingWindow: 1000,
      ...fields,
    };
    this.send(channel, Object.assign(new Flow(), flow));
  }

  /** A transfer of that payload; returns its delivery-id. */
  transfer(payload: Uint8Array, fields: Partial<Transfer> = {}, channel = 0): number {
    const deliveryId = fields.deliveryId ?? this.nextDelivery++;
    const deliveryTag = Buffer.from(String(deliveryId));
    const transfer = { handle: 0, deliveryId, deliveryTag, messageFormat: 0, settled: false, ...fields };
    this.send(channel, Object.assign(new Transfer(), transfer), payload);
    return deliveryId;
  }

  /** What becomes of deliveries that this client has got. */
  settle(first: number, state: Disposition['state'], fields: Partial<Disposition> = {}, channel = 0): void {
    this.send(channel, Object.assign(new Disposition(), { role: true, first, settled: true, state }, fields));
  }

  // What comes

  /** The next frame or header; rejects if the socket is closed or nothing comes. */
  async next(): Promise<Received10> {
    if (this.queue.length === 0 && !this.isClosed)
      await within(
        this.patienceMs,
        'the broker sends something',
        new Promise<void>((resolve) => (this.waiting = resolve)),
      );
    const received = this.queue.shift();
    if (received === undefined) throw new Error('the broker has closed the socket');
    return received;
  }

  /** The next frame but empty ones, and flows that ask for room, which must be of that kind. */
  async expect<D extends number>(descriptor: D): Promise<BodyOf<D>> {
    return (await this.expectFrame(descriptor)).body;
  }

  async expectFrame<D extends number>(descriptor: D): Promise<Received10 & { body: BodyOf<D> }> {
    for (;;) {
      const received = await this.next();
      const { body } = received;
      if (body === undefined || (body.descriptor === Descriptor.flow && body.echo)) continue;
      const error =
        'error' in body && body.error !== undefined ? `: ${body.error.condition} ${body.error.description}` : '';
      assert.equal(descriptorName(body.descriptor), descriptorName(descriptor), `unexpected frame${error}`);
      return received as Received10 & { body: BodyOf<D> };
    }
  }

  /** Nothing but empty frames has come. */
  get isQuiet(): boolean {
    return this.queue.every(({ body, header }) => body === undefined && header === '');
  }

  /** The broker answers a session: what it sends meanwhile has come then. */
  async works(channel = 77): Promise<void> {
    await this.begin(channel);
  }

  /** Headers are told from frames by their letters: no frame is that large. */
  private received(bytes: Buffer): void {
    this.held = Buffer.concat([this.held, bytes]);
    while (this.held.length >= 8) {
      const isHeader = this.held.toString('latin1', 0, 4) === 'AMQP';
      const size = isHeader ? 8 : this.held.readUInt32BE(0);
      if (this.held.length < size) return;
      const frame = new Uint8Array(this.held.subarray(0, size));
      this.held = this.held.subarray(size);
      if (isHeader)
        this.push({
          channel: 0,
          body: undefined,
          payload: Buffer.alloc(0),
          header: Buffer.from(frame).toString('hex'),
        });
      else this.frame(frame[5]!, frame[6]! * 256 + frame[7]!, frame, frame[4]! * 4, size);
    }
  }

  private frame(type: number, channel: number, bytes: Uint8Array, start: number, end: number): void {
    let body: Received10['body'];
    let payload = Buffer.alloc(0);
    if (type === FrameType.sasl) body = decodeSasl(bytes, start, end);
    else if (end > start) {
      const fields = new FieldReader(new ByteReader(bytes, start, end));
      body = decodePerformative(fields.begin(), fields);
      payload = Buffer.from(bytes.slice(fields.end, end));
    }
    this.push({ channel, body, payload, header: '' });
  }

  private push(received: Received10): void {
    this.queue.push(received);
    this.waiting?.();
  }

  end(): void {
    if (!this.isClosed) this.socket.destroy();
  }

  async close(): Promise<void> {
    this.send(0, new Close());
    await this.closed;
  }
}

export function plain(user: string, password: string): SaslInit {
  return Object.assign(new SaslInit(), { mechanism: 'PLAIN', initialResponse: Buffer.from(`\0${user}\0${password}`) });
}
