import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CrashMode } from '../../../sim/disk-file.js';
import { SimDisk } from '../../../sim/disk.js';
import { EventLoop } from '../../../sim/event-loop.js';
import { SimRandom } from '../../../sim/random.js';
import type { Disk } from '../../../src/store/disk.js';

interface Rig {
  loop: EventLoop;
  disk: SimDisk;
}

function rig(seed = 1, capacityBytes = 1e9): Rig {
  const loop = new EventLoop();
  const profile = { writeMs: 0.1, syncMs: 1, bytesPerMs: 100_000, capacityBytes };
  return { loop, disk: new SimDisk(loop, new SimRandom(seed), profile) };
}

/** Runs `work` as a process with its own view of the disk, to its end. */
async function process_(rig: Rig, work: (disk: Disk) => Promise<void>): Promise<void> {
  const context = rig.loop.context('p');
  let error: unknown = 'did not end';
  rig.loop.after(0, context, () => {
    work(rig.disk.open(context)).then(
      () => {
        error = undefined;
      },
      (reason: unknown) => {
        error = reason;
      },
    );
  });
  await rig.loop.run();
  if (error !== undefined) throw error;
  rig.loop.kill(context);
}

async function contents(rig: Rig, name: string): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array | undefined;
  await process_(rig, async (disk) => {
    if (!(await disk.list()).includes(name)) return;
    const file = await disk.open(name, { create: false });
    bytes = new Uint8Array(await file.size());
    await file.read(bytes, 0);
  });
  return bytes;
}

test('what was synced survives every kind of crash', async () => {
  for (const mode of ['none', 'all', 'prefix', 'torn'] satisfies CrashMode[]) {
    const r = rig();
    await process_(r, async (disk) => {
      const file = await disk.open('a', { create: true });
      await file.write([new Uint8Array(3000).fill(1)], 0);
      await file.sync();
      await disk.syncFolder();
      await file.write([new Uint8Array(3000).fill(2)], 3000);
    });
    r.disk.crash(mode);
    const bytes = await contents(r, 'a');
    assert.ok(bytes !== undefined && bytes.length >= 3000, mode);
    assert.ok(
      bytes.subarray(0, 3000).every((byte) => byte === 1),
      mode,
    );
    if (mode === 'none') assert.equal(bytes.length, 3000);
    if (mode === 'all') assert.equal(bytes.length, 6000);
  }
});

test('a torn crash keeps some sectors and loses others', async () => {
  let torn = 0;
  for (let seed = 0; seed < 40; seed++) {
    const r = rig(seed);
    await process_(r, async (disk) => {
      const file = await disk.open('a', { create: true });
      await file.sync();
      await disk.syncFolder();
      await file.write([new Uint8Array(512 * 20).fill(1)], 0);
    });
    r.disk.crash('torn');
    const bytes = (await contents(r, 'a'))!;
    const kept = bytes.filter((byte) => byte === 1).length;
    assert.equal(kept % 512, 0);
    if (kept > 0 && kept < 512 * 20) torn++;
  }
  assert.ok(torn > 10);
});

test('writes during a sync are not covered by it', async () => {
  const r = rig();
  await process_(r, async (disk) => {
    const file = await disk.open('a', { create: true });
    await disk.syncFolder();
    await file.write([new Uint8Array(10).fill(1)], 0);
    const syncing = file.sync();
    await file.write([new Uint8Array(10).fill(2)], 10);
    await syncing;
  });
  r.disk.crash('none');
  assert.equal((await contents(r, 'a'))!.length, 10);
});

test('a file whose folder was not synced may be gone, a rename may be undone', async () => {
  const found = new Set<string>();
  for (let seed = 0; seed < 40; seed++) {
    const r = rig(seed);
    await process_(r, async (disk) => {
      const file = await disk.open('old', { create: true });
      await file.write([Uint8Array.of(1)], 0);
      await file.sync();
      await disk.syncFolder();
      await disk.rename('old', 'new');
      await (await disk.open('other', { create: true })).sync();
    });
    r.disk.crash('torn');
    await process_(r, async (disk) => {
      found.add((await disk.list()).sort().join());
    });
  }
  assert.deepEqual([...found].sort(), ['new', 'new,other', 'old', 'old,other']);
});

test('a failed sync loses its writes for good, though they can be read', async () => {
  const r = rig();
  await process_(r, async (disk) => {
    const file = await disk.open('a', { create: true });
    await disk.syncFolder();
    await file.write([Uint8Array.of(1)], 0);
    r.disk.failure = 1;
    await assert.rejects(file.sync(), { code: 'EIO' });
    r.disk.failure = 0;
    await file.sync();
    assert.equal(await file.size(), 1);
  });
  r.disk.crash('torn');
  assert.equal((await contents(r, 'a'))!.length, 0);
});

test('a full disk says ENOSPC and takes writes again when it has room', async () => {
  const r = rig(1, 40_000);
  await process_(r, async (disk) => {
    const file = await disk.open('a', { create: true });
    await assert.rejects(file.write([new Uint8Array(100_000)], 0), { code: 'ENOSPC' });
    r.disk.profile.capacityBytes = 1e6;
    await file.write([new Uint8Array(100_000)], 0);
    assert.equal(await file.size(), 100_000);
  });
});

test('a dead process hears nothing and its later calls do nothing', async () => {
  const r = rig();
  const context = r.loop.context('p');
  let answered = false;
  r.loop.after(0, context, () => {
    void r.disk
      .open(context)
      .open('a', { create: true })
      .then(() => {
        answered = true;
      });
  });
  r.loop.after(0.001, null, () => r.loop.kill(context));
  await r.loop.run();
  assert.equal(answered, false);
  assert.equal(await contents(r, 'a'), undefined);
});
