/**
 * A node with an empty disk joins while a million messages of 1 KiB wait, and 20,000 a second are published and consumed; some minutes.
 * UNDERSTUDY_JOIN_MESSAGES and UNDERSTUDY_JOIN_RATE set other numbers. The figures need a machine with nothing else to do.
 */
import { test } from 'node:test';
import { startEtcdCluster } from '../support/etcd-cluster.js';
import { assertJoin, describeJoin, joinUnderLoad } from '../support/join-under-load.js';

const messages = Number(process.env['UNDERSTUDY_JOIN_MESSAGES'] ?? 1_000_000);
const rate = Number(process.env['UNDERSTUDY_JOIN_RATE'] ?? 20_000);
const joinedMsMax = 120_000;

test(`a node joins while ${messages} messages wait, at ${rate} messages a second`, { timeout: 900_000 }, async (t) => {
  const { cluster, close } = await startEtcdCluster();
  let well = false;
  try {
    const figures = await joinUnderLoad(cluster, messages, rate);
    t.diagnostic(describeJoin(figures));
    assertJoin(figures, { joinedMsMax, share: 0.95, rate });
    well = true;
  } finally {
    await close(well);
  }
});
