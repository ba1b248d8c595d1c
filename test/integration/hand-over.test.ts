/** Groups go from node to node as operators want, under real clients: nothing is lost, repeated, flagged or reordered (rule 20). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fetchCluster } from '../../src/cli/api-client.js';
import type { ClusterProcesses } from '../support/cluster-processes.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';
import { finished } from './support/command.js';

const load = ['--rate', '500', '--publishers', '4', '--consumers', '4'];
/** A move pauses a queue for less than 100 ms; machines of tests are slow. */
const gapMsMax = 1000;

describe('groups that are given away', { timeout: 120_000 }, () => {
  it('S62: by transfers, one after the other, and a drained node: clients notice nothing', async (t) => {
    await withCluster([], async (cluster) => {
      const run = new NumberedRun(cluster.amqpUrls, ['--prefix', 'moved', ...load]);
      try {
        await run.more(200);
        const from = Date.now();
        for (const group of ['system', '1', '2', '3', '4', '5']) {
          const { primary } = await groupOf(cluster, group);
          const to = cluster.nodes.find((node) => node.name !== primary)!;
          assert.equal(await understudy(cluster, 'transfer', group, to.name), `group ${group} is led by ${to.name}\n`);
        }
        assert.equal(await understudy(cluster, 'drain', 'n2'), 'n2 leads nothing\n');
        await run.more(200);
        assert.equal(await understudy(cluster, 'revive', 'n2'), 'n2 may lead again\n');
        await run.more(200);
        const result = await run.finish();
        t.diagnostic(`${figures(result)}, of moves ${run.longestGap(from)} ms`);
        assertUnnoticed(result, run.longestGap(from));
        assertFaultless(result, cluster);
      } finally {
        run.kill();
      }
    });
  });

  it('by a restart of each node in turn, with SIGTERM: clients of other nodes notice nothing', async (t) => {
    await withCluster([], async (cluster) => {
      for (const node of cluster.nodes) {
        const others = cluster.nodes.filter((other) => other !== node).map(({ amqpUrl }) => amqpUrl);
        const run = new NumberedRun(others, ['--prefix', `stopped-${node.name}`, ...load]);
        try {
          await run.more(200);
          const from = Date.now();
          await node.stop();
          await run.more(100);
          await node.start();
          await cluster.untilComplete();
          await run.more(100);
          const result = await run.finish();
          t.diagnostic(`${node.name}: ${figures(result)}, of moves ${run.longestGap(from)} ms`);
          assertUnnoticed(result, run.longestGap(from));
          assertFaultless(result, cluster);
        } finally {
          run.kill();
        }
      }
    });
  });

  it('says what stands against it', async () => {
    await withCluster([], async (cluster) => {
      await assert.rejects(understudy(cluster, 'transfer', '99', 'n1'), /there is no group 99/);
      await assert.rejects(understudy(cluster, 'transfer', '1', 'n9'), /there is no node n9: there are n1, n2, n3/);
      await understudy(cluster, 'drain', 'n2');
      await assert.rejects(understudy(cluster, 'transfer', '1', 'n2'), /n2, which is being drained/);
      await cluster.node('n3').kill();
      await assert.rejects(understudy(cluster, 'drain', 'n1', '--timeout', '1'), /n1 still leads \d+ groups after 1 s/);
    });
  });
});

/** No client sent anything twice, got anything twice, or a flag; none waited long. */
function assertUnnoticed(
  result: { sentAgain: number; flagged: number; sent: number; delivered: number },
  gapMs: number,
) {
  const { sentAgain, flagged, sent, delivered } = result;
  assert.deepEqual({ sentAgain, flagged, delivered }, { sentAgain: 0, flagged: 0, delivered: sent });
  assert.ok(gapMs < gapMsMax, `a publisher waited ${gapMs} ms`);
}

async function groupOf(cluster: ClusterProcesses, group: string): Promise<{ primary: string }> {
  const { groups } = await fetchCluster(cluster.nodes[0]!.httpUrl);
  return groups.find(({ id }) => id === (group === 'system' ? 0 : Number(group)))!;
}

/** Resolves to what it says; rejects with what it complains of. */
async function understudy(cluster: ClusterProcesses, ...args: string[]): Promise<string> {
  const urls = cluster.awake.map((node) => node.httpUrl.origin).join(',');
  const { code, stdout, stderr } = await finished([...args, '--url', urls]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}
