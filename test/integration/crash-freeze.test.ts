/**
 * Primaries are frozen, replaced, and thaw again, while clients stay connected to them: what they then confirm is in the
 * queue, what they then deliver is no unflagged duplicate, and nothing of their old epoch counts.
 */
import { test } from 'node:test';
import { sleep } from '../support/cluster-processes.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures, latePackets, queueNames } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const rounds = 8;
const queues = queueNames('freeze', 4);

test(`S51: ${rounds} rounds of SIGSTOP of a primary, and SIGCONT`, { timeout: 180_000 }, async (t) => {
  await withCluster(['--lease', '1s'], async (cluster) => {
    // Two consumers a queue, on different nodes: one holds messages on the frozen node, another is given them meanwhile.
    const run = new NumberedRun(cluster.amqpUrls, [
      '--prefix',
      'freeze',
      '--rate',
      '500',
      '--publishers',
      '6',
      '--consumers',
      '8',
    ]);
    try {
      await run.more(200);
      for (let round = 1; round <= rounds; round++) {
        const queue = queues[round % queues.length]!;
        const primary = (await cluster.leaderOf(queue))!;
        const from = Date.now();
        primary.freeze();
        const replacedMs = await cluster.untilReplaced(queue, primary);
        await sleep((round % 4) * 100);
        primary.thaw();
        await cluster.untilComplete();
        await run.more(100);
        t.diagnostic(
          `round ${round}: ${primary.name} frozen, replaced after ${replacedMs.toFixed()} ms, whole after ${Date.now() - from} ms, ` +
            `longest gap ${run.longestGap(from)} ms`,
        );
      }
      const result = await run.finish();
      t.diagnostic(`${figures(result)}, of these late packets ${latePackets(result, cluster)}`);
      assertFaultless(result, cluster);
    } finally {
      run.kill();
    }
  });
});
