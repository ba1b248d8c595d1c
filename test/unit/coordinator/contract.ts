/** What every coordinator engine must do; each engine's test calls it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Coordinator,
  CoordinatorUnavailableError,
  type Entry,
} from '../../../src/cluster/coordinator/coordinator.js';

export interface CoordinatorWorld {
  /** A handle of one more broker. */
  open(): Promise<Coordinator>;
  dispose(): Promise<void>;
}

type Body = (world: CoordinatorWorld) => Promise<void>;

/** Entries as `key=value`, without versions. */
const plain = (entries: readonly Entry[]): string[] => entries.map(({ key, value }) => `${key}=${value}`);

/** Creates keys that must not exist. */
async function create(coordinator: Coordinator, values: Record<string, string>): Promise<Entry[]> {
  const result = await coordinator.swap(Object.entries(values).map(([key, value]) => ({ key, expect: 0, value })));
  assert.ok(result.ok);
  return result.entries;
}

/** Adds 1 to every key, all or nothing, as often as it takes. */
async function increment(coordinator: Coordinator, keys: readonly string[]): Promise<void> {
  let entries = await Promise.all(keys.map(async (key) => (await coordinator.read(key))[0]!));
  for (;;) {
    const changes = entries.map(({ key, value, version }) => ({
      key,
      expect: version,
      value: String(Number(value) + 1),
    }));
    const result = await coordinator.swap(changes);
    if (result.ok) return;
    entries = result.entries;
  }
}

