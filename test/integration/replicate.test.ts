/** How many nodes something is on: `x-replicate` and `x-replicas`, in a cluster of real processes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';
import { request } from './support/http.js';

const count = 200;

async function membersOf(
  cluster: ClusterProcesses,
  queue: string,
  node = 0,
): Promise<{ members: string[]; online: string[] }> {
  const url = new URL(`/api/queues/%2F/${encodeURIComponent(queue)}`, cluster.nodes[node]!.httpUrl);
  const { body } = await request(url.href);
  return body as unknown as { members: string[]; online: string[] };
}

async function untilOnline(cluster: ClusterProcesses, queue: string, nodes: number): Promise<void> {
  for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
    const { online } = await membersOf(cluster, queue);
    if (online.length === nodes) return;
    assert.ok(performance.now() < deadline, `${queue} is in sync on ${online.join(', ')}`);
  }
}

async function fill(url: string, queue: string): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  for (let i = 0; i < count; i++) channel.sendToQueue(queue, Buffer.from(String(i)), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function declare(url: string, queue: string, args: Record<string, unknown>): Promise<void> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  connection.on('error', () => {});
  try {
    await channel.assertQueue(queue, { durable: true, arguments: args });
  } finally {
    await connection.close().catch(() => {});
  }
}

async function drain(url: string, queue: string): Promise<number> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  let taken = 0;
  while ((await channel.get(queue, { noAck: true })) !== false) taken++;
  await connection.close();
  return taken;
}

/** Does a message with this key reach a queue, as a publisher at that node sees it? */
async function isRouted(url: string, exchange: string, key: string): Promise<boolean> {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  let returned = false;
  channel.on('return', () => {
    returned = true;
  });
  channel.publish(exchange, key, Buffer.from('m'), { mandatory: true, persistent: true });
  await channel.waitForConfirms();
  await connection.close();
  return !returned;
}

async function hasExchange(url: string, exchange: string): Promise<boolean> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  const found = await channel.checkExchange(exchange).then(
    () => true,
    (error: Error) => {
      assert.match(error.message, /404/);
      return false;
    },
  );
  await connection.close();
  return found;
}

async function withChannel(url: string, body: (channel: amqp.Channel) => Promise<unknown>): Promise<void> {
  const connection = await amqp.connect(url);
  connection.on('error', () => {});
  try {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    await body(channel);
  } finally {
    await connection.close().catch(() => {});
  }
}

const none = { 'x-replicate': 'none' };

describe('replication of exchanges and bindings', () => {
  it('S05: one that is not replicated goes with the boot of the node through which it was declared; what it connects stays', async () => {
    await withCluster([], async (cluster) => {
      const [first, second, third] = cluster.nodes;
      await declare(second!.amqpUrl, 'q', {});
      await declare(second!.amqpUrl, 'witness', {});
      assert.equal(await cluster.leaderOf('q'), second);
      await withChannel(second!.amqpUrl, async (channel) => {
        await channel.assertExchange('x', 'direct', { durable: true });
        await channel.bindQueue('q', 'x', 'k', none);
        await channel.bindQueue('witness', 'x', 'witness', none);
        await channel.assertExchange('brief', 'fanout', { durable: true, arguments: none });
        await channel.bindQueue('witness', 'brief', '');
        await channel.bindExchange('brief', 'x', 'to brief');
      });
      // All see it, and may declare it again.
      await withChannel(first!.amqpUrl, async (channel) => {
        await channel.assertExchange('brief', 'fanout', { durable: true, arguments: none });
        await channel.bindQueue('q', 'x', 'k', none);
      });
      for (const { amqpUrl } of cluster.nodes) {
        for (const key of ['k', 'witness', 'to brief']) assert.ok(await isRouted(amqpUrl, 'x', key), key);
        assert.ok(await hasExchange(amqpUrl, 'brief'));
      }
      assert.equal(await drain(third!.amqpUrl, 'q'), 3);
      const inequivalent = withChannel(third!.amqpUrl, (channel) => channel.assertExchange('brief', 'fanout'));
      await assert.rejects(inequivalent, /406.*inequivalent arg 'x-replicate'/);

      await second!.kill();
      for (const deadline = performance.now() + 20_000; await isRouted(first!.amqpUrl, 'x', 'witness'); await sleep(50))
        assert.ok(performance.now() < deadline, 'the binding outlives its boot');
      for (const { amqpUrl } of [first!, third!]) {
        for (const key of ['k', 'to brief']) assert.equal(await isRouted(amqpUrl, 'x', key), false, key);
        assert.deepEqual([await hasExchange(amqpUrl, 'x'), await hasExchange(amqpUrl, 'brief')], [true, false]);
      }
      assert.equal(await drain(first!.amqpUrl, 'q'), 0);
      await withChannel(third!.amqpUrl, (channel) => channel.bindQueue('q', 'x', 'k', none));
      await second!.start();
      await cluster.untilComplete();
      for (const { amqpUrl } of cluster.nodes) {
        assert.ok(await isRouted(amqpUrl, 'x', 'k'));
        assert.equal(await isRouted(amqpUrl, 'x', 'witness'), false);
        assert.equal(await hasExchange(amqpUrl, 'brief'), false);
      }
      assert.equal(await drain(second!.amqpUrl, 'q'), 3);
      await third!.stop();
      for (const deadline = performance.now() + 20_000; await isRouted(first!.amqpUrl, 'x', 'k'); await sleep(50))
        assert.ok(performance.now() < deadline, 'the binding outlives the node that was stopped');
    });
  });

  it('a level that makes no sense is refused for them too, and nothing is declared', async () => {
    await withCluster([], async (cluster) => {
      const url = cluster.amqpUrls[0]!;
      await declare(url, 'q', {});
      const some = { 'x-qpid-replicate': 'some' };
      const exchange = withChannel(url, (channel) => channel.assertExchange('x', 'direct', { arguments: some }));
      await assert.rejects(exchange, /406.*'all' or 'configuration' or 'none'/);
      const binding = withChannel(url, (channel) => channel.bindQueue('q', 'amq.direct', 'k', some));
      await assert.rejects(binding, /406.*'all' or 'configuration' or 'none'/);
      assert.equal(await hasExchange(url, 'x'), false);
      assert.equal(await isRouted(url, 'amq.direct', 'k'), false);
    });
  });
});

