/** A disk that is nearly full: what is dead in the journal is given back, down to the open segment, and publishing resumes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, turns } from './harness.js';

const segmentBytes = 64 * 1024;
const lowWaterBytes = 50 * 1024;

/** On a disk of that size: messages until publishing pauses. One message, the first, is never consumed. */
async function fill(capacity: number): Promise<{ disk: FaultyDisk; harness: Harness; positions: number[] }> {
  const disk = new FaultyDisk();
  disk.capacity = capacity;
  const harness = await Harness.open(disk, { segmentBytes, lowWaterBytes, zeroBytes: 4096 });
  const positions: number[] = [];
  while (harness.store.journal.state === 'ok') {
    positions.push(harness.group(1).enqueue(1000));
    await harness.settled();
    harness.clock.advance(1000);
    await turns(5);
  }
  assert.match(harness.store.journal.reason, /are free on the disk/);
  return { disk, harness, positions };
}

async function consume(harness: Harness, positions: readonly number[]): Promise<void> {
  for (let i = 0; i < positions.length; i += 10) {
    harness.group(1).dequeue(positions.slice(i, i + 10));
    await harness.settled();
  }
}

const held = (harness: Harness): number[] => [...harness.group(1).index.keys()].sort((a, b) => a - b);

describe('a disk that is nearly full', () => {
  for (const [what, capacity, segments] of [
    ['less than a segment', 100 * 1024, 1],
    ['a segment and a part of one', 150 * 1024, 2],
    ['several segments', 300 * 1024, 4],
  ] as const) {
    it(`is free again after a drain, with ${what} on it, without a restart`, async () => {
      const { disk, harness, positions } = await fill(capacity);
      const names = disk.fileNames().filter((name) => name.startsWith('journal-'));
      assert.equal(names.length, segments, String(names));
      await consume(harness, positions.slice(1));
      await harness.compact(20);
      await turns(10);
      assert.equal(harness.store.journal.state, 'ok');
      assert.ok(harness.store.diskBytes < segmentBytes / 4, `${harness.store.diskBytes} bytes`);
      await harness.group(1).check(1);
      const next = harness.group(1).enqueue(1000);
      await harness.settled();
      const again = await Harness.open(disk.kill(), { segmentBytes });
      assert.deepEqual(again.report.damaged, []);
      assert.deepEqual(held(again), [1, next]);
    });
  }

  it('is free again when a part was consumed, if that is enough', async () => {
    const { disk, harness, positions } = await fill(150 * 1024);
    const kept = positions.filter((_, index) => index % 4 === 0);
    await consume(
      harness,
      positions.filter((_, index) => index % 4 !== 0),
    );
    await harness.compact(20);
    await turns(10);
    assert.equal(harness.store.journal.state, 'ok');
    const again = await Harness.open(disk.kill(), { segmentBytes });
    assert.deepEqual(held(again), kept);
    for (const position of kept) await again.group(1).check(position);
  });

  it('copies nothing for which it has no room', async () => {
    const { disk, harness, positions } = await fill(150 * 1024);
    await consume(
      harness,
      positions.filter((_, index) => index % 4 !== 0),
    );
    disk.capacity = disk.usedBytes + 2000;
    const names = disk.fileNames();
    await harness.compact(10);
    assert.deepEqual(disk.fileNames(), names);
    assert.match(harness.store.journal.reason, /are free on the disk/);
    disk.capacity += 100 * 1024;
    await harness.compact(20);
    await turns(10);
    assert.equal(harness.store.journal.state, 'ok');
  });

  it('does not begin one segment after the other for nothing', async () => {
    const { disk, harness } = await fill(150 * 1024);
    const names = disk.fileNames();
    await harness.compact(20);
    assert.deepEqual(disk.fileNames(), names, 'all of it is needed');
  });
});
