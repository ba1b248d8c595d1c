/** Where groups are led, and where their replicas are, with real clients. */
import assert from 'node:assert/strict';
import * as amqp from 'amqplib';
import { describe, it } from 'node:test';
import { fetchCluster } from '../../src/cli/api-client.js';
import { ClusterProcesses } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { finished } from './support/command.js';

const waitMs = 30_000;

describe('placements', { timeout: 180_000 }, () => {
  it('S64: follow-consumers: a queue’s primary goes to where its consumers are, unnoticed by them', async (t) => {
    await using cluster = await clusterOf(3, ['--placement', 'follow-consumers']);
    const [near, , far] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    const received: number[] = [];
    let flagged = 0;
    await using there = await connect(near.amqpUrl);
    await using here = await connect(far.amqpUrl);
    const publisher = await there.connection.createConfirmChannel();
    const consumer = await here.connection.createChannel();
    await publisher.assertQueue('followed');
    assert.equal(await cluster.processes.leaderOf('followed'), near, 'it begins where it is declared');
    await consumer.prefetch(10);
    await consumer.consume('followed', (message) => {
      received.push(Number(message!.content.toString()));
      if (message!.fields.redelivered) flagged++;
      consumer.ack(message!);
    });
    let sent = 0;
    const from = performance.now();
    for (let moved = false; !moved; moved = (await cluster.processes.leaderOf('followed')) === far) {
      assert.ok(performance.now() - from < waitMs, 'it stays where it was declared');
      for (let i = 0; i < 10; i++) publisher.sendToQueue('followed', Buffer.from(String(++sent)));
      await publisher.waitForConfirms();
    }
    await eventually('all are received', () => Promise.resolve(received.length >= sent));
    t.diagnostic(`moved after ${(performance.now() - from).toFixed()} ms and ${sent} messages`);
    assert.deepEqual(
      received,
      Array.from({ length: sent }, (_, i) => i + 1),
    );
    assert.equal(flagged, 0);
  });

  it('S64: time-shared: nodes with consumers lead in turn', async () => {
    await using cluster = await clusterOf(3, ['--placement', 'time-shared', '--time-share', '1s']);
    const leaders = new Set<string>();
    const connections = await Promise.all(cluster.nodes.slice(1).map((node) => connect(node.amqpUrl)));
    try {
      for (const { connection } of connections) {
        const channel = await connection.createChannel();
        await channel.assertQueue('shared');
        await channel.consume('shared', () => {});
      }
      await eventually('both have led', async () => {
        leaders.add((await cluster.processes.leaderOf('shared'))?.name ?? '');
        return leaders.has('n2') && leaders.has('n3');
      });
    } finally {
      for (const one of connections) await one[Symbol.asyncDispose]();
    }
  });

  it('ring: neighbours are backups, and adjust when a node comes between them; a replica can be moved', async () => {
    await using cluster = await clusterOf(5, ['--placement', 'ring', '--groups', '5']);
    const replicas = async (): Promise<Record<number, string>> => {
      const { groups } = await fetchCluster(cluster.nodes[0]!.httpUrl);
      return Object.fromEntries(groups.filter(({ id }) => id > 0).map((group) => [group.id, group.inSync.join(' ')]));
    };
    await eventually('all groups are on neighbours', async () => {
      const found = await replicas();
      return Object.entries(found).every(([group, nodes]) => {
        const expected = [0, 1, 2].map((next) => `n${((Number(group) - 1 + next) % 5) + 1}`);
        return nodes.split(' ').sort().join() === expected.sort().join();
      });
    });
    const { code, stderr } = await finished([
      ...['transfer', '1', 'n5', '--backup', 'n2', '--url', cluster.nodes[0]!.httpUrl.origin],
    ]);
    assert.equal(code, 0, stderr);
    assert.deepEqual((await replicas())[1]!.split(' ').sort(), ['n1', 'n3', 'n5']);
  });
});

async function connect(url: string) {
  const connection = await amqp.connect(url);
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

async function clusterOf(count: number, options: readonly string[]) {
  const processes = await ClusterProcesses.start(count, options);
  return { processes, nodes: processes.nodes, [Symbol.asyncDispose]: () => processes.close(false) };
}

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + waitMs; !(await isSo()); ) {
    assert.ok(performance.now() < deadline, `not within ${waitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
