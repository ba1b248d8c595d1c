/** What the identity's file survives: every crash at every step, and a disk without a byte left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreIdentity } from '../../../src/store/identity.js';
import { identityName, nextIdentityName } from '../../../src/store/identity-file.js';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, seeded, turns, until } from './harness.js';

const open = (disk: FaultyDisk): Promise<StoreIdentity> => StoreIdentity.open(disk, seeded(1), 1);

function textOf(disk: FaultyDisk): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(disk.bytesOf(identityName))) as Record<string, unknown>;
}

/** As a program wrote it that knew no checksum: one file. */
async function oldFolder(boots: number): Promise<FaultyDisk> {
  const disk = new FaultyDisk();
  await open(disk);
  const { check: _check, change: _change, end: _end, ...old } = textOf(disk);
  const bytes = new TextEncoder().encode(`${JSON.stringify({ ...old, boots }, undefined, 2)}\n`);
  const before = new FaultyDisk();
  before.replace(identityName, bytes);
  return before;
}

async function madeFolder(boots: number): Promise<FaultyDisk> {
  const disk = await oldFolder(boots - 1);
  await (await open(disk)).nextBoot();
  return disk.kill();
}

describe('the file of the identity', () => {
  for (const [what, made] of [
    ['', madeFolder],
    [' of an older program', oldFolder],
  ] as const)
    it(`${what} is whole after a crash at every step of a change, whatever of it was kept`, async () => {
      for (let seed = 0; seed < 150; seed++) {
        const random = seeded(seed + 1);
        const disk = await made(7);
        const { storeId } = await open(disk.copy());
        const identity = await open(disk);
        let last = random.int(12);
        let boots = 7;
        disk.before = () => {
          if (last-- === 0) throw new Error('the crash');
        };
        for (let i = 0; i < 3; i++) {
          const before = identity.nextBoot().then(
            (boot) => {
              boots = boot;
            },
            () => undefined,
          );
          await before;
          if (last < 0) break;
        }
        const crashed = disk.crash(() => random.int(2) === 0);
        const again = await open(crashed);
        assert.equal(again.storeId, storeId, `seed ${seed}`);
        assert.ok(again.boots === boots || again.boots === boots + 1, `seed ${seed}: ${again.boots} after ${boots}`);
        // What was read is relied on: it must be there after one more crash.
        const known = again.boots;
        const dead = crashed.crash(() => random.int(2) === 0);
        const third = await open(dead);
        assert.ok(third.boots >= boots && third.boots <= known, `seed ${seed}`);
        assert.equal(await third.nextBoot(), third.boots);
      }
    });

  it('is changed without any space', async () => {
    const disk = await madeFolder(1);
    disk.capacity = disk.usedBytes;
    const identity = await open(disk);
    assert.equal(await identity.nextBoot(), 2);
    await identity.setSegment(9);
    await identity.setEnd([9, 100]);
    const again = await open(disk.kill());
    assert.deepEqual([again.boots, again.segment, again.end], [2, 9, [9, 100]]);
  });

  it('says what to do where a change needs space, and leaves the folder as it was', async () => {
    const disk = await oldFolder(3);
    disk.capacity = disk.usedBytes;
    const identity = await open(disk);
    await assert.rejects(
      identity.nextBoot(),
      /store\.json in the data folder cannot be written: ENOSPC.*free some space/,
    );
    assert.deepEqual(disk.fileNames(), [identityName]);
    disk.capacity = Number.POSITIVE_INFINITY;
    assert.equal(await identity.nextBoot(), 4);
    assert.equal((await open(disk.kill())).boots, 4);
  });

  it('is what an older program wrote last', async () => {
    const disk = await madeFolder(5);
    const { check: _check, change: _change, ...old } = textOf(disk);
    disk.replace(identityName, new TextEncoder().encode(JSON.stringify({ ...old, boots: 6 })));
    const identity = await open(disk);
    assert.equal(identity.boots, 6);
    await identity.nextBoot();
    assert.equal((await open(disk.kill())).boots, 7);
  });

  it('is made good by its copy when it is damaged, and refused when both are', async () => {
    for (const damage of ['', 'flip', 'cut'] as const) {
      const disk = await madeFolder(5);
      const whole = disk.bytesOf(identityName).slice();
      const hurt = damage === '' ? new Uint8Array(0) : whole.slice(0, damage === 'cut' ? 100 : whole.length);
      if (damage === 'flip') hurt[whole.indexOf('5'.charCodeAt(0), 60)]! ^= 1;
      disk.replace(identityName, hurt);
      const both = disk.copy();
      assert.equal((await open(disk)).boots, 5);
      assert.deepEqual(disk.bytesOf(identityName), whole);
      both.replace(nextIdentityName, hurt);
      await assert.rejects(open(both), /store\.json in the data folder/);
    }
  });
});

