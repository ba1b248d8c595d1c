/**
 * Publishes a large message and consumes it, in a process of its own, so that what it takes to make and check it holds up nobody else.
 * `node large-client.js URL URL QUEUE BYTES [COUNT]`: publishes by the first broker, consumes by the second, COUNT times one after the other;
 * writes a line of JSON for each: milliseconds to the confirm, and to the last byte at the consumer.
 */
import { pathToFileURL } from 'node:url';
import {
  BasicConsume,
  BasicProperties,
  BasicPublish,
  ConfirmSelect,
  FrameWriter,
  MethodId,
  QueueDeclare,
} from '../../src/amqp091/codec/index.js';
import { LoadConnection } from '../../src/cli/bench/connection.js';

const pieceBytes = 1024 * 1024;

/** The bytes at `at` of every large body: no two pieces are alike. */
export function pieceOf(at: number, bytes: number): Buffer {
  const piece = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i += 4) piece.writeUInt32LE((at + i) >>> 0, i);
  return piece;
}

/** Method and header frame of a persistent message with a body of so many bytes. */
function publishHead(queue: string, bytes: number): Uint8Array {
  const writer = new FrameWriter();
  const properties = new BasicProperties();
  properties.deliveryMode = 2;
  writer.methodWithContent(1, new BasicPublish('', queue, false, false), properties, new Uint8Array(0));
  const head = Buffer.from(writer.output.take());
  const header = 8 + head.readUInt32BE(3);
  // Behind the frame's head, class and weight.
  head.writeBigUInt64BE(BigInt(bytes), header + 7 + 4);
  return head;
}

export class LargePublisher {
  private readonly connection: LoadConnection;
  private onConfirm: () => void = () => {};
  private onDrain: () => void = () => {};

  private constructor(connection: LoadConnection) {
    this.connection = connection;
    connection.handler = {
      method: (id) => {
        if (id === MethodId.basicAck) this.onConfirm();
        else if (id === MethodId.basicNack) throw new Error('nacked');
      },
      body: () => {},
      received: () => {},
      drained: () => this.onDrain(),
    };
  }

  static async open(url: string): Promise<LargePublisher> {
    const connection = await LoadConnection.open(new URL(url));
    await connection.ask(new ConfirmSelect(false));
    return new LargePublisher(connection);
  }

  /** Resolves at the confirm. `halfway` is done when half of it was sent. */
  async publish(queue: string, bytes: number, halfway: () => Promise<void> = async () => {}): Promise<void> {
    const { connection } = this;
    const { frames } = connection;
    const confirmed = new Promise<void>((resolve) => {
      this.onConfirm = resolve;
    });
    frames.output.raw(publishHead(queue, bytes));
    for (let at = 0; at < bytes; at += pieceBytes) {
      if (at <= bytes / 2 && at + pieceBytes > bytes / 2) await halfway();
      const piece = pieceOf(at, Math.min(pieceBytes, bytes - at));
      frames.body(1, piece, 0, piece.length);
      if (!connection.flush()) await Promise.race([this.drained(), connection.lost]);
    }
    await Promise.race([confirmed, connection.lost]);
  }

  private drained(): Promise<void> {
    return new Promise((resolve) => {
      this.onDrain = resolve;
    });
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Consumes large messages, without acknowledgement, and looks at each byte of them. */
export class LargeConsumer {
  private readonly connection: LoadConnection;
  private received = 0;
  private wanted = 0;
  private onWhole: () => void = () => {};
  private onHalf: () => void = () => {};

  private constructor(connection: LoadConnection) {
    this.connection = connection;
    connection.handler = {
      method: (id) => {
        if (id === MethodId.basicDeliver) this.received = 0;
      },
      body: (bytes, start, end) => this.body(bytes.subarray(start, end)),
      received: () => {},
      drained: () => {},
    };
  }

  static async open(url: string, queue: string): Promise<LargeConsumer> {
    const connection = await LoadConnection.open(new URL(url));
    await connection.ask(new QueueDeclare(queue, false, true, false, false, false, {}));
    await connection.ask(new BasicConsume(queue, '', false, true, false, false, {}));
    return new LargeConsumer(connection);
  }

  /** Resolves when a message of so many bytes has come. `halfway` is called when half of it has. */
  async take(bytes: number, halfway: () => void = () => {}): Promise<void> {
    this.wanted = bytes;
    this.onHalf = halfway;
    const whole = new Promise<void>((resolve) => {
      this.onWhole = resolve;
    });
    await Promise.race([whole, this.connection.lost]);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private body(bytes: Uint8Array): void {
    if (Buffer.compare(bytes, pieceOf(this.received, bytes.length)) !== 0)
      throw new Error(`the body is not as it was sent, from byte ${this.received} on`);
    const isHalf = this.received < this.wanted / 2 && this.received + bytes.length >= this.wanted / 2;
    this.received += bytes.length;
    if (isHalf) this.onHalf();
    if (this.received === this.wanted) this.onWhole();
  }
}

async function main(args: readonly string[]): Promise<void> {
  const [to = '', from = '', queue = '', size = '', count = '1'] = args;
  const bytes = Number(size);
  const consumer = await LargeConsumer.open(from, queue);
  const publisher = await LargePublisher.open(to);
  for (let i = 0; i < Number(count); i++) {
    const began = performance.now();
    const taken = consumer.take(bytes).then(() => performance.now() - began);
    await publisher.publish(queue, bytes);
    const confirmMs = Math.round(performance.now() - began);
    process.stdout.write(`${JSON.stringify({ confirmMs, takenMs: Math.round(await taken) })}\n`);
  }
  await publisher.close();
  await consumer.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2));
