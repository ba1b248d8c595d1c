/** A join under load, in small; test/long/join-under-load.test.ts does it with a million messages. */
import { test } from 'node:test';
import { startEtcdCluster } from '../support/etcd-cluster.js';
import { assertJoin, describeJoin, joinUnderLoad } from '../support/join-under-load.js';

const messages = 10_000;
const rate = 400;

test('S68: a node with an empty disk joins under load', { timeout: 120_000 }, async (t) => {
  const { cluster, close } = await startEtcdCluster();
  let well = false;
  try {
    const figures = await joinUnderLoad(cluster, messages, rate);
    t.diagnostic(describeJoin(figures));
    assertJoin(figures, { joinedMsMax: 60_000, share: 0.7, rate });
    well = true;
  } finally {
    await close(well);
  }
});
