/**
 * Nodes that know protocol version 1 only are replaced by present ones, node by node, under load. `protocol: 1` makes a node speak and
 * write exactly what the first program did (test/unit/versions pins the bytes); OLD_PROGRAM=.../dist/cli/main.js takes a real old one.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type ClusterView, fetchCluster } from '../../src/cli/api-client.js';
import { ClusterProcesses, sleep } from '../support/cluster-processes.js';
import type { NodeLife, NodeProcess } from '../support/node-process.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures } from '../support/verdict.js';
import { finished } from './support/command.js';

const program = process.env['OLD_PROGRAM'];
const old: NodeLife = program === undefined ? { options: ['--protocol', '1'] } : { program };
const load = ['--prefix', 'upgrade', '--rate', '500', '--publishers', '4', '--consumers', '4'];

async function untilProtocol(cluster: ClusterProcesses, protocol: number): Promise<ClusterView[]> {
  for (const deadline = performance.now() + 15_000; ; await sleep(50)) {
    const views = await Promise.all(cluster.nodes.map((node) => fetchCluster(node.httpUrl, 1000)));
    if (views.every((view) => view.protocol === protocol)) return views;
    if (performance.now() > deadline) throw new Error(`not version ${protocol}: ${JSON.stringify(views[0])}`);
  }
}

async function upgrade(cluster: ClusterProcesses, run: NumberedRun, node: NodeProcess): Promise<void> {
  await node.stop();
  await node.start();
  await cluster.untilComplete();
  await run.more(200);
}

async function refusedStart(node: NodeProcess, life: NodeLife): Promise<string> {
  const before = (await readFile(node.log, 'utf8')).length;
  await assert.rejects(node.start(life), /ended \(1\) before it was ready/);
  return (await readFile(node.log, 'utf8')).slice(before);
}

test('S91: a rolling upgrade under load, from version 1 to the present one, and nobody goes back', {
  timeout: 120_000,
}, async (t) => {
  const cluster = await ClusterProcesses.start(3, [], old);
  const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const run = new NumberedRun(cluster.amqpUrls, load);
  let good = false;
  try {
    await run.more(200);
    await upgrade(cluster, run, n1);
    await upgrade(cluster, run, n2);
    // One goes back: nothing of a newer version is in use yet.
    await n2.stop();
    await n2.start(old);
    await cluster.untilComplete();
    await upgrade(cluster, run, n2);
    const mixed = await fetchCluster(n1.httpUrl);
    assert.equal(mixed.protocol, 1);
    const status = await finished(['status', '--url', n1.httpUrl.href]);
    assert.match(status.stdout, /protocol version 1; .* not n3 \(ready\)/);
    const users = (...args: string[]): ReturnType<typeof finished> =>
      finished(['user', ...args, '--url', n1.httpUrl.href], 'secret');
    assert.match(
      (await users('add', 'ann')).stderr,
      /cannot be changed while the cluster speaks protocol version 1: it takes 3/,
    );
    await upgrade(cluster, run, n3);
    await untilProtocol(cluster, 3);
    // Clients have come as guest all the time; now it is one of the cluster's users.
    assert.equal((await users('add', 'ann')).stderr, '');
    assert.match((await users('list')).stdout, /^ann .*\nguest\s+administrator\s+set$/m);
    await run.more(500);
    // Now it is too late.
    await n3.stop();
    const refusal = await refusedStart(n3, old);
    t.diagnostic(refusal.trim());
    if (program === undefined) assert.match(refusal, /version 3, this node reads up to 1: start it with/);
    await n3.start();
    await cluster.untilComplete();
    await run.more(200);
    const result = await run.finish();
    t.diagnostic(figures(result));
    assertFaultless(result, cluster);
    good = true;
  } finally {
    run.kill();
    await cluster.close(!good);
  }
});
