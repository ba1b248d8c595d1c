import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreIdentity } from '../../../src/store/identity.js';
import { identityName } from '../../../src/store/identity-file.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { StoreRefusedError } from '../../../src/store/refusal.js';
import { seeded } from './harness.js';

async function write(disk: MemoryDisk, name: string, text: string): Promise<void> {
  const file = await disk.open(name, { create: true });
  await file.truncate(0);
  await file.write([new TextEncoder().encode(text)], 0);
}

describe('store identity', () => {
  it('is drawn once and kept', async () => {
    const disk = new MemoryDisk();
    const first = await StoreIdentity.open(disk, seeded(1), 1);
    assert.match(first.storeId, /^[0-9a-f]{32}$/);
    assert.equal(await first.nextBoot(), 1);
    assert.equal(await first.nextBoot(), 2);
    await first.setCluster('here', false);
    await Promise.all([first.setDamaged(true), first.setSegment(7)]);
    const second = await StoreIdentity.open(disk, seeded(2), 1);
    assert.equal(second.storeId, first.storeId);
    assert.equal(second.boots, 2);
    assert.equal(second.cluster, 'here');
    assert.equal(second.damaged, true);
    assert.equal(second.segment, 7);
  });

  for (const [what, text, reason] of [
    ['no JSON', 'hello', /not JSON/],
    ['another program', '{"product":"other","format":1}', /another program/],
    ['a list', '[1]', /another program/],
    ['null', 'null', /another program/],
    ['a newer format', '{"product":"understudy","format":2}', /version 2, this node reads up to 1/],
    ['no format', '{"product":"understudy","format":-1}', /another program/],
    ['no id', '{"product":"understudy","format":1}', /no store id/],
  ] as const) {
    it(`refuses a folder with ${what}`, async () => {
      const disk = new MemoryDisk();
      await write(disk, identityName, text);
      await assert.rejects(StoreIdentity.open(disk, seeded(1), 1), (error: Error) => {
        assert.ok(error instanceof StoreRefusedError);
        assert.match(error.message, reason);
        return true;
      });
    });
  }

  it('refuses a folder whose fields make no sense', async () => {
    const disk = new MemoryDisk();
    await StoreIdentity.open(disk, seeded(1), 1);
    const file = await disk.open(identityName, { create: false });
    const bytes = new Uint8Array(await file.size());
    await file.read(bytes, 0);
    const good = { ...(JSON.parse(new TextDecoder().decode(bytes)) as object), check: undefined };
    for (const bad of [
      { boots: 'many' },
      { boots: -1 },
      { boots: 1e300 },
      { boots: 1.5 },
      { segment: '1' },
      { end: [1] },
      { end: 7 },
      { segment: -1 },
      { damaged: 'no' },
      { damaged: null },
      { cluster: 7 },
      { shared: 'no' },
    ]) {
      await write(disk, identityName, JSON.stringify({ ...good, ...bad }));
      await assert.rejects(StoreIdentity.open(disk, seeded(1), 1), /makes no sense/, JSON.stringify(bad));
    }
  });

  it('remembers that it is one of several', async () => {
    const disk = new MemoryDisk();
    const alone = await StoreIdentity.open(disk, seeded(1), 1);
    await alone.setCluster('here', false);
    alone.checkAlone();
    await alone.setCluster('here', true);
    const again = await StoreIdentity.open(disk, seeded(2), 1);
    assert.throws(() => again.checkAlone(), { name: 'StoreRefusedError', message: /a node of cluster here/ });
  });

  it('refuses a journal whose identity is lost', async () => {
    const disk = new MemoryDisk();
    await write(disk, 'journal-0000000001.seg', 'x');
    await assert.rejects(StoreIdentity.open(disk, seeded(1), 1), /has a journal/);
  });
});
