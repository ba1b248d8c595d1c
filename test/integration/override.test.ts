/** A whole cluster goes down, and who was last in sync does not come back: the others wait, say so, and serve again when told to. */
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as amqp from 'amqplib';
import { callApi, type ClusterView, fetchCluster } from '../../src/cli/api-client.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { untilRecordedAlone } from '../support/recorded.js';
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

/** Takes the next message, if there is one. */
async function take(node: NodeProcess, count: number): Promise<string[]> {
  const connection = await amqp.connect(node.amqpUrl);
  const channel = await connection.createChannel();
  const bodies: string[] = [];
  for (let i = 0; i < count; i++) {
    const message = await channel.get(queue);
    if (message === false) break;
    channel.ack(message);
    bodies.push(message.content.toString());
  }
  await channel.close();
  await connection.close();
  return bodies;
}

async function untilView(
  node: NodeProcess,
  what: string,
  found: (view: ClusterView) => boolean,
  timeoutMs = 20_000,
): Promise<ClusterView> {
  for (const deadline = performance.now() + timeoutMs; ; await sleep(50)) {
    const view = await fetchCluster(node.httpUrl, 1000).catch(() => undefined);
    if (view !== undefined && found(view)) return view;
    if (performance.now() > deadline) throw new Error(`not after ${timeoutMs} ms: ${what}: ${JSON.stringify(view)}`);
  }
}

async function lastInSync(cluster: ClusterProcesses): Promise<void> {
  const [n1, ...others] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  await publish(n1, 0, 100);
  await Promise.all(others.map((node) => node.kill()));
  // Only n1 has these.
  await publish(n1, 100, 150);
  await untilRecordedAlone(cluster, 'n1');
  await n1.kill();
}

const names = ['n2', 'n3'];
const isWaiting = (view: ClusterView): boolean =>
  view.groups.every(
    ({ waiting }) =>
      waiting?.for.every(({ node }) => node === 'n1') === true &&
      names.every((name) => waiting.candidates.some(({ node }) => node === name)),
  );

test('the last in-sync node is lost: the others wait for it and say so, and serve what they have when told to', {
  timeout: 120_000,
}, async (t) => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    await lastInSync(cluster);
    await rm(join(cluster.folder, 'n1'), { recursive: true });
    const starting = Promise.all([n2.start(), n3.start()]);
    starting.catch(() => {});
    const view = await untilView(n2, 'waiting', isWaiting);
    assert.deepEqual(view.groups[1]!.waiting!.for, [{ node: 'n1', why: 'down' }]);

    const status = await finished(['status', '--url', n2.httpUrl.href]);
    assert.match(
      status.stdout,
      /Waiting for a member of their last in-sync set:\n +system, 1-16: n1 \(not up\); there are n2, n3 that have some of it/,
    );
    assert.equal(await logged(n3, 'wait for a member of their last in-sync set'), true);

    const asked = await finished(['override', 'all', '--url', n2.httpUrl.href]);
    assert.equal(asked.code, 1);
    assert.match(
      asked.stderr,
      /17 of 17 groups: .* its in-sync set is n1 \(not up\); n[23] has it as of epoch \d+.*What was confirmed and n[23] does not have is lost.*--accept-loss/,
    );
    assert.ok(isWaiting(await fetchCluster(n2.httpUrl)), 'nothing was done');

    // n1 comes back with nothing: it is no member of the set any more.
    const joining = n1.start();
    joining.catch(() => {});
    await untilView(n3, 'n1 with another folder', (now) =>
      now.groups.every(({ waiting }) => waiting?.for.every(({ why }) => why === 'other-store') === true),
    );
    const from = performance.now();
    const done = await finished(['override', 'all', '--node', 'n2', '--accept-loss', '--url', n3.httpUrl.href]);
    assert.equal(done.code, 0, done.stderr);
    await Promise.all([starting, joining]);
    await cluster.untilComplete();
    t.diagnostic(`complete ${(performance.now() - from).toFixed()} ms after the override`);
    assert.equal(await logged(n3, 'guest at 127.0.0.1'), true);
    assert.deepEqual(
      await take(n3, 1000),
      Array.from({ length: 100 }, (_, i) => `m${i}`),
    );
    await publish(n1, 0, 10);
    assert.equal((await take(n2, 1000)).length, 10);
  });
});

test('who is there is not overridden', { timeout: 60_000 }, async () => {
  await withCluster([], async (cluster) => {
    const [n1] = cluster.nodes as [NodeProcess];
    for (const [path, body, text] of [
      ['1', { acceptLoss: true }, /group 1 does not wait for anybody/],
      ['99', { acceptLoss: true }, /there is no group 99/],
      ['x', {}, /there is no group/],
      ['1', { acceptLoss: 'yes' }, /"acceptLoss" is true or false/],
    ] as const)
      await assert.rejects(
        callApi(n1.httpUrl, 'POST', `/api/cluster/groups/${path}/override`, { body, timeoutMs: 10_000 }),
        text,
      );
  });
});

/** In time. */
async function logged(node: NodeProcess, text: string): Promise<boolean> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await sleep(100))
    if ((await readFile(node.log, 'utf8')).includes(text)) return true;
  return false;
}