export async function eventually(what: string, condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!condition()) {
    assert.ok(Date.now() < end, `not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const cases: Record<string, Body> = {
  'identity is the same for all and stays': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    assert.match(await a.identity(), /\S{8,}/);
    assert.equal(await a.identity(), await b.identity());
  },

  'a swap makes all its changes or none, and says what stands': async (world) => {
    const a = await world.open();
    const [x, y] = await create(a, { x: '1', y: '1' });
    const failed = await a.swap([
      { key: 'x', expect: x!.version, value: '2' },
      { key: 'y', expect: y!.version + 1000, value: '2' },
      { key: 'z', expect: 0, value: '2' },
    ]);
    assert.deepEqual(failed, { ok: false, entries: [x, y, { key: 'z', value: '', version: 0 }] });
    assert.deepEqual(await a.read(''), [x, y]);
    const done = await a.swap([
      { key: 'x', expect: x!.version, value: '2' },
      { key: 'y', expect: y!.version, value: null },
    ]);
    assert.ok(done.ok && done.entries[0]!.version > x!.version);
    assert.deepEqual(done.entries[1], { key: 'y', value: '', version: 0 });
    assert.deepEqual(await a.read(''), [done.entries[0]]);
  },

  'expected 0 means that the key must not exist': async (world) => {
    const a = await world.open();
    const [x] = await create(a, { x: '1' });
    const again = await a.swap([{ key: 'x', expect: 0, value: '2' }]);
    assert.deepEqual(again, { ok: false, entries: [x] });
    assert.ok(!(await a.swap([{ key: 'none', expect: x!.version, value: '2' }])).ok);
  },

  'a version is never used again, not even after a deletion': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    const seen = new Set<number>();
    for (let i = 0; i < 20; i++) {
      const handle = i % 2 ? a : b;
      const [x] = await create(handle, { x: 'same' });
      assert.ok(!seen.has(x!.version));
      seen.add(x!.version);
      assert.ok((await handle.swap([{ key: 'x', expect: x!.version, value: null }])).ok);
    }
  },

  'a read sees every swap that was answered before, through whichever handle': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    let [x] = await create(a, { x: '0' });
    for (let i = 1; i <= 50; i++) {
      const result = await a.swap([{ key: 'x', expect: x!.version, value: String(i) }]);
      x = result.entries[0];
      assert.deepEqual(await b.read('x'), [x]);
    }
  },

  'a read takes a prefix, and nothing else': async (world) => {
    const a = await world.open();
    await create(a, { 'groups/1': 'a', 'groups/10': 'b', group: 'c', 'members/n1': 'd' });
    assert.deepEqual(plain(await a.read('groups/')), ['groups/1=a', 'groups/10=b']);
    assert.equal((await a.read('')).length, 4);
    assert.deepEqual(await a.read('nothing'), []);
  },

  'swaps by many at once: no update is lost, and none is made by half': async (world) => {
    const handles = await Promise.all(Array.from({ length: 4 }, () => world.open()));
    await create(handles[0]!, { a: '0', b: '0', c: '0' });
    const rounds = 25;
    await Promise.all(
      handles.map(async (handle, i) => {
        const keys = i % 2 ? ['a', 'b'] : ['b', 'c'];
        for (let round = 0; round < rounds; round++) await increment(handle, keys);
      }),
    );
    assert.deepEqual(plain(await handles[1]!.read('')), [`a=${2 * rounds}`, `b=${4 * rounds}`, `c=${2 * rounds}`]);
  },

  'many swaps of one handle at once are answered each for itself': async (world) => {
    const a = await world.open();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => a.swap([{ key: `k${i % 50}`, expect: 0, value: String(i) }])),
    );
    assert.equal(results.filter((result) => result.ok).length, 50);
    const entries = await a.read('');
    assert.equal(entries.length, 50);
    for (const result of results)
      assert.deepEqual(
        result.entries[0],
        entries.find(({ key }) => key === result.entries[0]!.key),
      );
  },

  'a swap may not name a key twice': async (world) => {
    const a = await world.open();
    const change = { key: 'x', expect: 0, value: '1' };
    await assert.rejects(a.swap([change, change]), TypeError);
  },

  'a watch reports the newest state of every key that changes, its own handle included': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    await create(a, { old: '0' });
    await b.read('');
    const seen = new Map<string, Entry>();
    const lastVersions = new Map<string, number>();
    for (const handle of [a, b]) {
      handle.watch('w', (entries) => {
        for (const entry of entries) {
          const id = `${handle === a ? 'a' : 'b'}:${entry.key}`;
          if (entry.version > 0) {
            assert.ok(entry.version > (lastVersions.get(id) ?? 0), 'in order');
            lastVersions.set(id, entry.version);
          }
          seen.set(id, entry);
        }
      });
    }
    await create(a, { w0: '0', w1: '0', w2: '0', other: '0' });
    for (let i = 0; i < 30; i++) await increment(i % 2 ? a : b, ['w0', `w${1 + (i % 2)}`]);
    const [w2] = await a.read('w2');
    const last = await b.swap([{ key: 'w2', expect: w2!.version, value: null }]);
    assert.ok(last.ok);
    const state = new Map((await a.read('w')).map((entry) => [entry.key, entry]));
    await eventually(
      'both watches have seen the last change',
      () => !seen.get('a:w2')?.version && !seen.get('b:w2')?.version,
    );
    for (const side of ['a', 'b']) {
      for (const key of ['w0', 'w1']) {
        await eventually(`${side} sees ${key}`, () => seen.get(`${side}:${key}`)?.version === state.get(key)!.version);
      }
      assert.deepEqual(seen.get(`${side}:w2`), { key: 'w2', value: '', version: 0 });
    }
    assert.ok(![...seen.keys()].some((key) => /old|other/.test(key)));
  },

  'a closed watch is told nothing more, nor is a closed handle': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    let told = 0;
    const watch = a.watch('', () => told++);
    await create(a, { x: '1' });
    await eventually('the change is seen', () => told === 1);
    watch.close();
    watch.close();
    b.watch('', () => told++);
    await b.close();
    await create(a, { y: '1' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(told, 1);
  },

  'a closed handle is unavailable, the others go on': async (world) => {
    const [a, b] = [await world.open(), await world.open()];
    await create(a, { x: '1' });
    await a.close();
    await a.close();
    await assert.rejects(a.read(''), CoordinatorUnavailableError);
    await assert.rejects(a.identity(), CoordinatorUnavailableError);
    await assert.rejects(a.swap([]), CoordinatorUnavailableError);
    assert.deepEqual(plain(await b.read('')), ['x=1']);
  },

  'a new handle sees what was there and goes on': async (world) => {
    const a = await world.open();
    const [x] = await create(a, { x: '1' });
    await a.close();
    const b = await world.open();
    assert.deepEqual(await b.read(''), [x]);
    assert.ok((await b.swap([{ key: 'x', expect: x!.version, value: '2' }])).ok);
  },
};

/** Registers the contract's tests for one engine. */
export function coordinatorContract(engine: string, begin: (context: TestContext) => Promise<CoordinatorWorld>): void {
  for (const [name, body] of Object.entries(cases)) {
    test(`${engine}: ${name}`, { timeout: 60_000 }, async (context) => {
      const world = await begin(context);
      try {
        await body(world);
      } finally {
        await world.dispose();
      }
    });
  }
}
