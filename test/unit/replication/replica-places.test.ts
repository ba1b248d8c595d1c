import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterMap } from '../../../src/cluster/cluster-map.js';
import { type GroupRecord, Placement, type Transfer } from '../../../src/cluster/map.js';
import { Demand } from '../../../src/cluster/replication/demand.js';
import { leaderFor, leadsOf } from '../../../src/cluster/replication/placement.js';
import { surplus, wantedReplicas } from '../../../src/cluster/replication/replica-places.js';

const nobody: ReadonlySet<string> = new Set();
const replica = (node: string) => ({ node, store: node, boot: 1 });

function mapOf(names: readonly string[], placement: Placement, wishes: readonly Transfer[] = []): ClusterMap {
  const member = (node: string) => ({ value: { ...replica(node), state: 'ready', lead: true }, version: 1 });
  return {
    config: { replicas: 3, placement },
    members: new Map(names.map((node) => [node, member(node)])),
    groups: new Map(),
    transfers: new Map(wishes.map((value) => [value.group, { value, version: 1 }])),
    isForgotten: () => false,
  } as unknown as ClusterMap;
}

function recordOf(group: number, replicas: string[], inSync = replicas): GroupRecord {
  return { group, epoch: 1, primary: replica(inSync[0]!), inSync: inSync.map(replica), replicas };
}

describe('a ring', () => {
  it('has each group on neighbours, led by the first, and adjusts when a node comes between them', () => {
    const before = mapOf(['a', 'b', 'd', 'e'], Placement.ring);
    assert.deepEqual(wantedReplicas(recordOf(1, ['a']), before, nobody, 'a'), ['a', 'b', 'd']);
    assert.deepEqual(wantedReplicas(recordOf(3, ['a']), before, nobody, 'a'), ['d', 'e', 'a']);
    assert.equal(wantedReplicas(recordOf(2, ['b', 'd', 'e']), before, nobody, 'b'), undefined);
    const after = mapOf(['a', 'b', 'c', 'd', 'e'], Placement.ring);
    assert.deepEqual(wantedReplicas(recordOf(2, ['b', 'd', 'e']), after, nobody, 'b'), ['b', 'c', 'd']);
    assert.equal(leaderFor(recordOf(2, ['b', 'c', 'd'], ['d', 'b']), after, 'd', leadsOf(after)), 'b');
    assert.equal(leaderFor(recordOf(2, ['b', 'c', 'd'], ['c', 'd']), after, 'c', leadsOf(after)), undefined);
  });

  it('closes when a node is lost', () => {
    const map = mapOf(['a', 'b', 'c', 'd'], Placement.ring);
    assert.deepEqual(wantedReplicas(recordOf(1, ['a', 'b', 'c']), map, new Set(['b']), 'a'), ['a', 'c', 'd']);
  });
});

describe('a node that is forgotten', () => {
  const map = (names: string[]): ClusterMap => {
    const known = mapOf(names, Placement.spread);
    return Object.assign(known, { isForgotten: (node: string) => !names.includes(node) });
  };

  it('has no replica any more, once it is out of the in-sync set', () => {
    assert.deepEqual(wantedReplicas(recordOf(1, ['a', 'b', 'c'], ['a', 'b']), map(['a', 'b']), nobody, 'a'), [
      'a',
      'b',
    ]);
    assert.equal(wantedReplicas(recordOf(1, ['a', 'b', 'c']), map(['a', 'b']), nobody, 'a'), undefined);
    assert.deepEqual(wantedReplicas(recordOf(0, ['a', 'b', 'c'], ['a']), map(['a', 'b']), nobody, 'a'), ['a', 'b']);
  });

  it('gives its place to another', () => {
    const wanted = wantedReplicas(recordOf(1, ['a', 'b', 'c'], ['a', 'b']), map(['a', 'b', 'd']), nobody, 'a');
    assert.deepEqual(wanted, ['a', 'b', 'd']);
  });
});

describe('a replica that an operator moves', () => {
  const wish = { group: 1, replicas: ['a', 'd', 'c'] };

  it('is placed as wanted, as long as that node is there', () => {
    const record = recordOf(1, ['a', 'b', 'c']);
    const map = mapOf(['a', 'b', 'c', 'd', 'e'], Placement.spread, [wish]);
    assert.deepEqual(wantedReplicas(record, map, nobody, 'a'), ['a', 'd', 'c']);
    assert.equal(wantedReplicas(record, map, new Set(['d']), 'a'), undefined);
    assert.deepEqual(wantedReplicas(recordOf(1, ['a', 'd', 'c']), map, new Set(['d']), 'a'), ['a', 'b', 'c']);
  });

  it('stays where it was until the new one is in sync, and goes then', () => {
    const map = mapOf(['a', 'b', 'c', 'd'], Placement.spread, [wish]);
    assert.deepEqual(surplus(recordOf(1, wish.replicas, ['a', 'b', 'c']), map, 'a'), []);
    assert.deepEqual(surplus(recordOf(1, wish.replicas, ['a', 'b', 'c', 'd']), map, 'a'), [replica('b')]);
  });

  it('takes the primary with it', () => {
    const map = mapOf(['a', 'b', 'c', 'd'], Placement.spread);
    assert.equal(leaderFor(recordOf(1, ['d', 'b', 'c'], ['a', 'b', 'c', 'd']), map, 'a', leadsOf(map)), 'd');
  });
});

