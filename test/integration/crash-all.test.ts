/** All nodes die at once; or all but one, for good. What was confirmed is there. */
import { test } from 'node:test';
import { killAllRound } from '../support/all-at-once.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const rounds = 2;

test(`${rounds} rounds of kill -9 of all nodes at once: each replica has what was confirmed`, {
  timeout: 180_000,
}, async (t) => {
  await withCluster([], async (cluster) => {
    for (let round = 1; round <= rounds; round++) {
      const { result, gapMs } = await killAllRound(cluster, round);
      t.diagnostic(`round ${round}: no confirms for ${gapMs} ms; ${figures(result)}`);
    }
  });
});

test('S54: two of three replicas are killed for good: the last serves everything confirmed', {
  timeout: 90_000,
}, async (t) => {
  await withCluster([], async (cluster) => {
    const run = new NumberedRun(cluster.amqpUrls, ['--prefix', 'last', '--publishers', '4', '--consumers', '4']);
    try {
      await run.more(500);
      const from = Date.now();
      const [, ...dying] = cluster.nodes;
      await Promise.all(dying.map((node) => node.kill()));
      await run.more(500);
      const result = await run.finish();
      t.diagnostic(`longest gap ${run.longestGap(from)} ms; ${figures(result)}`);
      assertFaultless(result, cluster);
    } finally {
      run.kill();
    }
  });
});