describe('a start on a full disk', () => {
  it('serves what there is, takes nothing, and goes on when there is space', async () => {
    const options = { segmentBytes: 4096, lowWaterBytes: 1000 };
    for (let count = 1; count < 14; count++) {
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, options);
      for (let i = 0; i < count; i++) {
        harness.group(1).enqueue(300);
        await harness.settled();
      }
      const full = disk.kill();
      full.capacity = full.usedBytes;
      const again = await Harness.open(full, options);
      await again.store.identity.nextBoot();
      assert.equal(again.group(1).index.size, count);
      for (const position of again.group(1).index.keys()) await again.group(1).check(position);
      again.group(1).enqueue(300);
      await until(() => again.store.journal.state === 'full');
      full.capacity = Number.POSITIVE_INFINITY;
      again.clock.advance(2000);
      await again.settled();
      await turns(10);
      assert.equal(again.store.journal.state, 'ok');
      assert.equal((await Harness.open(full.kill(), options)).group(1).index.size, count + 1);
    }
  });

  for (const end of ['kill', 'stop'] as const)
    it(`has the zeros behind the journal's end to write into, after a ${end}`, async () => {
      const options = { zeroBytes: 4096 };
      const disk = new FaultyDisk();
      const harness = await Harness.open(disk, options);
      for (let i = 0; i < 5; i++) harness.group(1).enqueue(300);
      await harness.settled();
      if (end === 'stop') await harness.store.close();
      const full = disk.kill();
      full.capacity = full.usedBytes;
      const again = await Harness.open(full, options);
      again.group(1).dequeue([1, 2, 3]);
      await again.settled();
      assert.equal(again.store.journal.state, 'ok');
      assert.deepEqual([...(await Harness.open(full.kill())).group(1).index.keys()], [4, 5]);
    });

  it('lets a segment end that has nothing but zeros behind what an earlier start wrote', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { segmentBytes: 4096, zeroBytes: 4096 });
    for (let i = 0; i < 3; i++) harness.group(1).enqueue(300);
    await harness.settled();
    const later = disk.kill();
    const again = await Harness.open(later, { segmentBytes: 4096, zeroBytes: 4096 });
    again.group(1).enqueue(4000);
    await again.settled();
    assert.equal(again.store.journal.state, 'ok');
    assert.ok(later.fileNames().includes('journal-0000000002.seg'));
    assert.equal((await Harness.open(later.kill())).group(1).index.size, 4);
  });

  it('does without the copy of what is damaged', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, { segmentBytes: 4096 });
    for (let i = 0; i < 20; i++) {
      harness.group(1).enqueue(300);
      await harness.settled();
    }
    const full = disk.kill();
    full.bytesOf('journal-0000000001.seg')[1500]! ^= 1;
    full.capacity = full.usedBytes;
    const again = await Harness.open(full, { segmentBytes: 4096 });
    assert.deepEqual(
      again.report.damaged.map(({ segment, quarantinedAs }) => [segment, quarantinedAs]),
      [['journal-0000000001.seg', '']],
    );
    assert.deepEqual(
      full.fileNames().filter((name) => name.startsWith('quarantine-')),
      [],
    );
  });
});
