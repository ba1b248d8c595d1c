import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation, type RunResult } from '../../../sim/simulation.js';
import type { Defects } from './defects.js';
import { perfectBrokers } from './perfect-broker.js';

const run = (seed: number, defects: Partial<Defects> = {}): Promise<RunResult> =>
  new Simulation({ seed, createProcess: perfectBrokers(defects), kinds: [], resumes: false }).run();

test('nothing is found in a broker without a defect', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const result = await run(seed);
    assert.equal(result.finding, undefined, `seed ${seed}: ${result.finding?.checker}: ${result.finding?.message}`);
    assert.ok(result.operations >= 500, `seed ${seed}: ${result.operations} operations`);
    assert.ok(result.faults >= 5, `seed ${seed}: ${result.faults} faults`);
  }
});

test('a seed replays exactly', async () => {
  const [first, second, other] = [await run(3), await run(3), await run(4)];
  assert.equal(first.hash, second.hash);
  assert.equal(first.trace, second.trace);
  assert.notEqual(first.hash, other.hash);
});

const expected: Record<keyof Defects, string[]> = {
  lose: ['confirmed-not-lost'],
  double: ['no-unflagged-duplicate'],
  unflagged: ['no-unflagged-duplicate'],
  requeueAtEnd: ['requeue-place', 'confirmed-not-lost'],
  misorder: ['publish-order'],
  forgetAck: ['settled-never-back', 'no-duplicate-without-failure'],
  hang: ['nothing-hangs'],
  twoHolders: ['one-holder', 'no-duplicate-without-failure'],
  byName: ['right-queue'],
};

for (const [defect, checkers] of Object.entries(expected)) {
  test(`planted defect "${defect}" is found`, async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { finding } = await run(seed, { [defect]: true });
      if (finding === undefined) continue;
      assert.ok(checkers.includes(finding.checker), `${finding.checker}: ${finding.message}`);
      return;
    }
    assert.fail('not found in 100 seeds');
  });
}
