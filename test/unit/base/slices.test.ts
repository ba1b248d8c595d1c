import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fullSlices, SlicedWalk } from '../../../src/base/slices.js';

function* steps(count: number, work: number, seen: number[]): Generator<number, void> {
  for (let i = 0; i < count; i++) {
    seen.push(i);
    yield work;
  }
}

/** What was put off, and how to run it. */
function setup() {
  const put: (() => void)[] = [];
  return { slices: fullSlices((run) => put.push(run)), next: (): void => put.shift()?.(), put };
}

it('a walk does so much in a turn, and says once that it is over', () => {
  const { slices, next, put } = setup();
  const seen: number[] = [];
  let over = 0;
  const walk = new SlicedWalk(steps(10, 2, seen), 8, slices, () => over++);
  assert.equal(seen.length, 4);
  next();
  assert.equal(over, 0);
  next();
  assert.deepEqual([seen.length, over, walk.isOver, put.length], [10, 1, true, 0]);
  walk.finish();
  assert.equal(over, 1);
});

it('a short walk is over at once', () => {
  const { slices, put } = setup();
  const walk = new SlicedWalk(steps(3, 1, []), 8, slices);
  assert.deepEqual([walk.isOver, put.length], [true, 0]);
});

it('a walk can be finished at once, or stopped', () => {
  const { slices, next, put } = setup();
  const seen: number[] = [];
  let over = 0;
  new SlicedWalk(steps(100, 1, seen), 8, slices, () => over++).finish();
  assert.deepEqual([seen.length, over], [100, 1]);
  next();
  const stopped = new SlicedWalk(steps(100, 1, seen), 8, slices, () => over++);
  stopped.stop();
  next();
  stopped.finish();
  assert.deepEqual([over, put.length], [1, 0]);
});
