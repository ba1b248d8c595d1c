import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import type { Coordinator } from '../../../src/cluster/coordinator/coordinator.js';
import { type GroupRecord, MapKey, type Replica } from '../../../src/cluster/map.js';
import { CoordinatorWatch } from '../../../src/cluster/restored/coordinator-watch.js';
import { forgottenRecord, RestoredKey, settle } from '../../../src/cluster/restored/reports.js';
import { Restoration } from '../../../src/cluster/restored/restoration.js';
import type { GroupMeta } from '../../../src/log/journal.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { realClock, realRandom } from '../broker-node/support.js';

const replica = (node: string, boot = 1): Replica => ({ node, boot, store: node });

function record(epoch: number, inSync: string[], group = 1): GroupRecord {
  const members = inSync.map((node) => replica(node));
  return { group, epoch, primary: members[0]!, inSync: members, replicas: ['n1', 'n2', 'n3'] };
}

function meta(value: GroupRecord, version: number, epoch = value.epoch): GroupMeta {
  const text = JSON.stringify({ value, version });
  return { record: text, epoch, joining: false, voids: [], publishers: [[40, 7]], wiringVersion: 0, applied: 0 };
}

const report = (node: string, value: GroupRecord, version: number, epoch = value.epoch) => ({
  node,
  store: node,
  number: 1,
  boots: 9,
  groups: [{ record: { value, version }, epoch }],
});

class Memory {
  readonly storeId = 's';
  readonly boots = 3;
  coordinator = { identity: '', version: 0, restorations: 0 };
  async setCoordinator(mark: Memory['coordinator']): Promise<void> {
    this.coordinator = mark;
  }
}

function starting(node: string, coordinator: Coordinator, memory: Memory, metas: GroupMeta[] = []): Restoration {
  const recovered = new Map(metas.map((each) => [1, { meta: each }]));
  return new Restoration({
    ...{ node, memory, coordinator, recovered },
    ...{ clock: realClock, random: realRandom, logger: silentLogger },
  });
}

const groupKey = MapKey.group(1);

describe('what follows from reports', () => {
  const there = [{ key: groupKey, value: JSON.stringify(record(3, ['n1', 'n2', 'n3'])), version: 30 }];

  it('is the newest record, with an epoch above all', () => {
    const settled = settle(there, [
      report('n1', record(3, ['n1', 'n2']), 50),
      report('n2', record(3, ['n1', 'n2', 'n3']), 40, 5),
      report('n3', record(2, ['n3']), 99),
    ]);
    assert.deepEqual([...settled.missing], []);
    assert.deepEqual(settled.records, [{ ...record(3, ['n1', 'n2']), epoch: 1005 }]);
    assert.equal(settled.boots, 1009);
  });

  it('waits for every wanted replica of it', () => {
    assert.deepEqual(
      [...settle(there, [report('n2', record(3, ['n2']), 40)]).missing],
      [
        ['n1', [1]],
        ['n3', [1]],
      ],
    );
  });

  it('tells a record that the coordinator has forgotten', () => {
    const metas = (value: GroupRecord, version: number): [number, GroupMeta][] => [[1, meta(value, version)]];
    assert.equal(forgottenRecord(there, metas(record(3, ['n1']), 31))?.epoch, 3);
    assert.equal(forgottenRecord(there, metas(record(4, ['n1']), 1))?.epoch, 4);
    assert.equal(forgottenRecord([], metas(record(1, ['n1']), 1))?.epoch, 1);
    assert.equal(forgottenRecord(there, metas(record(3, ['n1']), 30)), undefined);
    assert.equal(forgottenRecord(there, metas(record(2, ['n1']), 99)), undefined);
  });
});

