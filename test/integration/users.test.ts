/** Users, vhosts and permissions in a cluster of real processes: through any node, over a failover, after a restart of all. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import type { ClusterProcesses } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';
import { type Answer, request } from './support/http.js';

const all = { configure: '.*', write: '.*', read: '.*' };

async function change(node: NodeProcess, method: string, path: string, body?: object): Promise<number> {
  const url = new URL(`/api/${path}`, node.httpUrl).href;
  const { status }: Answer = await request(url, { method, ...(method === 'PUT' ? { body: body ?? {} } : {}) });
  return status;
}

function connect(node: NodeProcess, password: string, vhost: string): Promise<amqp.ChannelModel> {
  const { port, hostname } = new URL(node.amqpUrl);
  return amqp.connect({ hostname, port: Number(port), username: 'ann', password, vhost });
}

/** What a connection ends with. */
async function ending(connection: amqp.ChannelModel): Promise<string> {
  const [error] = (await once(connection, 'close')) as [Error | undefined];
  return error?.message ?? '';
}

async function assertKnown(cluster: ClusterProcesses, password: string, wrong: string): Promise<void> {
  for (const node of cluster.awake) {
    await (await connect(node, password, 'side')).close();
    await assert.rejects(connect(node, wrong, 'side'), /403 .*Login was refused using authentication mechanism PLAIN/);
    await assert.rejects(connect(node, password, '/'), /Expected ConnectionOpenOk/);
  }
}

describe('users of a cluster', () => {
  it('are known to all nodes, whichever was told, and outlive its primary and all nodes', async () => {
    await withCluster([], async (cluster) => {
      const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
      assert.equal(await change(n1, 'PUT', 'users/ann', { password: 'old', tags: 'monitoring' }), 201);
      assert.equal(await change(n2, 'PUT', 'vhosts/side'), 201);
      assert.equal(await change(n3, 'PUT', 'permissions/side/ann', all), 201);
      await assertKnown(cluster, 'old', 'new');
      const view = await cluster.untilView('a leader', ({ groups }) => groups[0]?.primary !== undefined);
      const leader = cluster.node(String(view.groups[0]!.primary));
      await leader.kill();
      const survivor = cluster.awake[0]!;
      const address = ['--url', survivor.httpUrl.href];
      assert.deepEqual(await finished(['user', 'password', 'ann', ...address], 'new\n'), {
        code: 0,
        stdout: '',
        stderr: '',
      });
      await assertKnown(cluster, 'new', 'old');
      await cluster.killAll();
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      await assertKnown(cluster, 'new', 'old');
      const listed = ['name   tags           password', 'ann    monitoring     set', 'guest  administrator  set', ''];
      for (const node of cluster.nodes)
        assert.equal((await finished(['user', 'list', '--url', node.httpUrl.href])).stdout, listed.join('\n'));
    });
  });

  it('and vhosts go with their connections at every node, and with all that is in them', async () => {
    await withCluster([], async (cluster) => {
      const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
      await change(n1, 'PUT', 'users/ann', { password: 'a', tags: '' });
      await change(n1, 'PUT', 'vhosts/side');
      for (const vhost of ['side', '%2F']) await change(n1, 'PUT', `permissions/${vhost}/ann`, all);
      const inSide = await connect(n2, 'a', 'side');
      const elsewhere = await connect(n3, 'a', '/');
      const channel = await inSide.createConfirmChannel();
      // More than go at once.
      const names = Array.from({ length: 600 }, (_, i) => `q${i}`);
      await Promise.all(names.map((name) => channel.assertQueue(name)));
      channel.publish('', 'q7', Buffer.from('x'), { persistent: true });
      await channel.waitForConfirms();
      const closed = ending(inSide);
      assert.equal(await change(n3, 'DELETE', 'vhosts/side'), 204);
      assert.match(await closed, /320 .*CONNECTION_FORCED - vhost 'side' is deleted/);
      assert.equal(await change(n3, 'PUT', 'vhosts/side'), 201);
      assert.equal(await change(n3, 'PUT', 'permissions/side/ann', all), 201);
      const again = await connect(n1, 'a', 'side');
      const empty = await again.createChannel();
      assert.equal((await empty.assertQueue('q7')).messageCount, 0);
      channel.on('error', () => {});
      const [bothClosed, otherClosed] = [ending(again), ending(elsewhere)];
      assert.equal(await change(n2, 'DELETE', 'users/ann'), 204);
      for (const end of [bothClosed, otherClosed])
        assert.match(await end, /320 .*CONNECTION_FORCED - user 'ann' is deleted/);
      await assert.rejects(connect(n1, 'a', '/'), /403/);
    });
  });
});
