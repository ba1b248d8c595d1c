/**
 * The tests of RabbitMQ's Go client, against one broker and through a node of a cluster that leads nothing. A minute, most of it for
 * fetching and building them.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { type Outcome, runSome, runSuite, uncovered } from '../../tools/go-client/suite.js';
import { startCluster } from '../conformance/targets/cluster.js';
import { startOne } from '../conformance/targets/one-broker.js';
import type { Target } from '../conformance/targets/target.js';

/** Those that are not run, since they would end the others, not among them. */
const testsMin = 110;
/** Some of them give a message 200 ms to arrive, or a second: on a busy machine they are asked again. */
const attemptsMax = 3;

async function assertCovered(target: Target): Promise<void> {
  const outcomes = await runSuite(target.port);
  assert.ok(outcomes.length >= testsMin, `${outcomes.length} tests`);
  const known = new Set(uncovered.map(({ name }) => name));
  let failed: Outcome[] = outcomes.filter(({ isPassed }) => !isPassed);
  const unknown = (): Outcome[] => failed.filter(({ name }) => !known.has(name));
  for (let attempt = 2; attempt <= attemptsMax && unknown().length > 0; attempt++) {
    const again = await runSome(
      target.port,
      unknown().map(({ name }) => name),
    );
    failed = [...failed.filter(({ name }) => known.has(name)), ...again.filter(({ isPassed }) => !isPassed)];
  }
  const hasFailed = (name: string): boolean => failed.some((outcome) => outcome.name === name);
  const wanted = uncovered.filter(({ name, endsAll, isRace }) => !endsAll && (!isRace || hasFailed(name)));
  assert.deepEqual(
    failed.map(({ name }) => name).sort(),
    wanted.map(({ name }) => name).sort(),
    failed.map(({ name, text }) => `${name}: ${text}`).join('\n'),
  );
  console.log(`${target.name}: ${outcomes.length} tests, ${failed.length} failed as listed`);
}

describe('the tests of the Go client', () => {
  for (const start of [startOne, startCluster])
    it(`pass, but for those listed: ${start === startOne ? 'one broker' : 'a cluster'}`, async () => {
      await using target = await start();
      await assertCovered(target);
    });

  it('that cannot pass are listed in the protocol guide, with the reason', async () => {
    const guide = await readFile('docs/protocols/amqp091.md', 'utf8');
    for (const { name, reason } of uncovered) assert.ok(guide.includes(`| \`${name}\` | ${reason} |`), name);
  });
});