describe('replication of queues', () => {
  it('S02: a queue that is not replicated is on the node that declared it, used through all, and there again when that node is', async () => {
    await withCluster([], async (cluster) => {
      const [first, second] = cluster.nodes;
      await declare(second!.amqpUrl, 'home', { 'x-replicate': 'none' });
      await declare(second!.amqpUrl, 'everywhere', { 'x-replicate': 'all' });
      await fill(first!.amqpUrl, 'home');
      await fill(first!.amqpUrl, 'everywhere');
      assert.deepEqual((await membersOf(cluster, 'home')).members, ['n2']);
      assert.equal((await membersOf(cluster, 'everywhere')).members.length, 3);
      const drained = await finished(['drain', 'n2', '--url', first!.httpUrl.href]);
      assert.deepEqual([drained.code, drained.stderr], [0, '']);
      assert.match(drained.stdout, /^n2 leads nothing but 1 group on no other node, whose queues wait/);
      await second!.kill();
      assert.equal(await drain(first!.amqpUrl, 'everywhere'), count);
      await second!.start();
      await cluster.untilComplete();
      assert.equal(await drain(first!.amqpUrl, 'home'), count);
    });
  });

  it('S03: without a level it is that of the cluster, or of a policy', async () => {
    await withCluster(['--replicate', 'none'], async (cluster) => {
      const url = cluster.amqpUrls[0]!;
      await declare(url, 'by default', {});
      await declare(url, 'by argument', { 'x-replicate': true });
      const set = ['policy', 'set', 'p', '^by policy$', 'replicate=all', '--url', cluster.nodes[0]!.httpUrl.href];
      assert.deepEqual(await finished(set), { code: 0, stdout: '', stderr: '' });
      await declare(url, 'by policy', {});
      assert.deepEqual((await membersOf(cluster, 'by default')).members, ['n1']);
      for (const queue of ['by argument', 'by policy'])
        assert.equal((await membersOf(cluster, queue)).members.length, 3);
    });
  });

  it('S04: a level that makes no sense is refused, and nothing is declared', async () => {
    await withCluster([], async (cluster) => {
      const url = cluster.amqpUrls[0]!;
      for (const key of ['x-replicate', 'qpid.replicate', 'x-qpid-replicate'])
        await assert.rejects(declare(url, 'q', { [key]: 'some' }), /406.*'all' or 'configuration' or 'none'/);
      const { status } = await request(new URL('/api/queues/%2F/q', cluster.nodes[0]!.httpUrl).href);
      assert.equal(status, 404);
      await declare(url, 'q', { 'x-replicate': 'none' });
      await assert.rejects(declare(url, 'q', { 'x-replicate': 'all' }), /406.*inequivalent arg 'x-replicate'/);
    });
  });

  it('x-replicas: a queue has as many replicas as it asks for, and survives as many failures less one', async () => {
    await withCluster([], async (cluster) => {
      const [first] = cluster.nodes;
      await declare(first!.amqpUrl, 'two', { 'x-replicas': 2 });
      await untilOnline(cluster, 'two', 2);
      await fill(first!.amqpUrl, 'two');
      const { members } = await membersOf(cluster, 'two');
      assert.equal(members.length, 2);
      const third = cluster.nodes.find(({ name }) => !members.includes(name))!;
      const gone = cluster.node(members[0]!);
      await gone.kill();
      assert.equal(await drain(third.amqpUrl, 'two'), count);
    });
  });
});