describe('all groups of the cluster', () => {
  it('are counted once, however many groups are looked at, and not at all while nothing is free, lost or to be given away', () => {
    let counted = 0;
    class Counted<K, V> extends Map<K, V> {
      override values(): MapIterator<V> {
        counted++;
        return super.values();
      }
    }
    const map = Object.assign(mapOf(['a', 'b', 'c', 'd'], Placement.spread), { groups: new Counted() });
    const records = [1, 2, 3, 4, 5].map((group) => recordOf(group, ['a', 'b', 'c']));
    for (const value of records) map.groups.set(value.group, { value, version: 1 });
    const leads = leadsOf(map);
    for (const record of records) assert.equal(wantedReplicas(record, map, nobody, 'a'), undefined);
    assert.equal(counted, 0);
    for (const record of records) assert.equal(leaderFor(record, map, 'a', leads), 'b');
    assert.equal(counted, 1);
    for (const record of records)
      assert.deepEqual(wantedReplicas(record, map, new Set(['c']), 'a'), ['a', 'b', 'd'], 'nobody has less than d');
  });
});

describe('who is to lead', () => {
  const record = recordOf(3, ['a', 'b', 'c'], ['a', 'c']);
  const nobodyElse = (): undefined => undefined;

  it('is another if an operator’s choice cannot, and this node is not to', () => {
    const map = mapOf(['a', 'b', 'c'], Placement.spread, [{ group: 3, to: 'b' }]);
    assert.equal(leaderFor(record, map, 'a', leadsOf(map)), undefined);
    map.members.get('a')!.value.state = 'draining';
    assert.equal(leaderFor(record, map, 'a', leadsOf(map)), 'c');
    assert.equal(leaderFor(recordOf(3, ['a', 'b', 'c']), map, 'a', leadsOf(map)), 'b');
  });

  it('is none that keeps its replica only until another has joined', () => {
    const map = mapOf(['a', 'b', 'c', 'd'], Placement.spread);
    const led = [1, 2, 4].map((group) => recordOf(group, ['b', 'c', 'd']));
    for (const value of led) map.groups.set(value.group, { value, version: 1 });
    assert.equal(leaderFor(recordOf(4, ['b', 'c', 'd'], ['b', 'a', 'c']), map, 'b', leadsOf(map)), 'c');
  });

  it('is one with a place, though the consumers are here, or want one without', () => {
    const map = mapOf(['a', 'b', 'c', 'd'], Placement.followConsumers);
    assert.equal(leaderFor(recordOf(3, ['d', 'b'], ['a', 'b', 'd']), map, 'a', leadsOf(map), nobodyElse), 'd');
    const asked: boolean[] = [];
    leaderFor(recordOf(3, ['b', 'd'], ['b', 'a', 'd']), map, 'b', leadsOf(map), (isAble) => {
      asked.push(isAble('a'), isAble('d'));
      return undefined;
    });
    assert.deepEqual(asked, [false, true]);
  });
});

describe('the demand for a group', () => {
  it('is where most is taken, and turns with it', () => {
    const demand = new Demand();
    const counts = new Map([
      ['a', 0],
      ['b', 0],
    ]);
    const pass = (from: number, seconds: number, rates: Record<string, number>): number => {
      for (let now = from; now <= from + seconds * 1000; now += 500) {
        for (const [node, rate] of Object.entries(rates)) counts.set(node, counts.get(node)! + rate / 2);
        demand.sample(now, () => [...counts].map(([node, delivered]) => ({ node, delivered, consumers: 1 })));
      }
      return from + seconds * 1000 + 500;
    };
    const now = pass(0, 5, { a: 100, b: 40 });
    assert.equal(demand.heaviest('b'), 'a');
    assert.equal(demand.heaviest('a'), undefined);
    pass(now, 20, { a: 40, b: 60 });
    assert.equal(demand.heaviest('a'), undefined, 'not clearly more');
    pass(now + 20_500, 20, { a: 0, b: 60 });
    assert.equal(demand.heaviest('a'), 'b');
  });

  it('goes round by name among those that are interested and may lead', () => {
    const demand = new Demand();
    demand.sample(0, () => [
      { node: 'c', delivered: 0, consumers: 1 },
      { node: 'a', delivered: 0, consumers: 2 },
      { node: 'b', delivered: 9, consumers: 0 },
    ]);
    const anyone = (): boolean => true;
    assert.equal(demand.nextAfter('a', anyone), 'c');
    assert.equal(demand.nextAfter('b', anyone), 'c');
    assert.equal(demand.nextAfter('c', anyone), 'a');
    assert.equal(
      demand.nextAfter('c', (node) => node !== 'a'),
      undefined,
    );
  });
});
