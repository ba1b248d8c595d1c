/** Brokers that stand still or die while numbered messages go through all of them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { watchFailures } from '../support/all-passed.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { type EtcdCluster, startEtcdCluster } from '../support/etcd-cluster.js';
import type { NodeProcess } from '../support/node-process.js';
import { NumberedRun } from '../support/numbered-run.js';
import { numbered, QueueClient } from '../support/queue-client.js';
import { assertFaultless, figures, queueNames } from '../support/verdict.js';
import { within } from '../support/within.js';

const leaseMs = 1000;
/** What waits for a frozen node goes on after the time of a lease; with room for a busy machine. */
const stallMsMax = 6 * leaseMs;
const [queue] = queueNames('stall', 1) as [string];

describe('stalls', { timeout: 150_000 }, () => {
  let setup: EtcdCluster;
  let cluster: ClusterProcesses;
  let run: NumberedRun;
  const isWell = watchFailures();

  before(async () => {
    setup = await startEtcdCluster({ options: ['--lease', `${leaseMs}ms`] });
    ({ cluster } = setup);
    run = new NumberedRun(cluster.amqpUrls, [
      ...['--prefix', 'stall', '--rate', '100', '--publishers', '4', '--consumers', '4'],
    ]);
    await run.more(100);
  });

  after(async () => {
    run?.kill();
    await setup?.close(isWell());
  });

  /** A client of the node that leads a new queue of that name, and that node, and another. */
  async function atPrimary(name: string): Promise<{ client: QueueClient; primary: NodeProcess; backup: NodeProcess }> {
    {
      await using client = await QueueClient.open(cluster.awake[0]!.amqpUrl);
      await client.declare(name);
    }
    const primary = (await cluster.leaderOf(name))!;
    const backup = cluster.nodes.find((node) => node !== primary)!;
    return { client: await QueueClient.open(primary.amqpUrl), primary, backup };
  }

  it('S50: a backup freezes: publishes wait no longer than a lease or so, and it is in sync again afterwards', async (t) => {
    const opened = await atPrimary('s50');
    await using client = opened.client;
    await client.send('s50', numbered('', 1, 50));
    opened.backup.freeze();
    const from = performance.now();
    const sent = client.send('s50', numbered('', 51, 100));
    assert.deepEqual(await client.take('s50', 50), numbered('', 1, 50));
    const takenMs = performance.now() - from;
    await sent;
    const confirmedMs = performance.now() - from;
    t.diagnostic(`50 taken after ${takenMs.toFixed()} ms, 50 confirmed after ${confirmedMs.toFixed()} ms`);
    assert.ok(confirmedMs < stallMsMax && takenMs < stallMsMax);
    opened.backup.thaw();
    await cluster.untilComplete();
    assert.deepEqual(await client.take('s50', 50), numbered('', 51, 100));
  });

  it('S51: a primary freezes: it is replaced after a lease, and serves nothing of its own when it thaws', async (t) => {
    const { client, primary } = await atPrimary('s51');
    await client.send('s51', ['a']);
    // Written into its socket: it will read that when it thaws.
    primary.freeze();
    client.channel.sendToQueue('s51', Buffer.from('b'), { persistent: true });
    const replacedMs = await cluster.untilReplaced('s51', primary);
    t.diagnostic(`replaced after ${replacedMs.toFixed()} ms`);
    assert.ok(replacedMs < stallMsMax);
    const successor = (await cluster.leaderOf('s51'))!;
    await using other = await QueueClient.open(successor.amqpUrl);
    assert.deepEqual(await other.take('s51', 1), ['a']);
    primary.thaw();
    // Confirmed: by whoever leads now.
    await client.confirmed();
    assert.deepEqual(await other.take('s51', 1), ['b']);
    await cluster.untilComplete();
    await client[Symbol.asyncDispose]();
  });

  it('S52: clients of a frozen broker notice, whether they are connected or connect', async () => {
    const node = cluster.nodes[2]!;
    const connected = await amqp.connect(`${node.amqpUrl}?heartbeat=1`);
    const noticed = new Promise<string>((resolve) => connected.once('error', (error: Error) => resolve(error.message)));
    node.freeze();
    const connects = Promise.resolve(amqp.connect(node.amqpUrl, { timeout: 2 * leaseMs })).then(
      () => 'connected',
      (error: Error) => error.message,
    );
    assert.match(await within(stallMsMax, 'missing heartbeats are noticed', noticed), /heartbeat/i);
    assert.match(await within(stallMsMax, 'connecting fails', connects), /ETIMEDOUT|timeout/i);
    node.thaw();
    await cluster.untilComplete();
    await (await within(stallMsMax, 'connecting', Promise.resolve(amqp.connect(node.amqpUrl)))).close();
  });

  it('S56: a queue is deleted that has unacknowledged messages, and publishes that wait', async () => {
    const opened = await atPrimary('s56');
    await using client = opened.client;
    const { channel } = client;
    await client.send('s56', numbered('', 1, 10));
    const held: amqp.ConsumeMessage[] = [];
    const cancelled = new Promise<void>((resolve) => {
      void channel.consume('s56', (message) => {
        if (message === null) resolve();
        else held.push(message);
      });
    });
    opened.backup.freeze();
    const before = performance.now();
    while (held.length < 10 && performance.now() < before + stallMsMax) await sleep(10);
    for (let i = 0; i < 20; i++) channel.sendToQueue('s56', Buffer.from('late'), { persistent: true });
    await within(stallMsMax, 'the queue is deleted', Promise.resolve(channel.deleteQueue('s56')));
    await within(stallMsMax, 'the consumer is told', cancelled);
    await within(stallMsMax, 'all publishes are answered', Promise.resolve(channel.waitForConfirms()));
    for (const message of held) channel.ack(message);
    // The channel is good for more.
    await client.send('s56.next', ['x']);
    assert.deepEqual(await client.take('s56.next', 1), ['x']);
    assert.equal(client.failure, '');
    opened.backup.thaw();
    await cluster.untilComplete();
  });

  it('S54: primaries are killed one after the other, until one replica is left', async () => {
    const first = (await cluster.leaderOf(queue))!;
    await first.kill();
    await cluster.untilReplaced(queue, first);
    await run.more(50);
    const second = (await cluster.leaderOf(queue))!;
    await second.kill();
    await cluster.untilReplaced(queue, second);
    await run.more(100);
    await Promise.all([first.start(), second.start()]);
    await cluster.untilComplete();
    await run.more(50);
  });

  it('S11, S50, S51, S54: nothing confirmed was lost meanwhile, and what came again was flagged', async (t) => {
    const result = await run.finish();
    t.diagnostic(figures(result));
    assertFaultless(result, cluster);
  });
});
