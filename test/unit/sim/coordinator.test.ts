import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimCoordinator } from '../../../sim/coordinator.js';
import { EventLoop } from '../../../sim/event-loop.js';
import { SimRandom } from '../../../sim/random.js';
import type { Coordinator, Entry } from '../../../src/cluster/coordinator/coordinator.js';

function rig(seed = 1): { loop: EventLoop; coordinator: SimCoordinator; a: Coordinator; b: Coordinator } {
  const loop = new EventLoop();
  const coordinator = new SimCoordinator(loop, new SimRandom(seed), { latencyMs: 0.5, watchDelayMs: 1 });
  return {
    loop,
    coordinator,
    a: coordinator.open('a', loop.context('a')),
    b: coordinator.open('b', loop.context('b')),
  };
}

test('a swap is all or nothing, and compares versions', async () => {
  const { loop, a, b } = rig();
  let checked = false;
  loop.after(0, null, () => {
    void (async (): Promise<void> => {
      const first = await a.swap([
        { key: 'x', expect: 0, value: '1' },
        { key: 'y', expect: 0, value: '1' },
      ]);
      assert.equal(first.ok, true);
      const second = await b.swap([
        { key: 'x', expect: first.entries[0]!.version, value: '2' },
        { key: 'y', expect: 0, value: '2' },
      ]);
      assert.equal(second.ok, false);
      assert.deepEqual((await b.read('')).map((entry) => entry.value).sort(), ['1', '1']);
      checked = true;
    })();
  });
  await loop.run();
  assert.ok(checked);
});

test('a lost answer is reported as unknown: done, not done, or done later', async () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const { loop, coordinator, a } = rig(seed);
    coordinator.lostAnswers = 1;
    let atAnswer = 'none';
    loop.after(0, null, () => {
      a.swap([{ key: 'x', expect: 0, value: '1' }]).catch((error: Error) => {
        assert.equal(error.name, 'OutcomeUnknownError');
        atAnswer = coordinator.peek('x') === undefined ? 'not yet' : 'done';
      });
    });
    await loop.run();
    outcomes.add(`${atAnswer}, ${coordinator.peek('x') === undefined ? 'never' : 'done'}`);
  }
  assert.deepEqual([...outcomes].sort(), ['done, done', 'not yet, done', 'not yet, never']);
});

test('who is cut off is told so, and changes nothing', async () => {
  const { loop, coordinator, a } = rig();
  coordinator.cut('a');
  let name = '';
  loop.after(0, null, () => {
    a.swap([{ key: 'x', expect: 0, value: '1' }]).catch((error: Error) => {
      name = error.name;
    });
  });
  await loop.run();
  assert.equal(name, 'CoordinatorUnavailableError');
  assert.equal(coordinator.peek('x'), undefined);
});

test('a watch reports the newest state of each key, after an outage too', async () => {
  const { loop, coordinator, a, b } = rig();
  const seen = new Map<string, Entry>();
  b.watch('k/', (entries) => {
    for (const entry of entries) seen.set(entry.key, entry);
  });
  coordinator.cut('b');
  loop.after(0, null, () => {
    void a.swap([{ key: 'k/1', expect: 0, value: 'v' }]).then(async ({ entries }) => {
      await a.swap([{ key: 'k/1', expect: entries[0]!.version, value: 'w' }]);
      await a.swap([{ key: 'other', expect: 0, value: 'w' }]);
    });
  });
  await loop.run();
  assert.equal(seen.size, 0);
  coordinator.heal();
  await loop.run();
  assert.deepEqual(
    [...seen.values()].map((entry) => [entry.key, entry.value]),
    [['k/1', 'w']],
  );
});
