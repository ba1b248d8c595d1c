import { AckView, BasicPublish, ConfirmSelect, MethodId } from '../../amqp091/codec/index.js';
import { PairRing } from '../../base/ring.js';
import { ConfirmWindow } from './confirm-window.js';
import { type LoadConnection, type LoadHandler, publishFrames } from './connection.js';
import type { Measures } from './measures.js';

export interface PublisherOptions {
  exchange: string;
  /** One of them for each message, by chance. */
  keys: readonly string[];
  /** The header `x-delay`; 0: none. */
  delayMs: number;
  /** Bytes of a body, at least 8: its first eight are the time of sending. */
  size: number;
  persistent: boolean;
  /** Publishes without a confirm yet, at most; 0: no confirms. */
  window: number;
  /** Messages a second; 0: as many as it takes. */
  rate: number;
  /** May publish only while this many messages more than consumed are out; 0: no matter. */
  lagMax: number;
}

/** A message, ready to be sent. */
interface PublishFrames {
  readonly bytes: Uint8Array;
  /** Where its body begins. */
  readonly timeAt: number;
}

const batchBytesMax = 64 * 1024;
const frameHeaderBytes = 7;
const tickMs = 5;
const ackView = new AckView();

export class Publisher implements LoadHandler {
  private readonly connection: LoadConnection;
  private readonly options: PublisherOptions;
  private readonly measures: Measures;
  /** A message for each key. */
  private readonly messages: readonly PublishFrames[];
  private readonly longest: number;
  private seed = 1;
  /** (last tag of a batch, when it was sent). */
  private readonly sent = new PairRing();
  private readonly confirms: ConfirmWindow;
  private lastTag = 0;
  private running = false;
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;

  private constructor(connection: LoadConnection, options: PublisherOptions, measures: Measures) {
    this.connection = connection;
    this.options = options;
    this.measures = measures;
    this.confirms = new ConfirmWindow(Math.max(1, options.window));
    const { frameMax } = connection.frames;
    const { exchange, persistent, size, delayMs } = options;
    const headers = delayMs === 0 ? undefined : { 'x-delay': delayMs };
    this.messages = options.keys.map((key) => {
      const method = new BasicPublish(exchange, key, false, false);
      const frames = (bytes: number): Uint8Array => publishFrames(method, persistent, bytes, frameMax, headers);
      return { bytes: frames(size), timeAt: frames(0).length + frameHeaderBytes };
    });
    this.longest = Math.max(...this.messages.map(({ bytes }) => bytes.length));
  }

  static async open(connection: LoadConnection, options: PublisherOptions, measures: Measures): Promise<Publisher> {
    if (options.window > 0) await connection.ask(new ConfirmSelect(false));
    const publisher = new Publisher(connection, options, measures);
    connection.handler = publisher;
    return publisher;
  }

  start(): void {
    this.running = true;
    this.startedAt = performance.now();
    if (this.options.rate > 0 || this.options.lagMax > 0) this.timer = setInterval(() => this.pump(), tickMs);
    this.pump();
  }

  /** No more publishes; confirms still come. */
  stop(): void {
    this.running = false;
    clearInterval(this.timer);
  }

  /** Publishes whose confirm is due. */
  get unconfirmed(): number {
    return this.options.window === 0 ? 0 : this.confirms.open;
  }

  // LoadHandler

  method(id: number, bytes: Uint8Array, start: number, end: number): void {
    if (id === MethodId.basicAck) {
      ackView.set(bytes, start, end);
      this.confirmed(ackView.deliveryTag, ackView.multiple);
    } else if (id === MethodId.basicNack) {
      // Same layout, with other bits: a refusal ends the wait as well.
      this.measures.rejected++;
      ackView.set(bytes, start, end);
      this.confirmed(ackView.deliveryTag, ackView.multiple);
    }
  }

  body(): void {}

  received(): void {
    this.pump();
  }

  drained(): void {
    this.pump();
  }

  private confirmed(tag: number, multiple: boolean): void {
    this.measures.confirmed += this.confirms.confirm(tag, multiple);
    const now = performance.now();
    while (this.sent.length > 0 && this.sent.first <= tag) {
      this.measures.confirmTimes.record(now - this.sent.second);
      this.sent.drop();
    }
  }

  /** How many may be published now. */
  private allowance(): number {
    const { window, rate, lagMax } = this.options;
    let count = Number.POSITIVE_INFINITY;
    if (window > 0) count = Math.min(window - this.confirms.open, this.confirms.room);
    if (rate > 0)
      count = Math.min(count, Math.floor(((performance.now() - this.startedAt) * rate) / 1000) - this.lastTag);
    if (lagMax > 0) count = Math.min(count, lagMax - (this.measures.published - this.measures.consumed));
    return count;
  }

  private pump(): void {
    if (!this.running) return;
    const batch = Math.max(1, Math.floor(batchBytesMax / this.longest));
    let goesOn = this.connection.flush();
    while (goesOn) {
      const count = Math.min(batch, this.allowance());
      if (count <= 0) return;
      this.publish(count);
      goesOn = this.connection.flush();
    }
  }

  private next(): PublishFrames {
    const { messages } = this;
    if (messages.length === 1) return messages[0]!;
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0;
    return messages[Math.floor((this.seed / 2 ** 32) * messages.length)]!;
  }

  private publish(count: number): void {
    const { output } = this.connection.frames;
    const now = performance.now();
    output.ensure(count * this.longest);
    for (let i = 0; i < count; i++) {
      const { bytes, timeAt } = this.next();
      const at = output.length;
      output.raw(bytes);
      output.view.setFloat64(at + timeAt, now);
    }
    this.lastTag += count;
    this.measures.published += count;
    if (this.options.window === 0) return;
    this.confirms.published(count);
    this.sent.push(this.lastTag, now);
  }
}
