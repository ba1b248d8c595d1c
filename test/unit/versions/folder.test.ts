/** Journals of other versions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { firstVersions } from '../../../src/base/versions.js';
import type { BrokerNode } from '../../../src/broker-node.js';
import { Hashing } from '../../../src/model/access/objects.js';
import type { UserDescription } from '../../../src/model/access/operations.js';
import { StoreRefusedError } from '../../../src/store/refusal.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { consume, declare, makeNode, TestPublisher, TestSink } from '../broker-node/support.js';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const fixtures = 'test/fixtures/protocol-1';

async function put(disk: MemoryDisk, name: string, bytes: Uint8Array): Promise<void> {
  const file = await disk.open(name, { create: true });
  await file.write([bytes], 0);
  await file.truncate(bytes.length);
  await file.sync();
  await file.close();
}

/** A data folder that the first program left. It held 12 messages; of queue `old` numbers 0, 1, 2 and 4 were consumed, `purged` was purged. */
async function firstFolder(format = 1): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  const store = readFileSync(`${fixtures}/store.json`, 'utf8').replace('"format": 1', `"format": ${format}`);
  await put(disk, 'store.json', Buffer.from(store));
  const segment = 'journal-0000000001.seg';
  await put(disk, segment, gunzipSync(readFileSync(`${fixtures}/${segment}.gz`)));
  return disk;
}

async function textOf(disk: MemoryDisk, name: string): Promise<string> {
  const file = await disk.open(name, { create: false });
  const bytes = new Uint8Array(await file.size());
  await file.read(bytes, 0);
  await file.close();
  return Buffer.from(bytes).toString();
}

const formatOf = async (disk: MemoryDisk): Promise<number> =>
  (JSON.parse(await textOf(disk, 'store.json')) as { format: number }).format;

describe('a data folder that the first program left', () => {
  for (const max of [1, 2]) {
    it(`is read by a node that speaks up to version ${max}`, async () => {
      const disk = await firstFolder();
      const node = makeNode({ node: 'n1', versions: { min: 1, max } }, { disk });
      await node.start();
      const sink = new TestSink();
      await consume(node.broker, 'old', sink);
      await sink.received(8);
      const numbers = [3, 5, 6, 7, 8, 9, 10, 11];
      assert.deepEqual(
        sink.deliveries.map(({ body }) => body),
        numbers.map((number) => `message ${number}`),
      );
      assert.equal((await node.broker.queueStatus('/', 'both')).messages, 12);
      assert.equal((await node.broker.queueStatus('/', 'purged')).messages, 0);
      for (let tries = 0; tries < 100 && node.map.config.version < max; tries++) await sleep(20);
      await node.stop();
      assert.equal(await formatOf(disk), max, 'older programs open it as long as it is of their version');
    });
  }
});

describe('a data folder that is older than users', () => {
  const guest = { name: 'guest', tags: ['administrator'], hashing: Hashing.sha256, hash: 'x', scram: '' };
  const makesGuest = async (): Promise<UserDescription[]> => [guest];

  async function until(node: BrokerNode, what: () => boolean): Promise<void> {
    for (let tries = 0; !what(); tries++) {
      assert.ok(tries < 200, `${node.map.config.version}`);
      await sleep(20);
    }
  }

  it('begins with guest and the vhost / once all nodes know users, and never again', async (t) => {
    const disk = await firstFolder();
    const first = makeNode({ node: 'n1', versions: { min: 1, max: 2 } }, { disk, firstUsers: makesGuest });
    t.after(() => first.stop());
    await first.start();
    await until(first, () => first.map.config.version === 2);
    await assert.rejects(
      first.access.setUser({ ...guest, name: 'ann' }),
      /it takes 3, which is spoken when all nodes do/,
    );
    assert.deepEqual(
      first.access.vhosts().map(({ name }) => name),
      ['/'],
    );
    await first.stop();
    const second = makeNode({ node: 'n1' }, { disk, firstUsers: makesGuest });
    t.after(() => second.stop());
    await second.start();
    await until(second, () => second.map.config.version === 3);
    // It waits for the beginning.
    await second.access.setUser({ ...guest, name: 'ann' });
    assert.deepEqual(second.access.user('guest')?.tags, ['administrator']);
    assert.equal(second.access.permission('guest', '/')?.write, '.*');
    assert.equal((await second.broker.queueStatus('/', 'both')).messages, 12);
    await second.access.deleteUser('guest');
    await second.stop();
    const third = makeNode({ node: 'n1' }, { disk, firstUsers: makesGuest });
    t.after(() => third.stop());
    await third.start();
    assert.equal(third.recoveredAccess?.user('guest'), undefined);
    assert.deepEqual(third.recoveredAccess?.user('ann')?.tags, ['administrator']);
    // Whatever the primary did unasked at its start has been done by now.
    await third.access.setUser({ ...guest, name: 'bob' });
    assert.equal(third.access.user('guest'), undefined);
    assert.equal(third.tables.access.isFounded, true);
    await third.stop();
  });
});

describe('a data folder of a newer version', () => {
  it('is refused, and the text says what to do', async () => {
    const node = makeNode({ node: 'n1', versions: firstVersions }, { disk: await firstFolder(2) });
    await assert.rejects(
      node.start(),
      (error: Error) =>
        error instanceof StoreRefusedError && /version 2, .* up to 1: start it with/.test(error.message),
    );
    await node.stop();
  });

  it('is refused by what is in the journal, too', async () => {
    const disk = new MemoryDisk();
    const newer = makeNode({ node: 'n1' }, { disk });
    await newer.start();
    await declare(newer.broker, 'q');
    const publisher = new TestPublisher(newer.broker);
    for (let i = 0; i < 3; i++) publisher.publish('q', `m${i}`);
    await publisher.confirmed();
    await newer.broker.wiring.purgeQueue('/', 'q', 'test/1/1');
    await newer.stop();
    const { check: _check, ...content } = JSON.parse(await textOf(disk, 'store.json')) as { check: string };
    await put(disk, 'store.json', Buffer.from(JSON.stringify({ ...content, format: 1 })));
    const older = makeNode({ node: 'n1', versions: firstVersions }, { disk });
    await assert.rejects(
      older.start(),
      (error: Error) => error instanceof StoreRefusedError && /journal-.* is of protocol version 2/.test(error.message),
    );
    await older.stop();
  });
});
