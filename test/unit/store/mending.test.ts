/** Damage that was made good: by others' data, and then by getting rid of what is damaged. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DiskFault, FaultyDisk } from './faulty-disk.js';
import { Harness, until } from './harness.js';

const options = { segmentBytes: 16 * 1024 };
const hurtSegment = 'journal-0000000002.seg';

/** A journal of full segments, of which one has a damaged place or is missing. */
async function damagedDisk(damage: 'a bit' | 'the end' | 'missing'): Promise<FaultyDisk> {
  const disk = new FaultyDisk();
  const harness = await Harness.open(disk, options);
  for (let i = 0; i < 60; i++) {
    harness.group(1 + (i % 2)).enqueue(1000);
    await harness.settled();
  }
  harness.group(1).dequeue([...harness.group(1).index.keys()].slice(0, 10));
  await harness.settled();
  await harness.store.close();
  const hurt = disk.kill();
  const bytes = hurt.bytesOf(hurtSegment).slice();
  if (damage === 'a bit') bytes[bytes.length >> 1]! ^= 4;
  if (damage === 'missing') hurt.remove(hurtSegment);
  else hurt.replace(hurtSegment, damage === 'the end' ? bytes.slice(0, -2000) : bytes);
  return hurt;
}

function content(harness: Harness): number[][] {
  return [1, 2].map((group) => [...harness.group(group).index.keys()].sort((a, b) => a - b));
}

describe('a damaged journal', () => {
  for (const damage of ['a bit', 'the end', 'missing'] as const) {
    it(`is without damage once it is mended: ${damage}`, async () => {
      const disk = await damagedDisk(damage);
      const harness = await Harness.open(disk, options);
      assert.equal(harness.store.identity.damaged, true);
      assert.ok(harness.report.damaged.length > 0);
      const expected = content(harness);
      harness.store.mend();
      await harness.compact(4);
      assert.equal(harness.store.identity.damaged, false);
      assert.deepEqual(content(harness), expected);
      const again = await Harness.open(
        disk.crash(() => false),
        options,
      );
      assert.deepEqual(again.report.damaged, []);
      assert.equal(again.store.identity.damaged, false);
      assert.deepEqual(content(again), expected);
      for (const group of [1, 2])
        for (const position of again.group(group).index.keys()) await again.group(group).check(position);
    });
  }

  it('stays marked until it is mended, over restarts without new damage too', async () => {
    const disk = await damagedDisk('missing');
    const first = await Harness.open(disk, options);
    for (let i = 0; i < 40; i++) first.group(1).enqueue(1000);
    await first.settled();
    await first.compact(4);
    const second = await Harness.open(disk.kill(), options);
    assert.deepEqual(second.report.damaged, []);
    assert.equal(second.store.identity.damaged, true);
    second.store.mend();
    await second.compact(2);
    assert.equal(second.store.identity.damaged, false);
  });

  it('stays marked while a group that has something in a damaged segment may not be copied', async () => {
    const disk = await damagedDisk('a bit');
    const harness = await Harness.open(disk, options);
    let mayCopy = false;
    Object.assign(harness.group(2), { mayCopy: () => mayCopy });
    harness.store.mend();
    await harness.compact(6);
    assert.equal(harness.store.identity.damaged, true);
    mayCopy = true;
    harness.clock.advance(5000);
    await harness.compact(6);
    assert.equal(harness.store.identity.damaged, false);
  });

  it('is mended later if the mark cannot be written now', async () => {
    const disk = await damagedDisk('a bit');
    const harness = await Harness.open(disk, options);
    let failures = 0;
    disk.before = (operation, name) => {
      if (operation !== 'open' || !name.startsWith('store.json') || failures++ > 0) return;
      throw new DiskFault('EMFILE', 'too many open files');
    };
    harness.store.mend();
    await harness.compact(8);
    assert.ok(failures >= 2);
    await until(() => !harness.store.identity.damaged);
  });
});
