import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimClock } from '../../../sim/clock.js';
import { EventLoop } from '../../../sim/event-loop.js';
import { SimRandom } from '../../../sim/random.js';

test('events run by time, then in the order of asking', async () => {
  const loop = new EventLoop();
  const seen: string[] = [];
  loop.after(2, null, () => seen.push('c'));
  loop.after(1, null, () => seen.push('a'));
  loop.after(1, null, () => seen.push('b'));
  await loop.run();
  assert.deepEqual(seen, ['a', 'b', 'c']);
  assert.equal(loop.now, 2);
});

for (const synchronous of [true, false]) {
  test(`promises settle before the next event (${synchronous ? 'synchronous' : 'through setImmediate'})`, async () => {
    const loop = new EventLoop(synchronous);
    const seen: string[] = [];
    const deep = async (depth: number): Promise<void> => {
      if (depth > 0) await deep(depth - 1);
      await null;
    };
    loop.after(1, null, () => {
      void deep(20).then(() => seen.push('promise'));
    });
    loop.after(1, null, () => seen.push('event'));
    await loop.run();
    assert.deepEqual(seen, ['promise', 'event']);
  });
}

test('a dead context never runs again, not even what it awaits', async () => {
  const loop = new EventLoop();
  const context = loop.context('n1');
  const seen: string[] = [];
  const work = async (): Promise<void> => {
    seen.push('begin');
    await new Promise<void>((resolve) => {
      loop.after(5, context, resolve);
    });
    seen.push('end');
  };
  loop.after(1, context, () => void work());
  loop.after(3, null, () => loop.kill(context));
  await loop.run();
  assert.deepEqual(seen, ['begin']);
});

test('a frozen context gets its events when it thaws, in order, and its clock has jumped', async () => {
  const loop = new EventLoop();
  const context = loop.context('n1');
  const clock = new SimClock(loop, context, 1, 0);
  const seen: [string, number][] = [];
  for (const [name, at] of [
    ['a', 1],
    ['b', 4],
    ['c', 3],
  ] as const) {
    clock.after(at, () => seen.push([name, clock.now()]));
  }
  loop.at(2, null, () => loop.freeze(context));
  loop.at(10, null, () => loop.thaw(context));
  await loop.run();
  assert.deepEqual(seen, [
    ['a', 1],
    ['c', 10],
    ['b', 10],
  ]);
});

test('a slow context takes its time for each event', async () => {
  const loop = new EventLoop();
  const context = loop.context('n1');
  context.eventCostMs = 5;
  const seen: number[] = [];
  for (let i = 0; i < 3; i++) loop.at(1, context, () => seen.push(loop.now));
  await loop.run();
  assert.deepEqual(seen, [1, 6, 11]);
});

test('a clock that runs fast fires its timers early', async () => {
  const loop = new EventLoop();
  const clock = new SimClock(loop, loop.context('n1'), 2, 100);
  let fired = 0;
  clock.after(10, () => {
    fired = loop.now;
  });
  const every: number[] = [];
  const timer = clock.every(4, () => {
    every.push(loop.now);
    if (every.length === 3) timer.cancel();
  });
  await loop.run();
  assert.equal(fired, 5);
  assert.deepEqual(every, [2, 4, 6]);
});

test('equal runs have equal digests, different ones do not', async () => {
  const digest = async (seed: number): Promise<number> => {
    const loop = new EventLoop();
    const random = new SimRandom(seed);
    const again = (): void => {
      if (loop.now < 100) loop.after(random.float(), null, again);
    };
    loop.after(0, null, again);
    await loop.run();
    return loop.hash;
  };
  assert.equal(await digest(1), await digest(1));
  assert.notEqual(await digest(1), await digest(2));
});

test('forks of a generator do not depend on what was drawn before', () => {
  const a = new SimRandom(7);
  const b = new SimRandom(7);
  b.float();
  assert.equal(a.fork('disk').u32(), b.fork('disk').u32());
  assert.notEqual(a.fork('disk').u32(), a.fork('network').u32());
  const draws = Array.from({ length: 1000 }, () => a.int(10));
  assert.deepEqual(
    [...new Set(draws)].sort((x, y) => x - y),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});
