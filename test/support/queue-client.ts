/** A client of one broker for tests of what queues hold: every step has a deadline. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import * as amqp from 'amqplib';
import { within } from './within.js';

const stepMsMax = 30_000;
const digestBytesMin = 64;

export class QueueClient implements AsyncDisposable {
  readonly connection: amqp.ChannelModel;
  readonly channel: amqp.ConfirmChannel;
  /** Why the connection or the channel has ended; '' while it is good. */
  failure = '';

  private constructor(connection: amqp.ChannelModel, channel: amqp.ConfirmChannel) {
    this.connection = connection;
    this.channel = channel;
    for (const side of [connection, channel])
      side.on('error', (error: Error) => {
        this.failure = error.message;
      });
  }

  static async open(url: string): Promise<QueueClient> {
    const connection = await step('connection.open', amqp.connect(url));
    connection.on('error', () => {});
    return new QueueClient(connection, await step('channel.open', connection.createConfirmChannel()));
  }

  /** A durable queue, unless it is there. */
  async declare(queue: string, options: amqp.Options.AssertQueue = {}): Promise<void> {
    await step(`declare ${queue}`, this.channel.assertQueue(queue, { durable: true, ...options }));
  }

  /** Declares the queue, publishes persistent messages to it, and waits for all confirms. */
  async send(queue: string, bodies: readonly (string | Buffer)[]): Promise<void> {
    await this.declare(queue);
    for (const body of bodies) this.channel.sendToQueue(queue, Buffer.from(body), { persistent: true });
    await this.confirmed();
  }

  async confirmed(): Promise<void> {
    await step('confirms', this.channel.waitForConfirms());
  }

  /** All that is ready, in order; given back again. */
  async browse(queue: string): Promise<amqp.ConsumeMessage[]> {
    const channel = await step('channel.open', this.connection.createChannel());
    const { messageCount } = await step(`check ${queue}`, channel.checkQueue(queue));
    const messages = await collect(channel, queue, messageCount);
    await step('channel.close', channel.close());
    return messages;
  }

  /** Takes the first `count` messages out: their texts, when the broker has said that they are gone. */
  async take(queue: string, count: number): Promise<string[]> {
    const channel = await step('channel.open', this.connection.createChannel());
    await channel.prefetch(count);
    const messages = await collect(channel, queue, count);
    channel.ack(messages.at(-1)!, true);
    await step('channel.close', channel.close());
    return messages.map(textOf);
  }

  /** What an operation on a channel of its own fails with, as text; '' if it is done. */
  async refusal(operation: (channel: amqp.Channel) => Promise<unknown>): Promise<string> {
    const channel = await step('channel.open', this.connection.createChannel());
    channel.on('error', () => {});
    try {
      await step('an operation', operation(channel));
      await step('channel.close', channel.close());
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Ends the connection without a word. */
  cut(): void {
    (this.connection.connection as unknown as { stream: Socket }).stream.destroy(new Error('cut'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within(5000, 'connection.close', this.connection.close()).catch(() => this.cut());
  }
}

/** Consumes until `count` messages are there; stops consuming then. None is acknowledged. */
async function collect(channel: amqp.Channel, queue: string, count: number): Promise<amqp.ConsumeMessage[]> {
  const messages: amqp.ConsumeMessage[] = [];
  if (count === 0) return messages;
  let consumerTag = '';
  const all = new Promise<void>((resolve, reject) => {
    channel
      .consume(queue, (message) => {
        if (message === null) return reject(new Error(`${queue}: the consumer was cancelled`));
        if (messages.push(message) === count) resolve();
      })
      .then((ok) => {
        consumerTag = ok.consumerTag;
      }, reject);
  });
  await within(stepMsMax, () => `${count} messages of ${queue}, ${messages.length} came`, all);
  await step('cancel', channel.cancel(consumerTag));
  return messages;
}

function step<T>(what: string, promise: PromiseLike<T>): Promise<T> {
  return within(stepMsMax, what, Promise.resolve(promise));
}

/** The body as text; of a longer one, its size and digest. */
export function textOf({ content }: { content: Buffer }): string {
  return content.length < digestBytesMin ? content.toString() : digestOf(content);
}

export function digestOf(content: Buffer): string {
  return `${content.length} bytes ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

/** `prefix`, numbered. */
export function numbered(prefix: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `${prefix}${from + i}`);
}
