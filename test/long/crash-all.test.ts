/** All nodes die at once, UNDERSTUDY_ROUNDS times (default 20); about four minutes. */
import { test } from 'node:test';
import { killAllRound } from '../support/all-at-once.js';
import { figures } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const rounds = Number(process.env['UNDERSTUDY_ROUNDS'] ?? 20);

test(`${rounds} rounds of kill -9 of all nodes at once: each replica has what was confirmed`, async (t) => {
  await withCluster([], async (cluster) => {
    for (let round = 1; round <= rounds; round++) {
      const { result, gapMs } = await killAllRound(cluster, round);
      t.diagnostic(`round ${round}: no confirms for ${gapMs} ms; ${figures(result)}`);
    }
  });
});
