/**
 * Faults by chance under real clients; about five minutes. The seed is printed; UNDERSTUDY_SEED repeats its choices (not the
 * moments at which they hit), UNDERSTUDY_ROUNDS sets how many rounds there are (default 50).
 */
import { test } from 'node:test';
import { sleep } from '../support/cluster-processes.js';
import { NumberedRun } from '../support/numbered-run.js';
import { describeRound, drawRound, runRound } from '../support/random-faults.js';
import { Seeded } from '../support/seeded.js';
import { assertFaultless, figures, latePackets } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const rounds = Number(process.env['UNDERSTUDY_ROUNDS'] ?? 50);

test(`${rounds} rounds of kills and freezes by chance`, async (t) => {
  const random = Seeded.fromEnvironment();
  t.diagnostic(`UNDERSTUDY_SEED=${random.seed}`);
  await withCluster([], async (cluster) => {
    const run = new NumberedRun(cluster.amqpUrls, [
      '--prefix',
      'random',
      '--publishers',
      '6',
      '--consumers',
      '8',
      '--rate',
      '500',
    ]);
    try {
      await run.more(200);
      for (let number = 1; number <= rounds; number++) {
        const round = drawRound(cluster, random);
        const from = Date.now();
        await runRound(round);
        if (round.calm) {
          await cluster.untilComplete(60_000);
          await run.more(100);
        } else await sleep(random.int(500));
        t.diagnostic(
          `round ${number}: ${describeRound(round)}; over after ${Date.now() - from} ms, longest gap ${run.longestGap(from)} ms`,
        );
      }
      await cluster.untilComplete(60_000);
      const result = await run.finish();
      t.diagnostic(`${figures(result)}, of these late packets ${latePackets(result, cluster)}`);
      assertFaultless(result, cluster);
    } finally {
      run.kill();
    }
  });
});
