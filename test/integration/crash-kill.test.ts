/** Primaries are killed, one after the other, under real clients: nothing confirmed is lost, no duplicate comes unflagged. */
import { test } from 'node:test';
import { sleep } from '../support/cluster-processes.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures, queueNames } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const rounds = 8;
const queues = queueNames('kill', 4);

test(`S11: ${rounds} rounds of kill -9 of a primary, and restart`, { timeout: 120_000 }, async (t) => {
  await withCluster([], async (cluster) => {
    const run = new NumberedRun(cluster.amqpUrls, [
      '--prefix',
      'kill',
      '--rate',
      '500',
      '--publishers',
      '4',
      '--consumers',
      '4',
    ]);
    try {
      await run.more(200);
      for (let round = 1; round <= rounds; round++) {
        const queue = queues[round % queues.length]!;
        const primary = (await cluster.leaderOf(queue))!;
        const from = Date.now();
        await primary.kill();
        const replacedMs = await cluster.untilReplaced(queue, primary);
        await sleep((round % 4) * 100);
        await primary.start();
        await cluster.untilComplete();
        await run.more(100);
        t.diagnostic(
          `round ${round}: ${primary.name} killed, replaced after ${replacedMs.toFixed()} ms, whole after ${Date.now() - from} ms, ` +
            `longest gap ${run.longestGap(from)} ms`,
        );
      }
      const result = await run.finish();
      t.diagnostic(figures(result));
      assertFaultless(result, cluster);
    } finally {
      run.kill();
    }
  });
});
