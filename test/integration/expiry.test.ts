/** Messages that expire, and queues with a length, with real clients on a cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';

/** Runs `use` with a channel in confirm mode, and closes its connection. */
async function at(
  cluster: ClusterProcesses,
  node: number,
  use: (channel: amqp.ConfirmChannel) => Promise<void>,
): Promise<void> {
  const connection = await amqp.connect(cluster.amqpUrls[node]!);
  connection.on('error', () => {});
  try {
    await use(await connection.createConfirmChannel());
  } finally {
    await connection.close().catch(() => {});
  }
}

async function countBecomes(channel: amqp.ConfirmChannel, queue: string, wanted: number): Promise<void> {
  let count = -1;
  for (let tries = 0; tries < 200 && count !== wanted; tries++) {
    await sleep(25);
    count = (await channel.checkQueue(queue)).messageCount;
  }
  assert.equal(count, wanted, queue);
}

describe('messages that nobody takes', () => {
  it('go when their time is over, on the next primary too', async () => {
    await withCluster([], async (cluster) => {
      await at(cluster, 0, async (channel) => {
        await channel.assertQueue('short', { durable: true, messageTtl: 1500 });
        await channel.assertQueue('own', { durable: true });
        for (const body of ['a', 'b']) channel.sendToQueue('short', Buffer.from(body), { persistent: true });
        channel.sendToQueue('own', Buffer.from('own'), { persistent: true, expiration: '1500' });
        channel.sendToQueue('own', Buffer.from('stays'), { persistent: true });
        await channel.waitForConfirms();
      });
      const primary = (await cluster.leaderOf('short'))!;
      await primary.kill();
      const other = cluster.nodes.findIndex((node) => node !== primary);
      await at(cluster, other, async (channel) => {
        assert.equal((await channel.checkQueue('short')).messageCount, 2);
        await countBecomes(channel, 'short', 0);
        await countBecomes(channel, 'own', 1);
        const message = await channel.get('own', { noAck: true });
        assert.equal(message !== false && message.content.toString(), 'stays');
      });
    });
  });

  it('go when their queue has more than it may have, the oldest first', async () => {
    await withCluster([], async (cluster) => {
      await at(cluster, 1, async (channel) => {
        await channel.assertQueue('small', { durable: true, maxLength: 2 });
        for (let i = 1; i <= 5; i++) channel.sendToQueue('small', Buffer.from(String(i)), { persistent: true });
        await channel.waitForConfirms();
        await countBecomes(channel, 'small', 2);
      });
      await at(cluster, 2, async (channel) => {
        for (const expected of ['4', '5']) {
          const message = await channel.get('small', { noAck: true });
          assert.equal(message !== false && message.content.toString(), expected);
        }
      });
    });
  });
});
