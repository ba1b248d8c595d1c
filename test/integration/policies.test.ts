/** Policies on the command line, in a cluster of real processes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Channel, connect } from 'amqplib';
import type { ClusterProcesses } from '../support/cluster-processes.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

function policy(cluster: ClusterProcesses, node: number, ...args: string[]): ReturnType<typeof finished> {
  return finished(['policy', ...args, '--url', cluster.nodes[node]!.httpUrl.href]);
}

async function untilMessages(channel: Channel, queue: string, count: number): Promise<void> {
  for (const end = Date.now() + 10_000; ; ) {
    const { messageCount } = await channel.checkQueue(queue);
    if (messageCount === count) return;
    assert.ok(Date.now() < end, `${messageCount} messages in '${queue}'`);
  }
}

describe('policies of a cluster', () => {
  it('are set, listed and cleared through any node, and outlive all nodes', async () => {
    await withCluster([], async (cluster) => {
      const set = await policy(cluster, 0, 'set', 'safe', '^orders', 'min-in-sync=2', '--priority', '5');
      assert.deepEqual(set, { code: 0, stdout: '', stderr: '' });
      const json = '{"min-in-sync": 1}';
      assert.equal((await policy(cluster, 1, 'set', 'other', '', json, '--apply-to', 'queues')).code, 0);
      const listed = [
        'name   pattern  priority  apply-to  definition',
        'other           0         queues    min-in-sync=1',
        'safe   ^orders  5         all       min-in-sync=2',
        '',
      ].join('\n');
      assert.equal((await policy(cluster, 2, 'list')).stdout, listed);
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      assert.equal((await policy(cluster, 2, 'list')).stdout, listed);
      assert.equal((await policy(cluster, 2, 'clear', 'safe')).code, 0);
      assert.doesNotMatch((await policy(cluster, 0, 'list')).stdout, /safe/);
      const again = await policy(cluster, 2, 'clear', 'safe');
      assert.equal(again.code, 1);
      assert.match(again.stderr, /no policy 'safe' in vhost '\/'/);
    });
  });

  it('of operators limit queues on every node at once, and outlive all nodes', async () => {
    await withCluster([], async (cluster) => {
      const operator = (node: number, ...args: string[]): ReturnType<typeof finished> =>
        finished(['operator-policy', ...args, '--url', cluster.nodes[node]!.httpUrl.href]);
      const connection = await connect(cluster.nodes[1]!.amqpUrl);
      connection.on('error', () => {});
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('orders', { durable: true, arguments: { 'x-max-length': 50 } });
      for (let i = 0; i < 60; i++) channel.sendToQueue('orders', Buffer.from(String(i)), { persistent: true });
      await channel.waitForConfirms();
      const set = await operator(2, 'set', 'most', '^orders', 'max-length=7');
      assert.deepEqual(set, { code: 0, stdout: '', stderr: '' });
      // In effect everywhere when it is answered; what is over it goes in the turns that follow.
      await untilMessages(channel, 'orders', 7);
      const listed = 'name  pattern  priority  apply-to  definition\nmost  ^orders  0         queues    max-length=7\n';
      assert.equal((await operator(0, 'list')).stdout, listed);
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      assert.equal((await operator(1, 'list')).stdout, listed);
      assert.doesNotMatch((await policy(cluster, 1, 'list')).stdout, /most/);
      assert.equal((await operator(1, 'clear', 'most')).code, 0);
      assert.match((await operator(0, 'clear', 'most')).stderr, /no operator policy 'most' in vhost '\/'/);
    });
  });

  it('are refused with a line on standard error', async () => {
    await withCluster([], async (cluster) => {
      const cases: [args: string[], code: number, text: RegExp][] = [
        [['set', 'p', '('], 2, /missing required argument 'definition'/],
        [['set', 'p', '(', 'min-in-sync=2'], 1, /'pattern' is no regular expression/],
        [['set', 'p', '', 'nonsense=2'], 1, /'nonsense' is no key of a policy's definition: it may have min-in-sync/],
        [['set', 'p', '', 'nonsense'], 2, /key=value/],
        [['set', 'p', '', '{x'], 2, /the definition is no JSON/],
        [['set', 'p', '', 'min-in-sync=2', '--priority', 'x'], 2, /--priority: "x" is no integer/],
        [['set', 'p', '', 'min-in-sync=2', '--vhost', 'nowhere'], 1, /no vhost 'nowhere'/],
        [['remove'], 2, /unknown command|too many arguments/],
      ];
      for (const [args, code, text] of cases) {
        const result = await policy(cluster, 0, ...args);
        assert.equal(result.code, code, args.join(' '));
        assert.match(result.stderr, text);
        assert.equal(result.stderr.trim().split('\n').length, 1);
      }
    });
  });
});
