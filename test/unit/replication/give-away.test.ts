import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../../src/cluster/link/link.js';
import type { GroupRecord } from '../../../src/cluster/map.js';
import type { SwapOutcome } from '../../../src/cluster/cluster-map.js';
import type { Primary } from '../../../src/cluster/replication/primary.js';
import { encodeOpen } from '../../../src/log/open-record.js';
import { turns, until } from '../store/harness.js';
import { group, queue, TestReplica } from './bench.js';
import type { ManualClock } from '../store/manual-clock.js';

const self = { node: 'a', store: 'a', boot: 1 };
const other = { node: 'b', store: 'b', boot: 2 };

describe('a primary that is replaced', () => {
  for (const [what, inSync, mustJoin] of [
    ['may lead again if it gave its group away and is in sync still', [self, other], false],
    ['joins if it was taken out', [other], true],
  ] as const)
    it(`${what}, though it had something that did not commit`, async () => {
      const bench = await TestReplica.start();
      const { replica } = bench;
      const record = { group, epoch: 1, primary: self, inSync: [self, other], replicas: ['a', 'b'] };
      replica.recordChanged({ version: 1, value: record });
      const { primary } = replica;
      const open = encodeOpen(queue, queue, { durable: true });
      primary!.reserve(open.length);
      primary!.chunk.bytes!.set(open, primary!.offset);
      primary!.append(open.length);
      primary!.flush();
      assert.ok(replica.log.end > replica.log.committed);
      replica.recordChanged({ version: 2, value: { ...record, epoch: 2, primary: other, inSync: [...inSync] } });
      assert.equal(replica.primary, undefined);
      assert.equal(replica.log.end > replica.log.committed, !mustJoin);
      assert.equal(replica.mustJoin, mustJoin);
      await bench.close();
    });
});

/** A millisecond of its clock. */
function passes(bench: TestReplica): true {
  (bench.replica.context.clock as ManualClock).advance(1);
  return true;
}

/** A group that is led here and followed by `other`, and a record whose compare-and-sets come to `outcomes`, one after the other. */
async function led(outcomes: SwapOutcome<GroupRecord>[], follows = true) {
  const bench = await TestReplica.start();
  const { replica } = bench;
  const context = replica.context as unknown as Record<string, Record<string, unknown>>;
  const proposed: GroupRecord[] = [];
  context.map!.groups = new Map();
  context.map!.refreshSoon = () => {};
  context.map!.swapGroup = (value: GroupRecord) => {
    proposed.push(value);
    return Promise.resolve(outcomes.shift()!);
  };
  const alive = { mayDepose: () => false, promisedUntil: () => Number.POSITIVE_INFINITY };
  Object.assign(context, { liveness: { ...alive, tenure: () => ({ holds: () => true, cover() {}, end() {} }) } });
  Object.assign(context, { leading() {}, released() {} });
  const record = { group, epoch: 1, primary: self, inSync: [self, other], replicas: ['a', 'b'] };
  replica.recordChanged({ version: 1, value: record });
  const primary: Primary = replica.primary!;
  if (follows) {
    const frame = { bytes: new Uint8Array(1024), view: new DataView(new ArrayBuffer(1024)), offset: 0 };
    const link = { peer: { ...other, address: '' }, congested: false, beginFrame: () => frame } as unknown as Link;
    primary.follow(link, { epoch: 1, session: 1, store: 'b', boot: 2, joining: false, committed: 0, end: 0, tail: [] });
  }
  await turns(3);
  return { bench, primary, record, proposed };
}

describe('a group that is to be given away', () => {
  it('is open for attachments again, and they are called, when somebody else changed its record', async () => {
    const record = { group, epoch: 1, primary: self, inSync: [self, other], replicas: ['a', 'b', 'c'] };
    const { bench, primary } = await led([{ kind: 'conflict', record: { version: 2, value: record } }]);
    let called = 0;
    assert.ok(primary.giveAway(other, () => called++));
    assert.ok(primary.paused);
    await until(() => passes(bench) && called === 1);
    assert.ok(!primary.paused && !primary.isClosed);
    await bench.close();
  });

  it('so it is when the coordinator cannot be reached, and it is certain that nothing was changed', async () => {
    const { bench, primary, proposed } = await led([{ kind: 'unavailable' }]);
    let called = 0;
    assert.ok(primary.giveAway(other, () => called++));
    await until(() => passes(bench) && called === 1);
    assert.ok(!primary.paused);
    assert.equal(proposed.length, 1);
    await bench.close();
  });

  it('stays with us as long as its next primary does not follow', async () => {
    const { bench, primary } = await led([], false);
    assert.ok(!primary.giveAway(other, () => {}));
    assert.ok(!primary.paused);
    await bench.close();
  });
});
