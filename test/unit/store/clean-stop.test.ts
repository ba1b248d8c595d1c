/** Where the journal ended at a clean stop is known: what is missing of it was lost, not torn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FaultyDisk } from './faulty-disk.js';
import { Harness } from './harness.js';

const segment = 'journal-0000000001.seg';
const kept = `quarantine-${segment}`;

/** Messages in frames of three, and the end of the first frame that has none of them any more. */
async function stopped(frames = 4): Promise<{ disk: FaultyDisk; positions: number[] }> {
  const disk = new FaultyDisk();
  const harness = await Harness.open(disk);
  const positions: number[] = [];
  for (let i = 0; i < frames; i++) {
    for (let j = 0; j < 3; j++) positions.push(harness.group(1).enqueue(300));
    await harness.settled();
  }
  await harness.store.close();
  return { disk: disk.kill(), positions };
}

const found = (harness: Harness): number[] => [...harness.group(1).index.keys()].sort((a, b) => a - b);

describe('the end of a journal that was stopped', () => {
  it('is told to be damaged wherever it is cut off, and costs no more than what is gone', async () => {
    const { disk: whole, positions } = await stopped();
    const bytes = whole.bytesOf(segment).slice();
    const [, end] = (await Harness.open(whole.copy())).store.identity.end;
    assert.ok(end > 12 * 300 && end <= bytes.length);
    let least = positions.length;
    for (let cut = bytes.length - 1; cut > 400; cut -= 7) {
      const disk = whole.copy();
      disk.replace(segment, bytes.slice(0, cut));
      const again = await Harness.open(disk);
      const there = found(again);
      assert.deepEqual(there, positions.slice(0, there.length));
      assert.ok(there.length <= least && there.length >= least - 1, `${there.length} after ${least}`);
      least = there.length;
      assert.equal(again.report.damaged.length > 0, cut < end, `cut at ${cut} of ${end}`);
      assert.equal(again.store.identity.damaged, cut < end);
      assert.equal(disk.fileNames().includes(kept), cut < end);
      if (cut < end) assert.deepEqual(disk.bytesOf(kept), bytes.slice(0, cut));
      const next = again.group(1).enqueue(10);
      await again.settled();
      assert.deepEqual(found(await Harness.open(disk.kill())), [...there, next]);
    }
  });

  it('is told to be damaged when it is zeros', async () => {
    const { disk } = await stopped();
    disk.bytesOf(segment).fill(0, 2000);
    const again = await Harness.open(disk);
    assert.ok(again.report.damaged.length > 0);
  });

  it('is as before when the journal has gone on since, and a crash tears what is new', async () => {
    const { disk: before, positions } = await stopped();
    const size = before.bytesOf(segment).length;
    const harness = await Harness.open(before);
    for (let i = 0; i < 3; i++) {
      positions.push(harness.group(1).enqueue(300));
      await harness.settled();
    }
    const crashed = before.kill();
    const bytes = crashed.bytesOf(segment).slice();
    for (let cut = size; cut < bytes.length; cut += 13) {
      const disk = crashed.copy();
      disk.replace(segment, bytes.slice(0, cut));
      const again = await Harness.open(disk);
      assert.deepEqual(again.report.damaged, []);
      assert.deepEqual(found(again), positions.slice(0, found(again).length));
      assert.ok(found(again).length >= 12);
    }
  });

  it('is not missed when its segment was compacted away', async () => {
    const { disk, positions } = await stopped();
    const options = { segmentBytes: 4096 };
    const harness = await Harness.open(disk, options);
    for (let i = 0; i < 30; i++) {
      positions.push(harness.group(1).enqueue(300));
      await harness.settled();
    }
    harness.group(1).dequeue(positions);
    await harness.settled();
    await harness.compact();
    const crashed = disk.kill();
    assert.ok(!crashed.fileNames().includes(segment));
    assert.deepEqual((await Harness.open(crashed, options)).report.damaged, []);
  });

  it('is kept aside when something was added to it, though nothing was written since', async () => {
    const { disk, positions } = await stopped();
    const bytes = disk.bytesOf(segment).slice();
    const added = new Uint8Array(500).fill(7);
    disk.replace(segment, Buffer.concat([bytes, added]));
    const again = await Harness.open(disk);
    assert.equal(again.report.tornBytes, 500);
    assert.deepEqual(found(again), positions);
    const name = `${kept}-${bytes.length}`;
    assert.deepEqual(Buffer.from(disk.bytesOf(name)), Buffer.from(added));
  });
});

describe('a file that is none of the journal', () => {
  for (const [what, made] of [
    ['garbage', () => new Uint8Array(3000).fill(7)],
    ['a copy of another segment', (disk: FaultyDisk) => disk.bytesOf(segment).slice()],
  ] as const)
    for (const number of [2, 99])
      it(`${what} as number ${number}, is put aside`, async () => {
        const { disk, positions } = await stopped();
        const stray = `journal-${String(number).padStart(10, '0')}.seg`;
        const bytes = made(disk);
        for (const earlier of [false, true]) {
          const hurt = disk.copy();
          hurt.replace(stray, bytes);
          if (earlier) hurt.replace(`quarantine-${stray}`, new Uint8Array(1));
          const again = await Harness.open(hurt);
          assert.deepEqual(found(again), positions);
          assert.deepEqual(again.report.damaged, []);
          assert.ok(!hurt.fileNames().includes(stray));
          assert.deepEqual(hurt.bytesOf(`quarantine-${stray}${earlier ? '-again-2' : ''}`), bytes);
        }
      });

  it('is removed when it has nothing but zeros', async () => {
    const { disk } = await stopped();
    disk.replace('journal-0000000002.seg', new Uint8Array(3000));
    await Harness.open(disk);
    assert.deepEqual(disk.fileNames(), [segment, 'store.json', 'store.json.next']);
  });
});
