/** A connection of amqplib with one channel in confirm mode, and the few steps of which cases consist. */
import assert from 'node:assert/strict';
import * as amqp from 'amqplib';
import { Inbox } from './inbox.js';
import type { Session } from './session.js';

const pollMs = 5;

export type Message = amqp.Message;
export type PublishOptions = amqp.Options.Publish;
export type Arguments = Record<string, unknown>;

export class Client {
  readonly session: Session;
  readonly connection: amqp.ChannelModel;
  readonly channel: amqp.ConfirmChannel;
  /** What came back by basic.return. */
  readonly returned: Message[] = [];
  /** Codes and texts with which the broker closed the channel or the connection. */
  readonly closings: string[] = [];

  private constructor(session: Session, connection: amqp.ChannelModel, channel: amqp.ConfirmChannel) {
    this.session = session;
    this.connection = connection;
    this.channel = channel;
    channel.on('return', (message: Message) => this.returned.push(message));
    channel.on('error', (error: Error) => this.closings.push(error.message));
  }

  static async open(session: Session): Promise<Client> {
    const connection = await amqp.connect(`amqp://127.0.0.1:${session.target.port}`, { noDelay: true });
    const client = new Client(session, connection, await connection.createConfirmChannel());
    connection.on('error', (error: Error) => client.closings.push(error.message));
    return client;
  }

  private get deadline(): number {
    return performance.now() + this.session.patienceMs;
  }

  /** Another channel of the same connection. */
  async sibling(): Promise<Client> {
    return new Client(this.session, this.connection, await this.connection.createConfirmChannel());
  }

  /** A durable queue with a name of this case's. */
  async queue(args: Arguments = {}, options: amqp.Options.AssertQueue = {}): Promise<string> {
    const name = this.session.name();
    await this.channel.assertQueue(name, {
      durable: true,
      ...options,
      arguments: { ...this.session.queueArguments, ...args },
    });
    return name;
  }

  /** A queue of the type with delivery counts. */
  async quorumQueue(args: Arguments = {}): Promise<string> {
    return this.queue({ 'x-queue-type': 'quorum', ...args });
  }

  async exchange(type: string, args: Arguments = {}, options: amqp.Options.AssertExchange = {}): Promise<string> {
    const name = this.session.name();
    await this.channel.assertExchange(name, type, { durable: true, ...options, arguments: args });
    return name;
  }

  async bind(queue: string, exchange: string, key = '', args: Arguments = {}): Promise<void> {
    await this.channel.bindQueue(queue, exchange, key, args);
  }

  /** A queue that gets what goes to the exchange with the key. */
  async bound(exchange: string, key = '', args: Arguments = {}): Promise<string> {
    const queue = await this.queue();
    await this.bind(queue, exchange, key, args);
    return queue;
  }

  /** How the broker confirms it. */
  publish(exchange: string, key: string, body = '', options: PublishOptions = {}): Promise<'ack' | 'nack'> {
    return new Promise((resolve) => {
      this.channel.publish(exchange, key, Buffer.from(body), options, (error) => {
        resolve(error === null || error === undefined ? 'ack' : 'nack');
      });
    });
  }

  /** Publishes to a queue, one after the other without waiting between them; all must be confirmed. */
  async send(queue: string, ...bodies: string[]): Promise<void> {
    const confirms = await Promise.all(bodies.map((body) => this.publish('', queue, body)));
    assert.deepEqual(new Set(confirms), new Set(['ack']));
  }

  /** basic.get with acknowledgement. */
  async get(queue: string): Promise<Message> {
    const message = await this.channel.get(queue);
    assert.ok(message !== false, `${queue} is empty`);
    return message;
  }

  /** basic.get with acknowledgement; tries until there is a message. */
  async soon(queue: string): Promise<Message> {
    for (const deadline = this.deadline; performance.now() < deadline; await pause(pollMs)) {
      const message = await this.channel.get(queue);
      if (message !== false) return message;
    }
    throw new Error(`nothing came to ${queue}`);
  }

  /** Takes all that is ready. */
  async drain(queue: string): Promise<string[]> {
    const texts: string[] = [];
    for (;;) {
      const message = await this.channel.get(queue, { noAck: true });
      if (message === false) return texts;
      texts.push(text(message));
    }
  }

  /** Takes messages until there were so many; nothing more may be there then. */
  async arrived(queue: string, count: number): Promise<string[]> {
    await this.becomes(queue, count);
    return this.drain(queue);
  }

  async count(queue: string): Promise<number> {
    return (await this.channel.checkQueue(queue)).messageCount;
  }

  /** Waits until so many messages are ready. */
  async becomes(queue: string, count: number): Promise<void> {
    let last = -1;
    for (const deadline = this.deadline; performance.now() < deadline; await pause(pollMs)) {
      last = await this.count(queue);
      if (last === count) return;
    }
    assert.equal(last, count, `messages in ${queue}`);
  }

  /** Whether a queue is there, asked on a channel of its own. */
  async hasQueue(queue: string): Promise<boolean> {
    return (await this.outcome((channel) => channel.checkQueue(queue))) === 'done';
  }

  async hasExchange(exchange: string): Promise<boolean> {
    return (await this.outcome((channel) => channel.checkExchange(exchange))) === 'done';
  }

  /** Waits until something is so. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const deadline = this.deadline; performance.now() < deadline; await pause(pollMs)) if (await holds()) return;
    throw new Error(`not within ${this.session.patienceMs} ms: ${what}`);
  }

  /** What an operation on a channel of its own comes to: 'done', or the reply code and text. */
  async outcome(operation: (channel: amqp.ConfirmChannel) => Promise<unknown>): Promise<string> {
    const channel = await this.connection.createConfirmChannel();
    let closing: Error | undefined;
    channel.on('error', (error: Error) => {
      closing = error;
    });
    try {
      await operation(channel);
      await channel.close();
      return 'done';
    } catch (error) {
      return outcomeOf(closing ?? (error as Error));
    }
  }

  async consume(queue: string, options: amqp.Options.Consume = {}): Promise<Inbox> {
    return Inbox.open(this.channel, queue, options, this.session.patienceMs);
  }

  /** A consumer on a channel of its own, with a prefetch limit. */
  async consumer(queue: string, prefetch = 1, options: amqp.Options.Consume = {}): Promise<Inbox> {
    const { channel } = await this.sibling();
    await channel.prefetch(prefetch);
    return Inbox.open(channel, queue, options, this.session.patienceMs);
  }

  reject(message: Message): void {
    this.channel.reject(message, false);
  }

  requeue(message: Message): void {
    this.channel.reject(message, true);
  }

  async end(): Promise<void> {
    await this.connection.close().catch(() => {});
  }
}

/** `404 NOT_FOUND - no queue 'q' in vhost '/'` of amqplib's `Operation failed: QueueDeclare; 404 (NOT-FOUND) with message "..."`. */
function outcomeOf(error: Error): string {
  const match = /(\d{3}) \([A-Z-]+\) with message "(.*)"$/s.exec(error.message);
  if (match === null) throw error;
  return `${match[1]} ${match[2]}`;
}

export function text(message: Message): string {
  return message.content.toString();
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
