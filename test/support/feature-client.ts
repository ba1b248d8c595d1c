/** A client of queues in a cluster, for tests of what they do: questions that are asked until the answer is right. */
import assert from 'node:assert/strict';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from './cluster-processes.js';

/** A connection to a node that is primary of none of the queues. */
export class FeatureClient {
  readonly channel: amqp.ConfirmChannel;

  readonly connection: amqp.ChannelModel;
  private readonly http: URL;

  constructor(connection: amqp.ChannelModel, channel: amqp.ConfirmChannel, http: URL) {
    this.connection = connection;
    this.channel = channel;
    this.http = http;
  }

  /** A request to its node, as `guest`. */
  async request(method: string, path: string, body?: unknown): Promise<number> {
    return (await this.ask(method, path, body)).status;
  }

  async ask(method: string, path: string, body?: unknown): Promise<Response> {
    const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return await fetch(new URL(path, this.http), { method, headers, ...content });
  }

  /** As HTTP tells: that is no use of the queue. */
  async isThere(queue: string): Promise<boolean> {
    return (await this.request('GET', `/api/queues/%2F/${queue}`)) === 200;
  }

  async declare(queue: string, args: Record<string, unknown> = {}): Promise<void> {
    await this.channel.assertQueue(queue, { durable: true, arguments: args });
  }

  /** 'ack' or 'nack'. */
  send(queue: string, body: string, options: amqp.Options.Publish = {}): Promise<string> {
    return new Promise((resolve) => {
      this.channel.sendToQueue(queue, Buffer.from(body), { persistent: true, ...options }, (error) =>
        resolve(error === null || error === undefined ? 'ack' : 'nack'),
      );
    });
  }

  async sendAll(queue: string, ...bodies: string[]): Promise<string[]> {
    return await Promise.all(bodies.map((body) => this.send(queue, body)));
  }

  async count(queue: string): Promise<number> {
    return (await this.channel.checkQueue(queue)).messageCount;
  }

  async countBecomes(queue: string, wanted: number): Promise<void> {
    let count = -1;
    for (let tries = 0; tries < 400 && count !== wanted; tries++) {
      count = await this.count(queue);
      if (count !== wanted) await sleep(25);
    }
    assert.equal(count, wanted, queue);
  }

  /** Bodies of all that is in the queue. */
  async drain(queue: string): Promise<string[]> {
    const bodies: string[] = [];
    for (;;) {
      const message = await this.channel.get(queue, { noAck: true });
      if (message === false) return bodies;
      bodies.push(message.content.toString());
    }
  }

  async get(queue: string): Promise<amqp.GetMessage> {
    for (let tries = 0; tries < 200; tries++) {
      const message = await this.channel.get(queue);
      if (message !== false) return message;
      await sleep(25);
    }
    assert.fail(`nothing is in ${queue}`);
  }
}

/** What is looked at after a kill. */
export type Check = () => Promise<void>;

/** A client of the node, over a connection of its own; `path`: of its vhost. */
export async function clientOf(cluster: ClusterProcesses, node: number, path = ''): Promise<FeatureClient> {
  const connection = await amqp.connect(`${cluster.amqpUrls[node]!}${path}`);
  connection.on('error', () => {});
  return new FeatureClient(connection, await connection.createConfirmChannel(), cluster.nodes[node]!.httpUrl);
}
