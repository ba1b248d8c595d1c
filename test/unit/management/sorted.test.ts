import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Pace } from '../../../src/management/pace.js';
import { compareTexts, sorted } from '../../../src/management/sorted.js';

test('sorts as Array.sort does, stably', async () => {
  const pace = new Pace((run) => void setImmediate(run));
  const pairs = fc.array(fc.tuple(fc.nat(20), fc.nat()), { maxLength: 3000, size: 'max' });
  await fc.assert(
    fc.asyncProperty(pairs, async (items) => {
      const compare = ([a]: [number, number], [b]: [number, number]): number => a - b;
      assert.deepEqual(await sorted(items, compare, pace), [...items].sort(compare));
    }),
    { numRuns: 30 },
  );
});

test('lets others have their turn', async () => {
  let turns = 0;
  const pace = new Pace((run) => {
    turns++;
    setImmediate(run);
  });
  const names = Array.from({ length: 100_000 }, (_, i) => `name ${(i * 7919) % 100_003}`);
  const result = await sorted(names, compareTexts, pace);
  assert.deepEqual(result.slice(0, 3), ['name 0', 'name 1', 'name 10']);
  assert.ok(turns > 5, `${turns} turns`);
});

test('all that wait for the next turn share what it has time for', async () => {
  const waiting: (() => void)[] = [];
  const pace = new Pace((run) => waiting.push(run));
  const both = Promise.all([pace.next(), pace.next()]);
  assert.equal(waiting.length, 1);
  waiting[0]!();
  await both;
  assert.equal(pace.isOver, false);
  void pace.next();
  assert.equal(waiting.length, 2);
});
