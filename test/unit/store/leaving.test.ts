/** A group that leaves this node: what it left in the journal counts no more, and its space is given back. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DiskFault, FaultyDisk } from './faulty-disk.js';
import { Harness, turns, until } from './harness.js';
import { TestGroup } from './test-group.js';

const options = { segmentBytes: 64 * 1024 };

async function fill(harness: Harness, group: TestGroup, count: number): Promise<number[]> {
  const positions: number[] = [];
  for (let i = 0; i < count; i++) {
    positions.push(group.enqueue(1000));
    if (i % 10 === 9) await harness.settled();
  }
  await harness.settled();
  return positions;
}

function sorted(positions: Iterable<number>): number[] {
  return [...positions].sort((a, b) => a - b);
}

describe('a group that leaves', () => {
  it('is not there after a restart, however long that is after', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    await fill(harness, harness.group(1), 10);
    const kept = await fill(harness, harness.group(2), 10);
    harness.group(1).leave();
    await turns(10);
    const soon = await Harness.open(disk.copy(), options);
    assert.equal(soon.visitor.groups.has(1), false);
    // Newer segments only have newer meta data.
    const more = await fill(harness, harness.group(2), 200);
    const late = await Harness.open(disk.copy(), options);
    assert.equal(late.visitor.groups.has(1), false);
    assert.deepEqual(sorted(late.group(2).index.keys()), [...kept, ...more]);
    await late.settled();
  });

  it('has nothing of that time when it comes back, after two restarts and compaction either', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const first = harness.group(1);
    const old = await fill(harness, first, 50);
    // These would be dequeued, would their dequeues count.
    first.dequeue([first.next + 5, first.next + 6]);
    await harness.settled();
    first.leave();
    const second = first.comeBack();
    const positions = await fill(harness, second, 10);
    assert.ok(positions[0]! > old[49]!);
    await fill(harness, harness.group(2), 100);
    harness.group(2).dequeue([...harness.group(2).index.keys()]);
    await harness.settled();
    let again = await Harness.open(disk.copy(), options);
    assert.deepEqual(sorted(again.group(1).index.keys()), positions);
    await harness.compact(20);
    again = await Harness.open(disk.kill(), options);
    assert.deepEqual(sorted(again.group(1).index.keys()), positions);
    for (const position of positions) await again.group(1).check(position);
  });

  it('gives its space back, and holds back nobody else', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const leaving = harness.group(1);
    const staying = harness.group(2);
    const kept: number[] = [];
    for (let i = 0; i < 20; i++) {
      const mine = await fill(harness, leaving, 20);
      leaving.dequeue(mine.slice(0, 5));
      const theirs = await fill(harness, staying, 20);
      kept.push(theirs[0]!);
      staying.dequeue(theirs.slice(1));
      await harness.settled();
    }
    leaving.leave();
    await harness.settled();
    await harness.compact(40);
    assert.ok(harness.store.diskBytes < 3 * options.segmentBytes, `${harness.store.diskBytes} bytes left`);
    const again = await Harness.open(disk.kill(), options);
    assert.equal(again.visitor.groups.has(1), false);
    assert.deepEqual(sorted(again.group(2).index.keys()), kept);
  });

  it('gives its space back too if it left before the last restart', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    await fill(harness, harness.group(1), 400);
    harness.group(1).leave();
    const kept = await fill(harness, harness.group(2), 3);
    const again = await Harness.open(disk.kill(), options);
    await again.compact(20);
    assert.ok(again.store.diskBytes < 2 * options.segmentBytes, `${again.store.diskBytes} bytes left`);
    for (const position of kept) await again.group(2).check(position);
  });

  it('may leave while its records are being written, and come back at once', async () => {
    for (const stay of [false, true]) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, options);
      const first = harness.group(1);
      await fill(harness, first, 3);
      let writes = 0;
      disk.before = (operation) => {
        if (operation === 'write') writes++;
      };
      first.enqueue(100);
      await until(() => writes > 0);
      // One frame is on its way, and this waits for the next.
      first.enqueue(100);
      first.leave();
      const second = stay ? first.comeBack() : undefined;
      const position = second?.enqueue(100);
      await harness.settled();
      await turns(10);
      const again = await Harness.open(disk.kill(), options);
      if (position === undefined) assert.equal(again.visitor.groups.has(1), false);
      else assert.deepEqual([...again.group(1).index.keys()], [position]);
    }
  });

  it('may leave, and come back, at any moment of a compaction', async () => {
    for (let moment = 1; moment < 60; moment += 3) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, options);
      const first = harness.group(1);
      const positions = await fill(harness, first, 300);
      first.dequeue(positions.filter((_, i) => i % 10 !== 0));
      await harness.settled();
      const compaction = harness.compact(8);
      await turns(moment);
      first.leave();
      const second = first.comeBack();
      const kept = await fill(harness, second, 5);
      await compaction;
      harness.clock.advance(5000);
      await harness.compact(20);
      assert.ok(harness.store.diskBytes < 3 * options.segmentBytes, `${harness.store.diskBytes} bytes left`);
      const again = await Harness.open(disk.kill(), options);
      assert.deepEqual(sorted(again.group(1).index.keys()), kept, `left after ${moment} turns`);
    }
  });

  it('is as before, or has left, after a crash in the meantime', async () => {
    for (const survives of [true, false]) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, options);
      const positions = await fill(harness, harness.group(1), 5);
      disk.before = (operation) => {
        if (operation === 'sync') throw new DiskFault('EIO', 'power is gone');
      };
      harness.group(1).leave();
      await until(() => harness.store.journal.state === 'failed');
      const again = await Harness.open(
        disk.crash(() => survives),
        options,
      );
      if (survives) assert.equal(again.visitor.groups.has(1), false);
      else assert.deepEqual([...again.group(1).index.keys()], positions);
    }
  });
});
