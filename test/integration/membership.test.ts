/** Nodes come, move and are forgotten while the cluster serves. */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as amqp from 'amqplib';
import { callApi, type ClusterView, fetchCluster, isComplete } from '../../src/cli/api-client.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { untilRecordedAlone } from '../support/recorded.js';
import { freePorts } from '../support/free-ports.js';
import { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

const queue = 'kept';

async function publish(node: NodeProcess, count: number): Promise<void> {
  const connection = await amqp.connect(node.amqpUrl);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: true });
  for (let i = 0; i < count; i++) channel.sendToQueue(queue, Buffer.from(`m${i}`), { persistent: true });
  await channel.waitForConfirms();
  await connection.close();
}

async function count(node: NodeProcess): Promise<number> {
  const connection = await amqp.connect(node.amqpUrl);
  const channel = await connection.createChannel();
  const { messageCount } = await channel.checkQueue(queue);
  await connection.close();
  return messageCount;
}

async function untilView(node: NodeProcess, what: string, found: (view: ClusterView) => boolean): Promise<ClusterView> {
  for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
    const view = await fetchCluster(node.httpUrl, 1000).catch(() => undefined);
    if (view !== undefined && found(view)) return view;
    if (performance.now() > deadline) throw new Error(`never: ${what}: ${JSON.stringify(view)}`);
  }
}

/** Another process of the name, with ports of its own. */
async function another(cluster: ClusterProcesses, name: string, folder = name): Promise<NodeProcess> {
  const [amqpPort, http, clusterPort] = (await freePorts(29_000, 3)) as [number, number, number];
  const ports = { amqp: amqpPort, http, cluster: clusterPort };
  return new NodeProcess(name, cluster.folder, ports, ['--data', join(cluster.folder, folder)]);
}

const names = (view: ClusterView): string => view.members.map(({ name }) => name).join(' ');
const forget = (asked: NodeProcess, node: string): Promise<unknown> =>
  callApi(asked.httpUrl, 'DELETE', `/api/cluster/nodes/${node}`, { timeoutMs: 30_000 });

test('a node is forgotten: its places go to another, it is a stranger with its old data, and joins anew with none', {
  timeout: 120_000,
}, async (t) => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    await publish(n1, 100);
    await assert.rejects(forget(n1, 'n3'), /n3 is up, or was heard of within the time of a lease: stop it first/);
    await assert.rejects(forget(n1, 'n1'), /this is n1: stop it, and ask another node/);
    await assert.rejects(forget(n1, 'n9'), /there is no node n9: there are n1, n2, n3/);

    await n3.stop();
    const from = performance.now();
    const done = await finished(['forget', 'n3', '--url', n1.httpUrl.href]);
    assert.equal(done.code, 0, done.stderr);
    t.diagnostic(`forgotten after ${(performance.now() - from).toFixed()} ms`);
    const without = await untilView(
      n2,
      'n3 is in no place',
      (view) => names(view) === 'n1 n2' && view.groups.every(({ replicas }) => !replicas.includes('n3')),
    );
    assert.ok(isComplete(without));
    assert.match(await readFile(n1.log, 'utf8'), /guest at 127\.0\.0\.1[^\n]*a node is forgotten/);

    await assert.rejects(n3.start(), /ended/);
    assert.match(
      await readFile(n3.log, 'utf8'),
      /has forgotten node n3 with this data folder.*start it with an empty data folder/,
    );
    assert.equal(names(await fetchCluster(n1.httpUrl)), 'n1 n2');

    await rm(join(cluster.folder, 'n3'), { recursive: true });
    await n3.start();
    await cluster.untilComplete();
    assert.equal(await count(n3), 100);

    // A fourth one is added by starting it.
    const n4 = await another(cluster, 'n4');
    try {
      await n4.start();
      await untilView(n1, 'n4 is complete', (view) => names(view) === 'n1 n2 n3 n4' && isComplete(view));
    } finally {
      await n4.kill();
    }
    await forget(n2, 'n4');
    await untilView(n1, 'three again', (view) => names(view) === 'n1 n2 n3' && isComplete(view));
  });
});

test('a node that runs, and is forgotten because nobody hears it, ends; one that is needed is not forgotten', {
  timeout: 120_000,
}, async () => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    n3.freeze();
    await forget(n1, 'n3');
    n3.thaw();
    for (const deadline = performance.now() + 10_000; n3.pid !== 0; await sleep(50))
      assert.ok(performance.now() < deadline, 'it goes on');
    assert.match(await readFile(n3.log, 'utf8'), /has forgotten node n3/);

    await n2.kill();
    await untilRecordedAlone(cluster, 'n1');
    await n1.kill();
    const starting = n2.start();
    starting.catch(() => {});
    await untilView(n2, 'waiting', (view) => view.groups.every(({ waiting }) => waiting !== undefined));
    await assert.rejects(
      forget(n2, 'n1'),
      /n1 is the only one that has everything of these groups: system, 1-16\. Start it and wait/,
    );
    await n1.start();
    await starting;
  });
});

test('a node comes back at other addresses, and is taken there; a name is taken while its node lives', {
  timeout: 120_000,
}, async () => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    await publish(n1, 50);
    const client = await amqp.connect(n2.amqpUrl);
    client.on('error', () => {});
    const channel = await client.createChannel();
    await channel.assertQueue('news', { exclusive: true });
    await channel.bindQueue('news', 'amq.failover', '');

    const twin = await another(cluster, 'n3', 'twin');
    await assert.rejects(twin.start(), /ended/);
    assert.match(
      await readFile(n3.log, 'utf8'),
      /a node named n3 with another data folder is running at .*give this node another name/,
    );

    await n3.stop();
    const moved = await another(cluster, 'n3');
    try {
      await moved.start();
      const address = moved.amqpUrl.slice('amqp://'.length);
      await untilView(
        n1,
        'n3 has moved',
        (view) => isComplete(view) && view.members.some(({ name, amqp: at }) => name === 'n3' && at === address),
      );
      assert.equal(await count(moved), 50);
      for (const deadline = performance.now() + 10_000; ; await sleep(50)) {
        const message = await channel.get('news', { noAck: true });
        if (message !== false && message.content.toString().includes(`"${address}"`)) break;
        assert.ok(performance.now() < deadline, 'clients hear of the new address');
      }
      const newcomer = await amqp.connect(n1.amqpUrl);
      const { serverProperties } = newcomer.connection as unknown as {
        serverProperties: { 'understudy.addresses': string[] };
      };
      await newcomer.close();
      assert.ok(serverProperties['understudy.addresses'].includes(address));
      // The others still call it, after they have moved themselves.
      await n2.kill();
      await n2.start();
      await untilView(moved, 'complete', isComplete);
    } finally {
      await moved.kill();
    }
    await client.close().catch(() => {});
  });
});
