/** Segments that are not there any more, or in which nothing is sound: recovery says so, whichever they are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { identityName } from '../../../src/store/identity-file.js';
import { FaultyDisk } from './faulty-disk.js';
import { Harness } from './harness.js';

const options = { segmentBytes: 4096 };

/** A journal of three segments. */
async function threeSegments(): Promise<{ disk: FaultyDisk; held: (again: Harness) => void }> {
  const disk = new FaultyDisk();
  const harness = await Harness.open(disk, options);
  const inOlder: number[] = [];
  while (!disk.fileNames().includes('journal-0000000003.seg')) {
    inOlder.push(...[...harness.group(1).index.keys()].slice(inOlder.length));
    harness.group(1).enqueue(300);
    await harness.settled();
  }
  const held = (again: Harness) => assert.deepEqual([...again.group(1).index.keys()], inOlder);
  return { disk: disk.kill(), held };
}

describe('a lost segment', () => {
  it('is told when one in the middle is missing', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    for (let i = 0; i < 40; i++) {
      harness.group(1).enqueue(300);
      await harness.settled();
    }
    const damaged = disk.kill();
    damaged.remove('journal-0000000002.seg');
    const again = await Harness.open(damaged, options);
    assert.deepEqual(
      again.report.damaged.map((place) => place.segment),
      ['journal-0000000002.seg'],
    );
  });

  for (const [what, hurt] of [
    ['missing', (disk: FaultyDisk) => disk.remove('journal-0000000003.seg')],
    ['empty', (disk: FaultyDisk) => disk.replace('journal-0000000003.seg', new Uint8Array(0))],
    ['zeros', (disk: FaultyDisk) => disk.replace('journal-0000000003.seg', new Uint8Array(3000))],
    ['garbage', (disk: FaultyDisk) => disk.replace('journal-0000000003.seg', new Uint8Array(3000).fill(7))],
  ] as const) {
    it(`is told when the last one is ${what}, and the journal goes on behind it`, async () => {
      const { disk, held } = await threeSegments();
      hurt(disk);
      const again = await Harness.open(disk, options);
      assert.deepEqual(
        again.report.damaged.map((place) => place.segment),
        ['journal-0000000003.seg'],
      );
      assert.equal(again.report.tornBytes, 0);
      assert.equal(again.store.identity.damaged, true);
      assert.equal(disk.fileNames().includes('quarantine-journal-0000000003.seg'), what !== 'missing');
      held(again);
      again.group(1).enqueue(300);
      await again.settled();
      assert.ok(disk.fileNames().includes('journal-0000000004.seg'));
      const third = await Harness.open(disk.kill(), options);
      assert.deepEqual(third.report.damaged, []);
      assert.equal(third.store.identity.damaged, true);
    });
  }

  it('leaves a broker that is alone nothing to delete of what was there with it, at later starts neither', async () => {
    const { disk } = await threeSegments();
    disk.remove('journal-0000000002.seg');
    const alone = { ...options, alone: true };
    const again = await Harness.open(disk, alone);
    assert.equal(again.report.damaged.length, 1);
    again.group(1).enqueue(300);
    await again.settled();
    await again.compact();
    const later = disk.kill();
    const third = await Harness.open(later, alone);
    // Newer segments come, and go.
    for (let i = 0; i < 30; i++) {
      third.group(1).enqueue(1000);
      await third.settled();
    }
    third.group(1).dequeue([...third.group(1).index.keys()]);
    await third.settled();
    await third.compact();
    const names = later.fileNames();
    assert.ok(names.filter((name) => name.startsWith('journal-')).length < 5, String(names));
    const kept = names.filter((name) => name.startsWith('quarantine-'));
    assert.deepEqual(kept, ['quarantine-journal-0000000001.seg', 'quarantine-journal-0000000003.seg']);
  });

  it('is told when all are gone', async () => {
    const { disk } = await threeSegments();
    for (const name of disk.fileNames()) if (name.startsWith('journal-')) disk.remove(name);
    const again = await Harness.open(disk, options);
    assert.equal(again.report.damaged.length, 1);
    assert.equal(again.store.identity.damaged, true);
  });

  it('is not told with an old identity', async () => {
    const disk = new FaultyDisk();
    const harness = await Harness.open(disk, options);
    const old = disk.bytesOf(identityName).slice();
    for (let i = 0; i < 40; i++) {
      harness.group(1).enqueue(300);
      await harness.settled();
    }
    harness.group(1).dequeue([...harness.group(1).index.keys()]);
    await harness.settled();
    await harness.compact();
    assert.ok(!disk.fileNames().includes('journal-0000000001.seg'));
    const text = JSON.parse(new TextDecoder().decode(old)) as object;
    for (const segment of [undefined, 0, 1, 2]) {
      const crashed = disk.copy();
      crashed.replace(identityName, new TextEncoder().encode(JSON.stringify({ ...text, segment, check: undefined })));
      assert.deepEqual((await Harness.open(crashed, options)).report.damaged, []);
    }
  });
});