describe('a node that starts', () => {
  it('believes a coordinator that it does not know, and one that went on', async () => {
    const store = new MemoryCoordinator('first');
    const memory = new Memory();
    await starting('n1', store.handle(), memory).settled();
    assert.equal(memory.coordinator.identity, 'first');
    store.swap([{ key: groupKey, expect: 0, value: JSON.stringify(record(3, ['n1'])) }]);
    await starting('n1', store.handle(), memory, [meta(record(3, ['n1']), 1)]).settled();
    assert.deepEqual(memory.coordinator, { identity: 'first', version: 1, restorations: 0 });
    assert.equal(store.read(RestoredKey.state).length, 0);
  });

  for (const [why, known] of [
    ['another one', { identity: 'other', version: 0, restorations: 0 }],
    ['an older one', { identity: 'first', version: 5, restorations: 0 }],
    ['one that has forgotten a restoration', { identity: 'first', version: 0, restorations: 1 }],
  ] as const)
    it(`waits for all reports before it believes ${why}; then the newest record is in force`, async () => {
      const store = new MemoryCoordinator('first');
      store.swap([{ key: groupKey, expect: 0, value: JSON.stringify(record(3, ['n1', 'n2', 'n3'])) }]);
      const memories = ['n1', 'n2', 'n3'].map(() => new Memory());
      for (const memory of memories) memory.coordinator = { ...known };
      const metas = [[meta(record(4, ['n1']), 60)], [], []];
      const nodes = memories.map((memory, i) => starting(`n${i + 1}`, store.handle(), memory, metas[i]));
      const ended = new Set<number>();
      const run = (i: number): Promise<void> => nodes[i]!.settled().then(() => void ended.add(i));
      const first = [run(1), run(2)];
      await new Promise((resolve) => setTimeout(resolve, 1200));
      assert.equal(ended.size, 0);
      assert.match(nodes[1]!.waitsFor, /n1 \(groups 1\)/);
      await Promise.all([...first, run(0)]);
      const now = JSON.parse(store.read(groupKey)[0]!.value) as GroupRecord;
      assert.deepEqual(now, { ...record(4, ['n1']), epoch: 1004 });
      assert.ok(Number(store.read(MapKey.boots)[0]!.value) > 1000);
      const restorations = known.restorations + 1;
      for (const memory of memories) assert.equal(memory.coordinator.restorations, restorations);
      assert.equal(store.read('reports/').length, 0, 'tidied');
      await starting('n1', store.handle(), memories[0]!, metas[0]).settled();
    });

  it('goes on without reports when the operator says so', async () => {
    const store = new MemoryCoordinator('first');
    store.swap([{ key: groupKey, expect: 0, value: JSON.stringify(record(3, ['n1', 'n2', 'n3'])) }]);
    const memory = new Memory();
    memory.coordinator = { identity: 'other', version: 0, restorations: 0 };
    const node = starting('n2', store.handle(), memory);
    assert.equal(await node.accept('guest'), false, 'nothing is waited for');
    const settled = node.settled();
    while (node.waitsFor === '') await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await node.accept('guest'), true);
    await settled;
    assert.equal((JSON.parse(store.read(groupKey)[0]!.value) as GroupRecord).epoch, 1003);
  });
});

describe('a node that runs', () => {
  it('remembers how far the coordinator was', () => {
    const clock = new ManualClock();
    const memory = new Memory();
    const watch = new CoordinatorWatch(memory, clock, () => assert.fail('restored'));
    for (const version of [3, 9, 4]) watch.seen({ key: groupKey, value: '{}', version });
    clock.advance(1000);
    assert.equal(memory.coordinator.version, 9);
    watch.close();
  });

  it('ends when others have found that it was put back, once', () => {
    const memory = new Memory();
    memory.coordinator = { identity: 'first', version: 0, restorations: 1 };
    let times = 0;
    const watch = new CoordinatorWatch(memory, new ManualClock(), () => times++);
    const state = (number: number) => JSON.stringify({ number, identity: 'x', open: true, accepted: '' });
    watch.seen({ key: RestoredKey.state, value: state(1), version: 5 });
    assert.equal(times, 0);
    watch.seen({ key: RestoredKey.state, value: state(2), version: 6 });
    watch.seen({ key: RestoredKey.state, value: state(3), version: 7 });
    assert.equal(times, 1);
  });
});
