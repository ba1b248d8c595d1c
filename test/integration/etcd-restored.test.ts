/** etcd is put back to a backup that knows less: nobody believes it before all have said what they know (rule 18). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import * as amqp from 'amqplib';
import { callApi, fetchCluster } from '../../src/cli/api-client.js';
import { sleep } from '../support/cluster-processes.js';
import { EtcdProcesses } from '../support/etcd-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

const queue = 'kept';

async function publish(node: NodeProcess, from: number, to: number): Promise<void> {
  const connection = await amqp.connect(node.amqpUrl);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: true });
  for (let i = from; i < to; i++) channel.sendToQueue(queue, Buffer.from(`m${i}`), { persistent: true });
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

/** Resolves to the reason why the node does not tell of the cluster. */
async function refusal(node: NodeProcess): Promise<string> {
  for (const deadline = performance.now() + 15_000; performance.now() < deadline; await sleep(100)) {
    const reason = await fetchCluster(node.httpUrl, 1000).then(
      () => 'none',
      (error: Error) => error.message,
    );
    if (reason.includes('put back')) return reason;
  }
  throw new Error(`${node.name} does not say that etcd was put back: ${node.log}`);
}

test('etcd is restored from a backup: a node that it takes for a full member is not believed to be one', {
  timeout: 120_000,
}, async (t) => {
  await using etcd = await EtcdProcesses.start();
  await withCluster(['--coordinator', etcd.setting], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    await publish(n1, 0, 100);
    const backup = await etcd.backUp();
    await n3.kill();
    await publish(n1, 100, 200);
    await cluster.killAll();
    await etcd.restore(backup);

    // In the backup n3 is in sync with everything.
    const starting = n3.start();
    starting.catch(() => {});
    assert.match(await refusal(n3), /waits until these have reported what they know: .*n[12] \(groups system, 1-16\)/);
    const path = '/api/cluster/coordinator/override';
    await assert.rejects(callApi(n3.httpUrl, 'POST', path, { body: {} }), /is lost.*If that is accepted, say so/);
    const from = performance.now();
    await Promise.all([starting, n1.start(), n2.start()]);
    await cluster.untilComplete();
    t.diagnostic(`complete ${(performance.now() - from).toFixed()} ms after the last node was started`);
    assert.equal(await count(n3), 200);
    assert.match(await readFile(n3.log, 'utf8'), /put back to an older state, or replaced/);
    await publish(n3, 200, 210);

    // Again, and two of them are gone for good: the operator decides.
    const second = await etcd.backUp();
    await n3.kill();
    await cluster.killAll();
    await etcd.restore(second);
    const again = n3.start();
    again.catch(() => {});
    await refusal(n3);
    const asked = await finished(['override', 'coordinator', '--url', n3.httpUrl.href]);
    assert.equal(asked.code, 1);
    assert.match(asked.stderr, /waits until these have reported.*--accept-loss/);
    const done = await finished(['override', 'coordinator', '--accept-loss', '--url', n3.httpUrl.href]);
    assert.equal(done.code, 0, done.stderr);
    await again;
    assert.equal(await count(n3), 210);
    await publish(n3, 210, 220);
  });
});

test('a copy of the data is put back under running brokers: they go on as they were, and start anew when asked to', {
  timeout: 120_000,
}, async () => {
  await using etcd = await EtcdProcesses.start(1);
  await withCluster(['--coordinator', etcd.setting], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    const backup = await etcd.backUp();
    await n3.kill();
    await publish(n1, 0, 100);
    await n3.start();
    await cluster.untilComplete();
    await etcd.restore(backup);
    await publish(n2, 100, 200);
    // One after the other: the first waits for those that still run.
    await n1.kill();
    const starting = [n1.start()];
    starting[0]!.catch(() => {});
    assert.match(await refusal(n1), /(?=.*n2 \(groups )(?=.*n3 \(groups )/);
    for (const node of [n2, n3]) {
      await node.kill();
      starting.push(node.start());
    }
    await Promise.all(starting);
    await cluster.untilComplete();
    assert.equal(await count(n1), 200);
  });
});
