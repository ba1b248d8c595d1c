/** Dead letters with real clients: between queues of different groups, through kills of the primaries of both. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';

interface Death {
  readonly queue: string;
  readonly reason: string;
  readonly count: number;
  readonly exchange: string;
  readonly 'routing-keys': string[];
}

/** Runs `use` with a channel in confirm mode, and closes its connection. Fails when that is lost. */
async function at<T>(
  cluster: ClusterProcesses,
  node: number,
  use: (channel: amqp.ConfirmChannel) => Promise<T>,
): Promise<T> {
  const connection = await amqp.connect(cluster.amqpUrls[node]!);
  connection.on('error', () => {});
  const lost = new Promise<never>((_, reject) => connection.on('close', () => reject(new Error('connection lost'))));
  lost.catch(() => {});
  try {
    return await Promise.race([connection.createConfirmChannel().then(use), lost]);
  } finally {
    // A broker that is killed in that moment does not answer.
    await Promise.race([connection.close(), lost]).catch(() => {});
  }
}

const ttls = [50, 150, 250, 350, 450, 550];
const perQueue = 300;

/** Groups may be on their way between nodes, and then nobody leads them for a moment. */
async function leaderOf(cluster: ClusterProcesses, queue: string): Promise<NodeProcess> {
  for (let tries = 0; tries < 200; tries++) {
    const leader = await cluster.leaderOf(queue);
    if (leader !== undefined) return leader;
    await sleep(25);
  }
  assert.fail(`nobody leads the group of ${queue}`);
}

/** Declares a queue for the dead, and queues with those times from which they come. */
async function wire(channel: amqp.ConfirmChannel): Promise<void> {
  await channel.assertExchange('graves', 'fanout', { durable: true });
  await channel.assertQueue('dead', { durable: true });
  await channel.bindQueue('dead', 'graves', '');
  for (const ttl of ttls)
    await channel.assertQueue(`ttl-${ttl}`, { durable: true, messageTtl: ttl, deadLetterExchange: 'graves' });
}

async function publishAll(channel: amqp.ConfirmChannel): Promise<void> {
  for (let n = 0; n < perQueue; n++)
    for (const ttl of ttls) channel.sendToQueue(`ttl-${ttl}`, Buffer.from(`${ttl}/${n}`), { persistent: true });
  await channel.waitForConfirms();
}

/** Takes all that is dead until there have been `count` different ones, or nothing new comes; bodies with the deaths that they tell of. */
async function takeDead(channel: amqp.ConfirmChannel, count: number): Promise<[string, amqp.ConsumeMessage][]> {
  const taken: [string, amqp.ConsumeMessage][] = [];
  const seen = new Set<string>();
  await channel.consume('dead', (message) => {
    if (message === null) return;
    taken.push([message.content.toString(), message]);
    seen.add(message.content.toString());
    channel.ack(message);
  });
  for (let quiet = 0, last = 0; seen.size < count && quiet < 400; quiet++) {
    await sleep(25);
    if (seen.size !== last) quiet = 0;
    last = seen.size;
  }
  // What comes twice comes late.
  await sleep(300);
  return taken;
}

describe('messages that die', () => {
  it('come to the queue for the dead once each or flagged, while the primaries of both sides are killed', async (t) => {
    await withCluster([], async (cluster) => {
      await at(cluster, 0, wire);
      for (const victim of ['dead', 'ttl-350']) {
        const sent = at(cluster, 0, publishAll).catch((error: Error) => t.diagnostic(`publisher: ${error.message}`));
        await sleep(250);
        const primary = await leaderOf(cluster, victim);
        await primary.kill();
        await sent;
        await primary.start();
        await cluster.untilComplete();
        // A publisher that was cut off does not know what it sent: the second time all are sent whole.
        const node = cluster.nodes.findIndex((other) => other !== primary);
        const before = await at(cluster, node, (channel) => takeDead(channel, ttls.length * perQueue));
        const flagged = before.filter(([, message]) => message.fields.redelivered).length;
        const unflagged = new Set<string>();
        for (const [body, message] of before) {
          assert.ok(message.fields.redelivered || !unflagged.has(body), `${body} came twice, unflagged`);
          if (!message.fields.redelivered) unflagged.add(body);
          const [death] = message.properties.headers!['x-death'] as unknown as Death[];
          assert.equal(death!.reason, 'expired');
          assert.equal(death!.count, 1);
          assert.equal(death!.queue, `ttl-${body.split('/')[0]}`);
        }
        t.diagnostic(`${victim}: ${before.length} dead, ${flagged} of them flagged`);
        for (const ttl of ttls)
          await at(cluster, node, async (channel) =>
            assert.equal((await channel.checkQueue(`ttl-${ttl}`)).messageCount, 0, `ttl-${ttl} is empty`),
          );
      }
    });
  });

  it('tell of all their deaths, and what is rejected keeps its place in none', async () => {
    await withCluster([], async (cluster) => {
      await at(cluster, 1, async (channel) => {
        await wire(channel);
        await channel.assertQueue('work', {
          durable: true,
          deadLetterExchange: '',
          deadLetterRoutingKey: 'ttl-50',
          maxLength: 5,
        });
        for (let n = 0; n < 8; n++) channel.sendToQueue('work', Buffer.from(String(n)), { persistent: true });
        await channel.waitForConfirms();
        for (let n = 3; n < 8; n++) {
          const message = await channel.get('work');
          assert.ok(message !== false);
          assert.equal(message.content.toString(), String(n));
          channel.nack(message, false, false);
        }
        const dead = await takeDead(channel, 8);
        assert.equal(dead.length, 8);
        for (const [body, message] of dead) {
          const deaths = message.properties.headers!['x-death'] as unknown as Death[];
          const reason = Number(body) < 3 ? 'maxlen' : 'rejected';
          assert.deepEqual(
            deaths.map((death) => [death.queue, death.reason, death.count, death.exchange, death['routing-keys']]),
            [
              ['ttl-50', 'expired', 1, '', ['ttl-50']],
              ['work', reason, 1, '', ['work']],
            ],
          );
          assert.equal(message.properties.headers!['x-first-death-queue'], 'work');
          assert.equal(message.properties.headers!['x-first-death-reason'], reason);
        }
      });
    });
  });
});
