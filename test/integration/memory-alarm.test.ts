/** One node of three is short of memory: publishers wait on all, consumers go on, and everybody is told. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { fetchCluster } from '../../src/cli/api-client.js';
import { unfinishedBodies } from '../support/attacks/floods.js';
import { ClusterProcesses } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { commandLine } from './support/command.js';
import { request } from './support/http.js';

const mebibyte = 1024 * 1024;

/** When a test fails its nodes are killed under its clients. */
async function connect(node: NodeProcess): Promise<amqp.ChannelModel> {
  const connection = await amqp.connect(node.amqpUrl);
  return connection.on('error', () => {});
}

/** A client that publishes, and what it was told of waiting. */
class Publisher {
  readonly told: string[] = [];
  readonly connection: amqp.ChannelModel;
  readonly channel: amqp.ConfirmChannel;
  private confirmed = 0;

  private constructor(connection: amqp.ChannelModel, channel: amqp.ConfirmChannel) {
    this.connection = connection;
    this.channel = channel;
    connection.on('blocked', (reason: string) => this.told.push(reason));
    connection.on('unblocked', () => this.told.push(''));
  }

  static async on(node: NodeProcess): Promise<Publisher> {
    const connection = await connect(node);
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    return new Publisher(connection, channel);
  }

  send(queue: string): void {
    this.channel.sendToQueue(queue, Buffer.from('message'), {}, (error) => {
      if (error === null || error === undefined) this.confirmed++;
    });
  }

  get confirms(): number {
    return this.confirmed;
  }
}

async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + 30_000; !(await isSo()); ) {
    assert.ok(performance.now() < deadline, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the alarm of memory', { timeout: 120_000 }, () => {
  it('of one node holds up publishers on the others, not consumers, and ends by itself', async () => {
    const cluster = await ClusterProcesses.prepare(3);
    const [first, second, third] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    try {
      // More than it has when it does nothing.
      await first.start({ options: ['--memory-high-watermark', '130MiB'] });
      await Promise.all([second.start(), third.start()]);
      await cluster.untilComplete();
      const publisher = await Publisher.on(second);
      await publisher.channel.assertQueue('orders', { arguments: { 'x-queue-type': 'quorum' }, durable: true });
      for (let i = 0; i < 10; i++) publisher.send('orders');
      await eventually('all is confirmed', () => publisher.confirms === 10);

      const holders = await unfinishedBodies(first.ports.amqp, 3, 50 * mebibyte);
      await eventually('the others’ publishers are told', () => publisher.told.length === 1);
      assert.deepEqual(publisher.told, ['low on memory: node n1']);
      const late = await Publisher.on(third);
      late.send('orders');
      await eventually('who comes now is told as well', () => late.told[0] === 'low on memory: node n1');
      for (const node of cluster.nodes) {
        const { members } = await fetchCluster(node.httpUrl);
        const alarms = members.map(({ name, alarms: kinds = [] }) => `${name}: ${kinds.join()}`);
        assert.deepEqual(alarms, ['n1: memory', 'n2: ', 'n3: '], node.name);
      }
      const health = await Promise.all(cluster.nodes.map((node) => request(`${String(node.httpUrl)}api/health`)));
      assert.deepEqual(
        health.map(({ status }) => status),
        [503, 200, 200],
        'consumers may come where the alarm is not',
      );
      assert.equal(health[1]!.body['blocked'], 'low on memory: node n1');
      const [program, ...words] = commandLine(['status', '--url', String(third.httpUrl)]);
      assert.match(execFileSync(program!, words, { encoding: 'utf8' }), /^n1 +ready \(low on memory\)/m);

      // Consumers on the node with the alarm go on, and nothing that is published meanwhile comes to them.
      const consumer = await (await connect(first)).createChannel();
      consumer.on('error', () => {});
      const got: string[] = [];
      await consumer.consume('orders', (message) => {
        if (message === null) return;
        got.push(message.content.toString());
        consumer.ack(message);
      });
      publisher.send('orders');
      await eventually('what was there is consumed', async () => {
        const { messageCount } = await consumer.checkQueue('orders');
        return messageCount === 0 && got.length === 11;
      });
      assert.deepEqual([publisher.confirms, late.confirms], [10, 1]);

      for (const holder of holders) holder.end();
      await eventually('all are told that it is over', () => publisher.told.length === 2 && late.told.length === 2);
      assert.deepEqual([publisher.told[1], late.told[1]], ['', '']);
      await eventually('what waited is confirmed', () => publisher.confirms === 11);
      for (let i = 0; i < 10; i++) publisher.send('orders');
      await eventually('they go on', () => publisher.confirms === 21);
      await eventually('all comes to the consumer', () => got.length === 22);
      const { members } = await fetchCluster(second.httpUrl);
      assert.ok(members.every(({ alarms }) => alarms === undefined));
      assert.deepEqual(
        cluster.nodes.flatMap((node) => node.loggedErrors),
        [],
      );
      await Promise.all([publisher.connection.close(), late.connection.close()]);
    } finally {
      await cluster.close(false);
    }
  });
});
