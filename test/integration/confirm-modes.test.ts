/** When a publish counts as safe: `confirm: synced` and `confirm: replicated`, in a cluster of real processes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { fetchCluster } from '../../src/cli/api-client.js';
import type { ClusterProcesses } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

const count = 500;

/** Publishes `count` numbered messages and waits for their confirms. */
async function fill(url: string, queue: string, args: Record<string, string>): Promise<void> {
  const connection = await amqp.connect(url);
  connection.on('error', () => {});
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => {});
  await channel.assertQueue(queue, { durable: true, arguments: args });
  // The first ones are synced in any case: until the cluster knows of the queue's mode.
  for (let i = 0; i < count; i++) {
    channel.sendToQueue(queue, Buffer.from(String(i)), { persistent: true });
    if (i === 10) {
      await channel.waitForConfirms();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  await channel.waitForConfirms();
}

async function drain(url: string, queue: string): Promise<number[]> {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const numbers: number[] = [];
  for (;;) {
    const message = await channel.get(queue, { noAck: true });
    if (message === false) break;
    numbers.push(Number(message.content.toString()));
  }
  await connection.close();
  return numbers;
}

const all = Array.from({ length: count }, (_, i) => i);

/** Groups whose records say that restarted members may lack something. */
async function relaxedGroups(cluster: ClusterProcesses): Promise<number> {
  const { groups } = await fetchCluster(cluster.nodes[0]!.httpUrl);
  return groups.filter((group) => group.relaxed === true).length;
}

describe('confirm', () => {
  it('replicated: survives the kill of all nodes but one, and a clean stop of all', async () => {
    await withCluster([], async (cluster) => {
      const [first, , last] = cluster.nodes;
      await fill(first!.amqpUrl, 'q', { 'x-confirm': 'replicated' });
      assert.equal(await relaxedGroups(cluster), 1);
      await Promise.all(cluster.nodes.slice(0, 2).map((node) => node.kill()));
      assert.deepEqual(await drain(last!.amqpUrl, 'q'), all);
      await Promise.all(cluster.nodes.slice(0, 2).map((node) => node.start()));
      await cluster.untilComplete();
      await fill(first!.amqpUrl, 'q', { 'x-confirm': 'replicated' });
      await Promise.all(cluster.nodes.map((node) => node.stop()));
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      assert.deepEqual(await drain(last!.amqpUrl, 'q'), all);
    });
  });

  it('synced: survives the kill of all nodes at once, also by a policy that is changed back', async () => {
    await withCluster([], async (cluster) => {
      const [first] = cluster.nodes;
      const set = async (confirm: string): Promise<void> => {
        const { code } = await finished(['policy', 'set', 'p', '', `confirm=${confirm}`, '--url', first!.httpUrl.href]);
        assert.equal(code, 0);
      };
      await set('replicated');
      await set('synced');
      await fill(first!.amqpUrl, 'q', {});
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      assert.deepEqual(await drain(first!.amqpUrl, 'q'), all);
    });
  });

  it('refuses what is neither', async () => {
    await withCluster([], async (cluster) => {
      const connection = await amqp.connect(cluster.nodes[0]!.amqpUrl);
      const channel = await connection.createChannel();
      channel.on('error', () => {});
      await assert.rejects(
        channel.assertQueue('q', { arguments: { 'x-confirm': 'maybe' } }),
        /406.*invalid arg 'x-confirm'.*'synced' or 'replicated' is expected/,
      );
      await connection.close();
    });
  });
});
