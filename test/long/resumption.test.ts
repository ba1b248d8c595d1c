/**
 * A sender and a receiver that resume their links (AMQP 1.0, settle mode second) over kill -9 of their queue's primary: every message exactly
 * once. UNDERSTUDY_MESSAGES (default 10,000) and UNDERSTUDY_KILLS (default 20) set the size; some minutes.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runResumed } from '../support/resumed-run.js';
import { withCluster } from '../support/with-cluster.js';

const messages = Number(process.env['UNDERSTUDY_MESSAGES'] ?? 10_000);
const kills = Number(process.env['UNDERSTUDY_KILLS'] ?? 20);

it(`${messages} messages over ${kills} kills of the primary, each exactly once`, async () => {
  await withCluster([], async (cluster) => {
    const { doubled, missing, outcomes, left, troubles } = await runResumed(cluster, { messages, kills });
    console.log(`${troubles.length} connections were lost, or tries failed`);
    assert.deepEqual(
      { doubled, missing, outcomes, left },
      { doubled: [], missing: [], outcomes: { accepted: messages }, left: 0 },
    );
  });
});
