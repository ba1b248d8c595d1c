import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, turns } from './harness.js';
import { TestGroup } from './test-group.js';

const options = { segmentBytes: 64 * 1024 };

function journalBytes(disk: FaultyDisk): number {
  let bytes = 0;
  for (const name of disk.fileNames()) if (name.startsWith('journal-')) bytes += disk.bytesOf(name).length;
  return bytes;
}

/** Enqueues `count` messages of 1000 bytes in batches of 10 and returns their positions. */
async function fill(harness: Harness, group: number, count: number): Promise<number[]> {
  const positions: number[] = [];
  for (let i = 0; i < count; i++) {
    positions.push(harness.group(group).enqueue(1000));
    if (i % 10 === 9) await harness.settled();
  }
  await harness.settled();
  return positions;
}

describe('compaction', () => {
  it('leaves little on disk after a drain', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const positions = [...(await fill(harness, 1, 500))];
    const other = await fill(harness, 2, 500);
    assert.ok(journalBytes(disk) > 1_000_000);
    for (let i = 0; i < 500; i += 10) {
      harness.group(1).dequeue(positions.slice(i, i + 10));
      harness.group(2).dequeue(other.slice(i, i + 10));
      await harness.settled();
    }
    const crashed = await Harness.open(disk.copy(), options);
    await harness.compact();
    assert.ok(journalBytes(disk) < 3 * options.segmentBytes, `${journalBytes(disk)} bytes left`);
    await crashed.compact();
    assert.ok(
      crashed.store.diskBytes < 3 * options.segmentBytes,
      `${crashed.store.diskBytes} bytes left after a crash`,
    );
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(again.report.damaged, []);
    assert.equal(again.group(1).index.size + again.group(2).index.size, 0);
  });

  it('copies what is left in sparse segments', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const positions = await fill(harness, 1, 1000);
    const before = journalBytes(disk);
    const kept: number[] = [];
    for (const position of positions) {
      if (position % 10 === 0) kept.push(position);
      else harness.group(1).dequeue([position]);
    }
    await harness.settled();
    await harness.compact(60);
    assert.ok(journalBytes(disk) < before / 3, `${before} → ${journalBytes(disk)} bytes`);
    assert.deepEqual(
      [...harness.group(1).index.keys()].sort((a, b) => a - b),
      kept,
    );
    for (const position of kept) await harness.group(1).check(position);
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(again.report.damaged, []);
    assert.deepEqual(
      [...again.group(1).index.keys()].sort((a, b) => a - b),
      kept,
    );
    for (const position of kept) await again.group(1).check(position);
  });

  it('keeps a dequeue for as long as a copy of its message may be on disk', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const old = await fill(harness, 1, 60);
    // Every later segment holds dequeues of messages in the first, which stays because of its other messages.
    for (let i = 0; i < 12; i++) {
      const busy = await fill(harness, 1, 60);
      harness.group(1).dequeue([old[i]!]);
      harness.group(1).dequeue(busy);
      await harness.settled();
      await harness.compact(4);
    }
    assert.ok(journalBytes(disk) < 5 * options.segmentBytes, `${journalBytes(disk)} bytes`);
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(
      [...again.group(1).index.keys()].sort((a, b) => a - b),
      old.slice(12),
    );
  });

  it('is not held back by a group that has nothing to write', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const quiet = await fill(harness, 1, 3);
    const dead = await fill(harness, 3, 3);
    harness.group(3).dequeue(dead);
    const busy = await fill(harness, 2, 400);
    harness.group(2).dequeue(busy);
    await harness.settled();
    await harness.compact(20);
    assert.ok(journalBytes(disk) < 3 * options.segmentBytes, `${journalBytes(disk)} bytes`);
    for (const position of quiet) await harness.group(1).check(position);
    const position = harness.group(1).enqueue(10);
    await harness.settled();
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(
      [...again.group(1).index.keys()].sort((a, b) => a - b),
      [...quiet, position],
    );
  });

  it('waits while a part of the segment is not committed', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const group = harness.group(1);
    const positions = await fill(harness, 1, 20);
    const chunk = group.index.get(positions[0]!)!.chunk;
    harness.store.chunks.pin(chunk);
    await fill(harness, 2, 200);
    for (const position of positions) group.dequeue([position]);
    harness.group(2).dequeue([...harness.group(2).index.keys()]);
    await harness.settled();
    await harness.compact(10);
    assert.ok(disk.fileNames().includes('journal-0000000001.seg'));
    harness.store.chunks.unpin(chunk);
    harness.clock.advance(5000);
    await harness.compact(10);
    assert.ok(!disk.fileNames().includes('journal-0000000001.seg'));
  });

  it('keeps the meta of groups that nobody registered', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const absent = harness.group(5);
    absent.record = 'kept';
    await new Promise<void>((resolve) => harness.store.journal.saveMeta(absent, resolve));
    await harness.store.close();
    const second = disk.kill();
    // Harness registers its own groups: this visitor leaves none.
    const alone = await Harness.open(second, options, () => ({ meta() {}, record() {}, done() {} }));
    for (let i = 0; i < 200; i++) alone.group(1).enqueue(1000);
    await alone.settled();
    assert.ok(alone.store.diskBytes > 2 * options.segmentBytes);
    const third = await Harness.open(second.kill(), options);
    assert.equal(third.group(5).metaRead?.record, 'kept');
  });

  it('moves what was only spilled, for a group that is not journaled too', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { ...options, memoryBytes: 256 * 1024 });
    const local = new TestGroup(9);
    local.useUnregistered(harness.store);
    const durable = await fill(harness, 1, 200);
    const transient: number[] = [];
    for (let i = 0; i < 1000; i++) transient.push(local.enqueue(1000, false));
    await turns(50);
    assert.ok(harness.store.chunks.residentBytes <= 512 * 1024, `${harness.store.chunks.residentBytes} bytes resident`);
    const more = await fill(harness, 1, 300);
    harness.group(1).dequeue(durable);
    harness.group(1).dequeue(more);
    await harness.settled();
    await harness.compact(30);
    for (const position of transient) await local.check(position);
    assert.ok(!disk.fileNames().includes('journal-0000000001.seg'));
    for (const position of transient) local.forget(position);
    await harness.compact(10);
    assert.ok(journalBytes(disk) < 3 * options.segmentBytes, `${journalBytes(disk)} bytes`);
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(again.report.damaged, []);
    assert.equal(again.visitor.groups.has(9), false);
  });

  for (const memoryBytes of [undefined, 256 * 1024])
    it(`lets a segment go beside messages that need no disk, ${memoryBytes === undefined ? 'in memory' : 'spilled'}`, async () => {
      const disk = new FaultyDisk();
      // Larger than a chunk: some lie in one segment wholly.
      const large = { segmentBytes: 600_000 };
      const harness = await Harness.open(disk, memoryBytes === undefined ? large : { ...large, memoryBytes });
      const group = harness.group(1);
      const durable: number[] = [];
      const transient: number[] = [];
      for (let i = 0; i < 300; i++) {
        durable.push(...(await fill(harness, 1, 10)));
        transient.push(group.enqueue(300, false));
      }
      group.dequeue(durable);
      await harness.settled();
      await harness.compact(30);
      for (const position of transient) await group.check(position);
      assert.ok(journalBytes(disk) < 2 * large.segmentBytes, `${journalBytes(disk)} bytes left`);
      for (const position of transient) group.forget(position);
      await harness.compact(10);
      assert.ok(journalBytes(disk) < large.segmentBytes, `${journalBytes(disk)} bytes left`);
    });

  it('stops at once when the store is closed', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const positions = await fill(harness, 1, 500);
    harness.group(1).dequeue(positions.filter((position) => position % 5 !== 0));
    await harness.settled();
    void harness.store.compactor.round();
    await harness.store.close();
    const again = await Harness.open(disk.kill(), options);
    assert.deepEqual(again.report.damaged, []);
    assert.deepEqual(
      [...again.group(1).index.keys()].sort((a, b) => a - b),
      positions.filter((position) => position % 5 === 0),
    );
  });
});
