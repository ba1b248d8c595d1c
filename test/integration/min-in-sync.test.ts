/** Too few replicas in sync: what publishers and consumers of a cluster of real processes see. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

/** Publishes one message; resolves to what becomes of it within `ms`. */
async function fate(channel: amqp.ConfirmChannel, queue: string, body: string, ms = 1000): Promise<string> {
  const answer = new Promise<string>((resolve) => {
    channel.sendToQueue(queue, Buffer.from(body), { persistent: true }, (error: unknown) =>
      resolve(error === null ? 'confirmed' : 'nacked'),
    );
  });
  return Promise.race([answer, sleep(ms).then(() => 'held')]);
}

async function setPolicy(node: NodeProcess, pattern: string, ...definition: string[]): Promise<void> {
  const { code, stderr } = await finished(['policy', 'set', 'p', pattern, ...definition, '--url', node.httpUrl.href]);
  assert.equal(code, 0, stderr);
}

/** Kills all nodes but `left`, and waits until it is alone in sync for the queue. */
async function leaveAlone(cluster: ClusterProcesses, left: NodeProcess, queue: string): Promise<void> {
  await Promise.all(cluster.nodes.filter((node) => node !== left).map((node) => node.kill()));
  for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
    const url = new URL(`/api/queues/%2F/${encodeURIComponent(queue)}`, left.httpUrl);
    const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
    const response = await fetch(url, { headers: { authorization }, signal: AbortSignal.timeout(2000) }).catch(
      () => null,
    );
    const body = (await response?.json().catch(() => undefined)) as { online?: string[] } | undefined;
    if (body?.online?.join() === left.name) return;
    assert.ok(performance.now() < deadline, `${left.name} is not alone in sync: ${JSON.stringify(body)}`);
  }
}

describe('min-in-sync', () => {
  it('S48, S53: below it confirms of its queues are held, consumers go on; above it all are given', async () => {
    await withCluster([], async (cluster) => {
      const [left] = cluster.nodes as [NodeProcess];
      const connection = await amqp.connect(left.amqpUrl);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('safe', { arguments: { 'x-min-in-sync': 3 } });
      await channel.assertQueue('fast');
      await channel.assertQueue('by-policy');
      await setPolicy(left, '^by-', 'min-in-sync=2');
      assert.equal(await fate(channel, 'safe', 'before'), 'confirmed');
      await leaveAlone(cluster, left, 'safe');
      const confirmed: string[] = [];
      const send = (queue: string, body: string): void => {
        channel.sendToQueue(queue, Buffer.from(body), { persistent: true }, (error: unknown) => {
          if (error === null) confirmed.push(body);
        });
      };
      const received: string[] = [];
      await channel.consume('safe', (message) => {
        received.push(message!.content.toString());
        channel.ack(message!);
      });
      send('safe', 'held 3');
      send('by-policy', 'held 2');
      assert.equal(await fate(channel, 'fast', 'at once'), 'confirmed');
      // A queue that is declared now waits as well.
      await channel.assertQueue('new', { arguments: { 'x-min-in-sync': 2 } });
      assert.equal(await fate(channel, 'new', 'held new', 300), 'held');
      await sleep(300);
      assert.equal(confirmed.length, 0);
      assert.deepEqual(received, ['before', 'held 3']);
      // One of the two is enough for one of the queues only.
      await cluster.nodes[1]!.start();
      for (const deadline = performance.now() + 20_000; !confirmed.includes('held 2'); await sleep(20))
        assert.ok(performance.now() < deadline, 'not confirmed with two in sync');
      assert.equal(confirmed.join(), 'held 2');
      await cluster.nodes[2]!.start();
      for (const deadline = performance.now() + 20_000; confirmed.length < 2; await sleep(20))
        assert.ok(performance.now() < deadline, 'not confirmed with three in sync');
      assert.equal(confirmed.join(), 'held 2,held 3');
      await connection.close();
    });
  });

  it('S49, S53: by policy, confirms are held for a time, or publishes refused; a policy that asks for less sets them free', async () => {
    await withCluster([], async (cluster) => {
      const [left] = cluster.nodes as [NodeProcess];
      const connection = await amqp.connect(left.amqpUrl);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('q');
      await setPolicy(left, '', 'min-in-sync=2', 'min-in-sync-timeout=500');
      await leaveAlone(cluster, left, 'q');
      const before = performance.now();
      assert.equal(await fate(channel, 'q', 'late', 5000), 'nacked');
      assert.ok(performance.now() - before >= 500);
      // It was taken all the same.
      assert.equal((await channel.checkQueue('q')).messageCount, 1);
      await setPolicy(left, '', 'min-in-sync=2', 'min-in-sync-below=refuse');
      assert.equal(await fate(channel, 'q', 'refused', 5000), 'nacked');
      assert.equal((await channel.checkQueue('q')).messageCount, 1);
      await setPolicy(left, '', 'min-in-sync=2');
      const held = fate(channel, 'q', 'held', 20_000);
      await sleep(300);
      await setPolicy(left, '', 'min-in-sync=1');
      assert.equal(await held, 'confirmed');
      assert.equal((await channel.checkQueue('q')).messageCount, 2);
      await connection.close();
    });
  });
});
