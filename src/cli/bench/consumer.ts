import { BasicConsume, BasicQos, MethodId } from '../../amqp091/codec/index.js';
import { readU64 } from '../../wire/bytes.js';
import { channelNumber, type LoadConnection, type LoadHandler } from './connection.js';
import type { Measures } from './measures.js';

export interface ConsumerOptions {
  queue: string;
  /** Deliveries without an acknowledgement, at most; 0: none are given (auto-ack). */
  prefetch: number;
}

export class Consumer implements LoadHandler {
  private readonly connection: LoadConnection;
  private readonly options: ConsumerOptions;
  private readonly measures: Measures;
  private deliveryTag = 0;
  private acknowledged = 0;
  /** The next body frame is the first of its message. */
  private atStart = false;

  private constructor(connection: LoadConnection, options: ConsumerOptions, measures: Measures) {
    this.connection = connection;
    this.options = options;
    this.measures = measures;
  }

  static async open(connection: LoadConnection, options: ConsumerOptions, measures: Measures): Promise<Consumer> {
    const consumer = new Consumer(connection, options, measures);
    connection.handler = consumer;
    const { queue, prefetch } = options;
    if (prefetch > 0) await connection.ask(new BasicQos(0, prefetch, false));
    await connection.ask(new BasicConsume(queue, '', false, prefetch === 0, false, false, {}));
    return consumer;
  }

  // LoadHandler

  method(id: number, bytes: Uint8Array, start: number): void {
    if (id !== MethodId.basicDeliver) return;
    this.deliveryTag = readU64(bytes, start + 5 + bytes[start + 4]!);
    this.measures.consumed++;
    this.atStart = true;
  }

  body(bytes: Uint8Array, start: number, end: number): void {
    if (!this.atStart) return;
    this.atStart = false;
    if (end - start < 8) return;
    const sentAt = new DataView(bytes.buffer, bytes.byteOffset + start, 8).getFloat64(0);
    const elapsed = performance.now() - sentAt;
    // Of an earlier run of another process otherwise.
    if (elapsed >= 0 && elapsed < 3_600_000) this.measures.deliveryTimes.record(elapsed);
  }

  received(): void {
    const { prefetch } = this.options;
    if (prefetch === 0 || this.deliveryTag === this.acknowledged) return;
    this.acknowledged = this.deliveryTag;
    this.connection.frames.ack(channelNumber, this.deliveryTag, true);
    this.connection.flush();
  }

  drained(): void {}
}
