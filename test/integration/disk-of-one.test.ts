/** The disk of one node of three fills up: the others serve everything, and are told nothing that is not so. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { fetchCluster } from '../../src/cli/api-client.js';
import { ClusterProcesses } from '../support/cluster-processes.js';
import type { NodeProcess } from '../support/node-process.js';
import { NumberedRun } from '../support/numbered-run.js';
import { SmallDisk } from '../support/small-disk.js';
import { assertFaultless, figures } from '../support/verdict.js';

const mebibyte = 1024 * 1024;
const waitMs = 30_000;

describe('a disk of one node', { timeout: 120_000 }, () => {
  it('S84: fills up: the node gives away what it leads, says so, and leads again when there is space', async (t) => {
    using disk = new SmallDisk(400 * mebibyte);
    const cluster = await ClusterProcesses.prepare(3);
    mkdirSync(join(disk.path, 'n1'));
    symlinkSync(join(disk.path, 'n1'), join(cluster.folder, 'n1'));
    const [first, second, third] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    try {
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      const led = async (): Promise<number> => {
        const { groups } = await fetchCluster(second.httpUrl);
        return groups.filter(({ primary }) => primary === 'n1').length;
      };
      await eventually('n1 leads its share', async () => (await led()) > 0);
      const run = new NumberedRun([second.amqpUrl, third.amqpUrl], ['--prefix', 'full', '--rate', '200', ...clients]);
      try {
        await run.more(100);
        // Below the low-water mark, and room for what is on its way.
        disk.fillUp(40 * mebibyte);
        await eventually('n1 leads nothing', async () => (await led()) === 0);
        const { members } = await fetchCluster(second.httpUrl);
        assert.equal(members.find(({ name }) => name === 'n1')!.ailing, 'low on disk');
        await run.more(200);
        disk.relieve();
        await eventually('n1 leads again', async () => (await led()) > 0);
        await cluster.untilComplete();
        const result = await run.finish();
        t.diagnostic(figures(result));
        assert.deepEqual({ again: result.sentAgain, flagged: result.flagged }, { again: 0, flagged: 0 });
        assertFaultless(result, cluster);
      } finally {
        run.kill();
      }
      assert.ok((await fetchCluster(first.httpUrl)).members.every(({ ailing }) => ailing === undefined));
    } finally {
      await cluster.close(false);
    }
  });

  it('fills up, and holds up the publishers of all nodes if that is its alarm', async () => {
    using disk = new SmallDisk(400 * mebibyte);
    const cluster = await ClusterProcesses.prepare(3, ['--disk-alarm', 'cluster']);
    mkdirSync(join(disk.path, 'n1'));
    symlinkSync(join(disk.path, 'n1'), join(cluster.folder, 'n1'));
    const [, second] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    try {
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await cluster.untilComplete();
      const told: string[] = [];
      const connection = await amqp.connect(second.amqpUrl);
      connection.on('error', () => {});
      connection.on('blocked', (reason: string) => told.push(reason));
      connection.on('unblocked', () => told.push(''));
      const channel = await connection.createConfirmChannel();
      channel.on('error', () => {});
      const { queue } = await channel.assertQueue('orders', { durable: true });
      const publish = (): void => void channel.sendToQueue(queue, Buffer.from('message'), { persistent: true });
      publish();
      await channel.waitForConfirms();
      disk.fillUp(40 * mebibyte);
      // The disk is looked at every second while something is written to it.
      await eventually('a publisher on another node is told', async () => {
        if (told.length === 0) publish();
        return Promise.resolve(told.length > 0);
      });
      assert.deepEqual(told, ['low on disk: node n1']);
      const { members } = await fetchCluster(second.httpUrl);
      assert.deepEqual(
        members.map(({ alarms }) => alarms),
        [['disk'], undefined, undefined],
      );
      disk.relieve();
      await eventually('it is told that it is over', () => Promise.resolve(told.length > 1));
      assert.deepEqual(told.slice(1), ['']);
      await channel.waitForConfirms();
      await connection.close();
    } finally {
      await cluster.close(false);
    }
  });
});

const clients = ['--publishers', '4', '--consumers', '4'];

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + waitMs; !(await isSo()); ) {
    assert.ok(performance.now() < deadline, `not within ${waitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
