import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Coordinator, CoordinatorUnavailableError } from '../../../src/cluster/coordinator/coordinator.js';
import type { LocalCoordinator } from '../../../src/cluster/coordinator/local.js';
import { LocalFolder, mapBytesMax } from '../../../src/cluster/coordinator/local-folder.js';
import { coordinatorContract, eventually } from './contract.js';
import { openLocal, realRandom } from './ports.js';

const fresh = (): Promise<string> => mkdtemp(join(tmpdir(), 'understudy-local-'));

coordinatorContract('local', async () => {
  const folder = await fresh();
  const handles: Coordinator[] = [];
  return {
    async open() {
      const handle = await openLocal(folder);
      handles.push(handle);
      return handle;
    },
    async dispose() {
      for (const handle of handles) await handle.close();
      await rm(folder, { recursive: true });
    },
  };
});

/** Runs `body` in a folder of its own. */
async function inFolder(body: (path: string) => Promise<void>): Promise<void> {
  const path = await fresh();
  try {
    await body(path);
  } finally {
    await rm(path, { recursive: true });
  }
}

/** Short generations, so that few swaps do. */
const short = 8;
const openShort = (path: string): Promise<LocalCoordinator> => openLocal(path, realRandom, short);

/** Makes `times` swaps of one key. */
async function churn(coordinator: Coordinator, times: number): Promise<void> {
  let version = (await coordinator.read('churn'))[0]?.version ?? 0;
  for (let i = 0; i < times; i++) {
    const result = await coordinator.swap([{ key: 'churn', expect: version, value: String(i) }]);
    assert.ok(result.ok);
    version = result.entries[0]!.version;
  }
}

const generations = async (path: string): Promise<string[]> =>
  (await readdir(join(path, 'map'))).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));

test('old generations and leftovers are removed, young temporary files are not', () =>
  inFolder(async (path) => {
    const coordinator = await openShort(path);
    await churn(coordinator, 33);
    assert.deepEqual(
      (await generations(path)).map((name) => name.split('-')[0]),
      ['24', '32'],
    );
    await writeFile(join(path, 'temp', 'old'), '');
    await writeFile(join(path, 'temp', 'young'), '');
    await utimes(join(path, 'temp', 'old'), 0, 0);
    await coordinator.close();
    const next = await openShort(path);
    assert.deepEqual(await readdir(join(path, 'temp')), ['young']);
    assert.equal((await next.read('churn'))[0]!.version, 33);
    await next.close();
  }));

test('a writer that stood still while its version came and went finds out that it lost', () =>
  inFolder(async (path) => {
    const [slow, fast] = [await LocalFolder.open(path, realRandom, short), await openShort(path)];
    const early = await slow.readNewest(await slow.first());
    await churn(fast, 7);
    const beforeFounding = await slow.readNewest(early);
    for (const times of [1, 2, 10, 16]) {
      await churn(fast, times);
      assert.equal(await slow.publish(early, new Map()), 'taken');
      assert.equal(await slow.publish(beforeFounding, new Map()), 'taken');
    }
    const [entry] = await fast.read('churn');
    assert.equal(entry!.version, 7 + 29);
    assert.equal((await slow.readNewest(early)).version, entry!.version);
    await fast.close();
  }));

test('a broker that fell behind by generations reads on', () =>
  inFolder(async (path) => {
    const [slow, fast] = [await openShort(path), await openShort(path)];
    let seen = 0;
    slow.watch('', (entries) => {
      seen = entries[0]!.version;
    });
    await churn(fast, 9);
    await eventually('the watch follows into the next generation', () => seen === 9);
    const folder = await LocalFolder.open(path, realRandom, short);
    const old = await folder.readNewest(await folder.first());
    await churn(fast, 30);
    assert.equal((await folder.readNewest(old)).version, 39);
    await Promise.all([slow.close(), fast.close()]);
  }));

test('a temporary file that was taken for a leftover is written again', () =>
  inFolder(async (path) => {
    let names = 0;
    const random = {
      ...realRandom,
      hex(length: number): string {
        const name = realRandom.hex(length);
        // Every other file is removed as soon as that can be: after it was written, before it is linked, as often as not.
        if (names++ % 2 === 0) void rm(join(path, 'temp', name), { force: true });
        return name;
      },
    };
    const coordinator = await openLocal(path, random);
    for (let i = 0; i < 20; i++) assert.ok((await coordinator.swap([{ key: `k${i}`, expect: 0, value: '' }])).ok);
    await coordinator.close();
  }));

test('a folder that was put back to an older state is not trusted by those who saw the newer one', () =>
  inFolder(async (path) => {
    const coordinator = await openLocal(path);
    await churn(coordinator, 1);
    await cp(join(path, 'map'), join(path, 'backup'), { recursive: true });
    await churn(coordinator, 1);
    await rm(join(path, 'map'), { recursive: true });
    await cp(join(path, 'backup'), join(path, 'map'), { recursive: true });
    await assert.rejects(coordinator.read(''), CoordinatorUnavailableError);
    await assert.rejects(coordinator.swap([{ key: 'x', expect: 0, value: '3' }]), /went back from version 2 to 1/);
    await coordinator.close();
  }));

test('a damaged map file is reported, never taken for an empty map', () =>
  inFolder(async (path) => {
    const coordinator = await openLocal(path);
    await churn(coordinator, 1);
    const file = join(path, 'map', (await generations(path))[0]!, '2');
    await writeFile(file, '{"version":2,"ent');
    await assert.rejects(coordinator.read(''), CoordinatorUnavailableError);
    await writeFile(file, '{"version":7,"entries":[]}');
    await assert.rejects(coordinator.read(''), /map file 2 says it is version 7/);
    await coordinator.close();
    await assert.rejects(openLocal(path), CoordinatorUnavailableError);
  }));

test('a map that grows too large refuses that swap, and others that wait with it go on', () =>
  inFolder(async (path) => {
    const coordinator = await openLocal(path);
    const [large, small] = await Promise.allSettled([
      coordinator.swap([{ key: 'large', expect: 0, value: 'x'.repeat(mapBytesMax) }]),
      coordinator.swap([{ key: 'small', expect: 0, value: 'x' }]),
    ]);
    assert.ok(large.status === 'rejected' && large.reason instanceof RangeError);
    assert.ok(small.status === 'fulfilled' && small.value.ok);
    await coordinator.close();
  }));

test('swaps that wait at the same time are made in one version', () =>
  inFolder(async (path) => {
    const coordinator = await openLocal(path);
    const swaps = Array.from({ length: 16 }, (_, i) =>
      coordinator.swap([{ key: `groups/${i}`, expect: 0, value: '' }]),
    );
    const versions = new Set((await Promise.all(swaps)).map((result) => result.entries[0]!.version));
    assert.ok(versions.size <= 2, `${versions.size} versions`);
    await coordinator.close();
  }));

test('a damaged file is named, and waited for', () =>
  inFolder(async (path) => {
    const coordinator = await openShort(path);
    await churn(coordinator, 3);
    const [generation] = await generations(path);
    const next = join(path, 'map', generation!, '4');
    await writeFile(next, '');
    await assert.rejects(coordinator.read(''), (error: Error) => {
      assert.ok(error instanceof CoordinatorUnavailableError);
      assert.match(error.message, /map\/.*\/4 is damaged/);
      return true;
    });
    await rm(next);
    await churn(coordinator, 1);
    await coordinator.close();
    await writeFile(join(path, 'origin'), '');
    await assert.rejects(openShort(path), /origin is damaged/);
  }));
