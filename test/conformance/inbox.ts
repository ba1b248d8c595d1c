/** A consumer: what it was given, in order, to be taken one by one. */
import assert from 'node:assert/strict';
import type * as amqp from 'amqplib';
import { within } from '../support/within.js';

/** How long nothing must come where nothing may. */
const silenceMs = 60;

export class Inbox {
  readonly channel: amqp.ConfirmChannel;
  readonly queue: string;
  tag = '';
  /** The broker has ended it (basic.cancel). */
  readonly cancelled: Promise<void>;
  private readonly messages: amqp.ConsumeMessage[] = [];
  private came: () => void = () => {};
  private end: () => void = () => {};

  private readonly patienceMs: number;

  private constructor(channel: amqp.ConfirmChannel, queue: string, patienceMs: number) {
    this.channel = channel;
    this.queue = queue;
    this.patienceMs = patienceMs;
    this.cancelled = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  static async open(
    channel: amqp.ConfirmChannel,
    queue: string,
    options: amqp.Options.Consume,
    patienceMs: number,
  ): Promise<Inbox> {
    const inbox = new Inbox(channel, queue, patienceMs);
    const { consumerTag } = await channel.consume(queue, (message) => inbox.take(message), options);
    inbox.tag = consumerTag;
    return inbox;
  }

  private take(message: amqp.ConsumeMessage | null): void {
    if (message === null) return this.end();
    this.messages.push(message);
    this.came();
  }

  /** The next message, which may come later. */
  async next(): Promise<amqp.ConsumeMessage> {
    if (this.messages.length === 0) {
      const coming = new Promise<void>((resolve) => {
        this.came = resolve;
      });
      await within(this.patienceMs, `a message for a consumer of ${this.queue}`, coming);
    }
    return this.messages.shift()!;
  }

  /** Texts of the next messages; not acknowledged. */
  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    while (texts.length < count) texts.push((await this.next()).content.toString());
    return texts;
  }

  /** Texts of the next messages, each acknowledged before the next one is awaited. */
  async acked(count: number): Promise<string[]> {
    const texts: string[] = [];
    while (texts.length < count) {
      const message = await this.next();
      texts.push(message.content.toString());
      this.channel.ack(message);
    }
    return texts;
  }

  /** Nothing comes for a moment. */
  async silent(ms: number = silenceMs): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
    assert.deepEqual(
      this.messages.map(({ content }) => content.toString()),
      [],
      'nothing was to come',
    );
  }

  async untilCancelled(): Promise<void> {
    await within(this.patienceMs, `the consumer of ${this.queue} is cancelled`, this.cancelled);
  }

  async cancel(): Promise<void> {
    await this.channel.cancel(this.tag);
  }

  async close(): Promise<void> {
    await this.channel.close();
  }
}
