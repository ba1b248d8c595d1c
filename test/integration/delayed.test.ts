/** Messages that wait for their time, with real clients on a cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { delayGroup } from '../../src/cluster/replication/placement.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';

const exchange = 'later';
const queue = 'due';

interface Arrival {
  readonly number: number;
  readonly delayMs: number;
  readonly sentAt: number;
  readonly at: number;
  readonly redelivered: boolean;
  readonly header: unknown;
}

async function connect(cluster: ClusterProcesses, node: number): Promise<amqp.ChannelModel> {
  const connection = await amqp.connect(cluster.amqpUrls[node]!);
  connection.on('error', () => {});
  return connection;
}

/** Declares the exchange of an inner type, and a queue bound to it. */
async function declare(channel: amqp.Channel, type: string, key: string): Promise<void> {
  const options = { durable: true, arguments: { 'x-delayed-type': type } };
  await channel.assertExchange(exchange, 'x-delayed-message', options);
  await channel.assertQueue(queue, { durable: true });
  await channel.bindQueue(queue, exchange, key);
}

/** Publishes messages with delays from `delays`, in turn, numbered from `first` on. Every third is led there by BCC. */
async function publish(
  channel: amqp.ConfirmChannel,
  count: number,
  delays: readonly number[],
  routingKey: string,
  first = 0,
): Promise<void> {
  for (let number = first; number < first + count; number++) {
    const delayMs = delays[number % delays.length]!;
    const body = JSON.stringify({ number, delayMs, sentAt: Date.now() });
    const isLed = number % 3 === 0;
    const headers = { 'x-delay': delayMs, ...(isLed ? { BCC: [routingKey] } : {}) };
    channel.publish(exchange, isLed ? 'elsewhere' : routingKey, Buffer.from(body), { persistent: true, headers });
  }
  await channel.waitForConfirms();
}

/** Takes what comes until there are `count` different messages; adds them to `arrivals`. */
async function take(cluster: ClusterProcesses, node: number, arrivals: Arrival[], count: number): Promise<void> {
  const connection = await connect(cluster, node);
  const channel = await connection.createChannel();
  const numbers = new Set(arrivals.map(({ number }) => number));
  await channel.consume(queue, (message) => {
    if (message === null) return;
    const sent = JSON.parse(message.content.toString()) as { number: number; delayMs: number; sentAt: number };
    const header: unknown = message.properties.headers?.['x-delay'];
    arrivals.push({ ...sent, at: Date.now(), redelivered: message.fields.redelivered, header });
    assert.equal(message.properties.headers?.['BCC'], undefined);
    numbers.add(sent.number);
    channel.ack(message);
  });
  for (const deadline = Date.now() + 30_000; numbers.size < count && Date.now() < deadline; ) await sleep(20);
  await connection.close();
}

/** Each came, none before its time, and none twice unless it says so. */
function judge(arrivals: readonly Arrival[], count: number): void {
  const seen = new Set<number>();
  for (const { number, delayMs, sentAt, at, redelivered, header } of arrivals) {
    assert.ok(redelivered || !seen.has(number), `${number} came twice, unflagged`);
    seen.add(number);
    assert.ok(at >= sentAt + delayMs - 2, `${number} came after ${at - sentAt} ms of ${delayMs}`);
    assert.equal(header, -delayMs);
  }
  assert.equal(seen.size, count);
}

describe('messages that wait for their time', () => {
  it('come once, or flagged, when the node that keeps them is killed, and when all nodes are', async () => {
    await withCluster([], async (cluster) => {
      const { groups } = await cluster.untilView('there are groups', (view) => view.groups.length > 1);
      const group = delayGroup('/', exchange, { groups: groups.length - 1 });
      const keeper = cluster.nodes.findIndex(({ name }) => name === groups.find((one) => one.id === group)?.primary);
      const other = (keeper + 1) % cluster.nodes.length;
      const connection = await connect(cluster, other);
      const channel = await connection.createConfirmChannel();
      await declare(channel, 'topic', 'a.*');
      const arrivals: Arrival[] = [];
      const count = 4000;
      const taken = take(cluster, other, arrivals, count);
      await publish(channel, count, [300, 500, 700, 900, 1500, 3000], 'a.b');
      // Some go on in this moment, some have, and some are to wait still.
      for (const deadline = Date.now() + 5000; arrivals.length < count / 8 && Date.now() < deadline; ) await sleep(1);
      await cluster.nodes[keeper]!.kill();
      assert.ok(arrivals.length < count, 'too late');
      await taken;
      judge(arrivals, count);

      const later = 400;
      const startedAt = Date.now();
      await publish(channel, later, [1000, 5000], 'a.b', count);
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      const more: Arrival[] = [];
      await take(cluster, keeper, more, later);
      judge(more, later);
      const tookMs = Math.max(...more.map(({ at }) => at)) - startedAt;
      assert.ok(tookMs < 20_000, `${tookMs} ms`);
    });
  });
});
