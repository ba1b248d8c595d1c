import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, turns, until } from './harness.js';

describe('journal', () => {
  it('acknowledges after write and sync, one frame for all that gathered meanwhile', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk);
    const group = harness.group(1);
    // The segment's beginning, and its note.
    await turns(30);
    const { writes, syncs } = disk;
    const first = group.enqueue(100);
    await turns(1);
    const later = Array.from({ length: 50 }, () => group.enqueue(100));
    assert.equal(group.durableTo, 0);
    await harness.settled();
    assert.equal(group.durableTo, later[later.length - 1]);
    assert.equal(disk.writes - writes, 2);
    assert.equal(disk.syncs - syncs, 2);
    assert.equal(first, 1);
    await harness.store.close();
  });

  it('gives everything back after kill -9, a clean end, and a second start', async () => {
    let disk = new FaultyDisk();
    let harness = await Harness.open(disk);
    const expected = new Map<number, number[]>();
    for (const number of [1, 2, 3]) {
      const group = harness.group(number);
      const live: number[] = [];
      for (let i = 0; i < 40; i++) live.push(group.enqueue(200 + i));
      await harness.settled();
      group.dequeue(live.splice(0, 10));
      await harness.settled();
      expected.set(number, live);
    }
    for (const end of ['kill', 'close', 'kill']) {
      if (end === 'close') await harness.store.close();
      disk = disk.kill();
      harness = await Harness.open(disk);
      assert.equal(harness.report.tornBytes, 0);
      assert.deepEqual(harness.report.damaged, []);
      for (const [number, live] of expected) {
        const group = harness.group(number);
        assert.deepEqual([...group.index.keys()], live);
        for (const position of live) await group.check(position);
      }
    }
    await harness.store.close();
  });

  it('acknowledges a log batch although a batch without a place in the log shares its frame', async () => {
    const harness = await Harness.open(new FaultyDisk());
    const group = harness.group(1);
    await harness.settled();
    const last = group.enqueue(100);
    group.copy(last);
    await harness.settled();
    assert.equal(group.durableTo, last);
    await harness.store.close();
  });

  it('keeps meta, and nothing of records that are not durable', async () => {
    const disk = new FaultyDisk();
    const first = await Harness.open(disk);
    const group = first.group(9);
    group.enqueue(50, false);
    group.enqueue(50);
    group.record = 'first';
    let saved = false;
    first.store.journal.saveMeta(group, () => {
      saved = true;
    });
    group.record = 'second';
    await first.settled();
    await until(() => saved);
    const second = await Harness.open(disk.kill());
    assert.equal(second.group(9).metaRead?.record, 'second');
    assert.deepEqual([...second.group(9).index.keys()], [2]);
  });

  it('leaves out log records in void ranges', async () => {
    const disk = new FaultyDisk();
    const first = await Harness.open(disk);
    const group = first.group(1);
    for (let i = 0; i < 6; i++) group.enqueue(50);
    group.dequeue([1, 2]);
    await first.settled();
    group.voids = [[5, 7]];
    await new Promise<void>((resolve) => first.store.journal.saveMeta(group, resolve));
    const second = await Harness.open(disk.kill());
    assert.deepEqual([...second.group(1).index.keys()], [1, 2, 3, 4]);
  });

  it('spreads over segments and reads all of them back', async () => {
    const disk = new FaultyDisk();
    const options = { segmentBytes: 8192 };
    const first = await Harness.open(disk, options);
    const live: number[] = [];
    for (let i = 0; i < 60; i++) {
      live.push(first.group(1 + (i % 3)).enqueue(900));
      await first.settled();
    }
    const segments = disk.fileNames().filter((name) => name.startsWith('journal-'));
    assert.ok(segments.length >= 7, `${segments.length} segments`);
    const second = await Harness.open(disk.kill(), options);
    let found = 0;
    for (const number of [1, 2, 3]) {
      for (const position of second.group(number).index.keys()) {
        await second.group(number).check(position);
        found++;
      }
    }
    assert.equal(found, live.length);
  });

  it('takes a batch larger than a segment', async () => {
    const disk = new FaultyDisk();
    const options = { segmentBytes: 64 * 1024 };
    const first = await Harness.open(disk, options);
    first.group(1).enqueue(10);
    await first.settled();
    first.group(1).enqueue(2_000_000);
    first.group(1).enqueue(10);
    await first.settled();
    const second = await Harness.open(disk.kill(), options);
    assert.deepEqual([...second.group(1).index.keys()], [1, 2, 3]);
    for (const position of [1, 2, 3]) await second.group(1).check(position);
  });
});
