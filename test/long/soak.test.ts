/**
 * Everything that can happen, for half an hour: as test/scenarios/endurance.test.ts, with more messages, and an eye on memory and logs.
 * UNDERSTUDY_SOAK_MINUTES sets how long (default 30), UNDERSTUDY_SOAK_RATE how many messages a second there are (default 5000). The seed is
 * printed; UNDERSTUDY_SEED repeats its choices (not the moments at which they hit).
 */
import '../support/own-network.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEtcdCluster } from '../support/etcd-cluster.js';
import { Hosts } from '../support/hosts.js';
import { NumberedRun } from '../support/numbered-run.js';
import { Seeded } from '../support/seeded.js';
import { soak } from '../support/soak.js';
import { assertFaultless, figures, latePackets } from '../support/verdict.js';

const minutes = Number(process.env['UNDERSTUDY_SOAK_MINUTES'] ?? 30);
const rate = Number(process.env['UNDERSTUDY_SOAK_RATE'] ?? 5000);
const publishers = 6;
const mebibyte = 1024 * 1024;
/** `memory` and what docs/operations.md adds to it; the messages of a soak are few at any time. */
const rssBytesMax = 456 * mebibyte;

test(`${minutes} minutes of faults by chance, at ${rate} messages a second`, async (t) => {
  const random = Seeded.fromEnvironment();
  t.diagnostic(`UNDERSTUDY_SEED=${random.seed}`);
  const hosts = Hosts.make(6);
  const setup = await startEtcdCluster({ hosts: hosts.all });
  const { cluster } = setup;
  const run = new NumberedRun(cluster.amqpUrls, [
    ...[
      '--prefix',
      'soak',
      '--rate',
      String(Math.ceil(rate / publishers)),
      '--publishers',
      String(publishers),
      '--consumers',
      '8',
    ],
  ]);
  const until = performance.now() + minutes * 60_000;
  let well = false;
  try {
    await run.more(1000);
    await soak(
      { ...setup, hosts, random },
      run,
      () => performance.now() < until,
      (text) => {
        const memory = cluster.nodes.map(({ rssBytes }) => Math.round(rssBytes / mebibyte));
        t.diagnostic(`${text}; resident ${memory.join(', ')} MiB`);
        assert.ok(Math.max(...memory) * mebibyte < rssBytesMax, `resident ${memory.join(', ')} MiB`);
      },
    );
    const result = await run.finish();
    t.diagnostic(`${figures(result)}, of these late packets ${latePackets(result, cluster)}`);
    assertFaultless(result, cluster);
    for (const node of cluster.nodes) assert.deepEqual(node.loggedErrors, []);
    well = true;
  } finally {
    run.kill();
    await setup.close(well);
  }
});
