/** Links of AMQP 1.0 that are resumed, with real processes; many kills: test/long/resumption.test.ts. The rules: test/conformance. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runResumed } from '../support/resumed-run.js';
import { withCluster } from '../support/with-cluster.js';

it('a sender and a receiver that resume over kills of the primary: every message exactly once', async () => {
  await withCluster([], async (cluster) => {
    const messages = 600;
    const { doubled, missing, outcomes, left, troubles } = await runResumed(cluster, { messages, kills: 2 });
    assert.deepEqual(
      { doubled, missing, outcomes, left },
      { doubled: [], missing: [], outcomes: { accepted: messages }, left: 0 },
    );
    assert.ok(troubles.length > 0, 'no connection was lost');
  });
});
