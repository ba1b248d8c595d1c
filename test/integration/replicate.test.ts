/** How many nodes a queue is on: `x-replicate` and `x-replicas`, in a cluster of real processes. */
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
