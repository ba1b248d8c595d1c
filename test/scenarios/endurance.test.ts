/** Everything that can happen, for half a minute; test/long/soak.test.ts does it for longer. */
import '../support/own-network.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEtcdCluster } from '../support/etcd-cluster.js';
import { Hosts } from '../support/hosts.js';
import { NumberedRun } from '../support/numbered-run.js';
import { Seeded } from '../support/seeded.js';
import { soak } from '../support/soak.js';
import { assertFaultless, figures } from '../support/verdict.js';

const rounds = 5;
const timeout = 150_000;

test(`S69, S70, S93: ${rounds} rounds of faults by chance, and clients that misbehave on every node`, {
  timeout,
}, async (t) => {
  const random = Seeded.fromEnvironment();
  t.diagnostic(`UNDERSTUDY_SEED=${random.seed}`);
  const hosts = Hosts.make(6);
  const setup = await startEtcdCluster({ options: ['--lease', '1s'], hosts: hosts.all });
  const run = new NumberedRun(setup.cluster.amqpUrls, [
    ...['--prefix', 'soak', '--rate', '150', '--publishers', '4', '--consumers', '4'],
  ]);
  let well = false;
  try {
    await run.more(100);
    await soak(
      { ...setup, hosts, random },
      run,
      (round) => round < rounds,
      (text) => t.diagnostic(text),
    );
    const result = await run.finish();
    t.diagnostic(figures(result));
    assertFaultless(result, setup.cluster);
    for (const node of setup.cluster.nodes) {
      assert.notEqual(node.pid, 0, `${node.name} runs`);
      assert.deepEqual(node.loggedErrors, []);
    }
    well = true;
  } finally {
    run.kill();
    await setup.close(well);
  }
});
