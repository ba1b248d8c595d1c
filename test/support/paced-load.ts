/** Publishers and consumers at a given rate on queues that are never empty, and how long each of them waits for the broker. */
import { BasicConsume, BasicQos, MethodId, QueueDeclare, type QueueDeclareOk } from '../../src/amqp091/codec/index.js';
import { PairRing } from '../../src/base/ring.js';
import { channelNumber, LoadConnection, type LoadHandler } from '../../src/cli/bench/connection.js';
import { type LatencySummary, Measures } from '../../src/cli/bench/measures.js';
import { Publisher } from '../../src/cli/bench/publisher.js';
import { readU64 } from '../../src/wire/bytes.js';
import { sleep } from './cluster-processes.js';

const prefetch = 500;
const publishWindow = 1000;
const tickMs = 5;
const fillWindow = 5000;
const fillPollMs = 5;

/** What a stretch of time was like. Rates: messages a second. */
export interface Stretch {
  seconds: number;
  published: number;
  publishRate: number;
  consumeRate: number;
  /** Milliseconds: from a publish to its confirm. */
  confirm: LatencySummary;
  /** Milliseconds: from an ack to the last message that it made room for. */
  delivery: LatencySummary;
}

const toQueue = (queue: string): { exchange: string; keys: string[]; delayMs: number } => ({
  exchange: '',
  keys: [queue],
  delayMs: 0,
});

export class PacedLoad {
  private readonly urls: readonly URL[];
  private readonly queues: readonly string[];
  private readonly measures = new Measures();
  private readonly connections: LoadConnection[] = [];
  private readonly publishers: Publisher[] = [];
  private readonly consumers: PacedConsumer[] = [];
  private begin = { at: 0, published: 0, consumed: 0 };

  private constructor(urls: readonly URL[], queues: readonly string[]) {
    this.urls = urls;
    this.queues = queues;
  }

  /** Declares the queues, each at another broker. */
  static async declare(urls: readonly string[], queues: readonly string[]): Promise<PacedLoad> {
    const load = new PacedLoad(
      urls.map((url) => new URL(url)),
      queues,
    );
    for (const [i, queue] of queues.entries()) {
      const connection = await load.open(i);
      await connection.ask(new QueueDeclare(queue, false, true, false, false, false, {}));
    }
    return load;
  }

  /** Publishes so many messages, or a few more, as fast as they are taken; `size`: bytes of a body. */
  async fill(messages: number, size: number): Promise<void> {
    const window = Math.min(fillWindow, Math.ceil(messages / this.queues.length / 4));
    const publishers = await Promise.all(
      this.queues.map(async (queue, i) =>
        Publisher.open(
          await this.open(i),
          { ...toQueue(queue), size, persistent: true, window, rate: 0, lagMax: 0 },
          this.measures,
        ),
      ),
    );
    const wanted = this.measures.published + messages;
    for (const publisher of publishers) publisher.start();
    while (this.measures.published < wanted) await this.pause(fillPollMs);
    for (const publisher of publishers) publisher.stop();
    while (publishers.some(({ unconfirmed }) => unconfirmed > 0)) await this.pause(fillPollMs);
  }

  /** From now on `rate` messages a second are published, and as many consumed. */
  async start(rate: number, size: number): Promise<void> {
    const each = rate / this.queues.length;
    for (const [i, queue] of this.queues.entries()) {
      const options = { ...toQueue(queue), size, persistent: true, window: publishWindow, rate: each, lagMax: 0 };
      this.publishers.push(await Publisher.open(await this.open(i), options, this.measures));
      this.consumers.push(await PacedConsumer.open(await this.open(i + 1), queue, each, this.measures));
    }
    for (const publisher of this.publishers) publisher.start();
    for (const consumer of this.consumers) consumer.start();
  }

  /** A new stretch begins. */
  mark(): void {
    const { published, consumed, confirmTimes, deliveryTimes } = this.measures;
    this.begin = { at: performance.now(), published, consumed };
    confirmTimes.reset();
    deliveryTimes.reset();
  }

  /** Since the mark. */
  stretch(): Stretch {
    const { begin, measures } = this;
    const seconds = (performance.now() - begin.at) / 1000;
    const published = measures.published - begin.published;
    return {
      seconds,
      published,
      publishRate: published / seconds,
      consumeRate: (measures.consumed - begin.consumed) / seconds,
      confirm: measures.confirmTimes.summary()!,
      delivery: measures.deliveryTimes.summary()!,
    };
  }

  /** Messages that are in the queues, ready or not. */
  async depth(): Promise<number> {
    let held = 0;
    for (const consumer of this.consumers) held += consumer.held;
    for (const queue of this.queues) {
      const control = this.connections[0]!;
      held += ((await control.ask(new QueueDeclare(queue, true, true, false, false, false, {}))) as QueueDeclareOk)
        .messageCount;
    }
    return held;
  }

  /** Rejects when a connection is lost meanwhile. */
  async during<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, ...this.connections.map(({ lost }) => lost)]);
  }

  pause(ms: number): Promise<void> {
    return this.during(sleep(ms));
  }

  async close(): Promise<void> {
    for (const publisher of this.publishers) publisher.stop();
    for (const consumer of this.consumers) consumer.stop();
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  private async open(index: number): Promise<LoadConnection> {
    const connection = await LoadConnection.open(this.urls[index % this.urls.length]!);
    this.connections.push(connection);
    return connection;
  }
}

/** Holds as many messages as it may, and acks at its rate. */
class PacedConsumer implements LoadHandler {
  private readonly connection: LoadConnection;
  private readonly rate: number;
  private readonly measures: Measures;
  private lastTag = 0;
  private acked = 0;
  /** (last delivery that an ack makes room for, when it was sent). */
  private readonly awaited = new PairRing();
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;

  private constructor(connection: LoadConnection, rate: number, measures: Measures) {
    this.connection = connection;
    this.rate = rate;
    this.measures = measures;
  }

  static async open(
    connection: LoadConnection,
    queue: string,
    rate: number,
    measures: Measures,
  ): Promise<PacedConsumer> {
    const consumer = new PacedConsumer(connection, rate, measures);
    connection.handler = consumer;
    await connection.ask(new BasicQos(0, prefetch, false));
    await connection.ask(new BasicConsume(queue, '', false, false, false, false, {}));
    return consumer;
  }

  start(): void {
    this.startedAt = performance.now();
    this.timer = setInterval(() => this.ack(), tickMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  get held(): number {
    return this.lastTag - this.acked;
  }

  private ack(): void {
    const now = performance.now();
    const due = Math.floor(((now - this.startedAt) * this.rate) / 1000);
    const upTo = Math.min(due, this.lastTag);
    if (upTo <= this.acked) return;
    this.measures.consumed += upTo - this.acked;
    this.acked = upTo;
    this.awaited.push(upTo + prefetch, now);
    this.connection.frames.ack(channelNumber, upTo, true);
    this.connection.flush();
  }

  // LoadHandler

  method(id: number, bytes: Uint8Array, start: number): void {
    if (id !== MethodId.basicDeliver) return;
    this.lastTag = readU64(bytes, start + 5 + bytes[start + 4]!);
  }

  body(): void {}

  received(): void {
    const now = performance.now();
    const { awaited, measures } = this;
    while (awaited.length > 0 && awaited.first <= this.lastTag) {
      measures.deliveryTimes.record(now - awaited.second);
      awaited.drop();
    }
  }

  drained(): void {}
}
