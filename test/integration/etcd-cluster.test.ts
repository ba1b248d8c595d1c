/** Three brokers on an etcd of three members: a primary is killed; all of etcd goes away for a while, and another with it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sleep } from '../support/cluster-processes.js';
import { EtcdProcesses } from '../support/etcd-processes.js';
import { NumberedRun } from '../support/numbered-run.js';
import { assertFaultless, figures, queueNames } from '../support/verdict.js';
import { withCluster } from '../support/with-cluster.js';

const [queue] = queueNames('etcd', 1) as [string];
/** Longer than any right that rests on a reading of etcd. */
const withoutEtcdMs = 3000;

test('failover with etcd, going on without it, and failover when it is back', { timeout: 120_000 }, async (t) => {
  await using etcd = await EtcdProcesses.start();
  await withCluster(['--coordinator', etcd.setting], async (cluster) => {
    const run = new NumberedRun(cluster.amqpUrls, [
      ...['--prefix', 'etcd', '--rate', '200', '--publishers', '4', '--consumers', '4'],
    ]);
    try {
      await run.more(200);
      let from = Date.now();
      const first = (await cluster.leaderOf(queue))!;
      await first.kill();
      const replacedMs = await cluster.untilReplaced(queue, first);
      await first.start();
      await cluster.untilComplete();
      await run.more(200);
      const gapMs = run.longestGap(from);
      t.diagnostic(`${first.name} killed, replaced after ${replacedMs.toFixed()} ms, longest gap ${gapMs} ms`);

      from = Date.now();
      await etcd.killAll();
      await sleep(withoutEtcdMs);
      await run.more(500);
      const silentGapMs = run.longestGap(from);
      t.diagnostic(`no etcd for ${Date.now() - from} ms, longest gap ${silentGapMs} ms`);
      assert.ok(silentGapMs < withoutEtcdMs, `no confirms for ${silentGapMs} ms`);

      const second = (await cluster.leaderOf(queue))!;
      await second.kill();
      from = Date.now();
      await etcd.startAll();
      await cluster.untilReplaced(queue, second);
      t.diagnostic(`${second.name} killed meanwhile, replaced ${Date.now() - from} ms after etcd's return began`);
      await run.more(200);
      const result = await run.finish();
      t.diagnostic(figures(result));
      assertFaultless(result, cluster);
    } finally {
      run.kill();
    }
  });
});
