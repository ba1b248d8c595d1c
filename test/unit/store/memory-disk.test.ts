import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { Harness, turns, until } from './harness.js';

describe('the disk in memory', () => {
  it('keeps a journal for the next start in the same program', async () => {
    const disk = new MemoryDisk();
    const first = await Harness.open(disk, { segmentBytes: 50_000, zeroBytes: 10_000 });
    for (let i = 0; i < 200; i++) first.group(1).enqueue(700);
    await first.settled();
    await first.store.close();
    const second = await Harness.open(disk, { segmentBytes: 50_000, memoryBytes: 1 });
    assert.equal(second.report.tornBytes, 0);
    assert.equal(second.group(1).index.size, 200);
    for (const position of second.group(1).index.keys()) await second.group(1).check(position);
    await assert.rejects(disk.open('missing', { create: false }), { code: 'ENOENT' });
  });

  it('is full at its capacity, and goes on when there is room', async () => {
    const disk = new MemoryDisk(2_000_000);
    const harness = await Harness.open(disk, { segmentBytes: 300_000 });
    const group = harness.group(1);
    while (harness.store.journal.state === 'ok') {
      group.enqueue(50_000);
      await turns(4);
    }
    assert.match(harness.store.journal.reason, /full/);
    const acknowledged = group.durableTo;
    assert.ok(acknowledged > 10);
    await disk.unlink('journal-0000000001.seg');
    harness.clock.advance(1000);
    await until(() => group.durableTo > acknowledged);
    assert.equal(harness.store.journal.state, 'ok');
  });
});
