import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterMap } from '../../../src/cluster/cluster-map.js';
import {
  type GroupRecord,
  type Member,
  MemberState,
  noConfig,
  Placement,
  type Replica,
  systemGroup,
} from '../../../src/cluster/map.js';
import { chooseGroup, leaderFor, leadsOf, succession } from '../../../src/cluster/replication/placement.js';
import { wantedReplicas } from '../../../src/cluster/replication/replica-places.js';

const nodes = ['n3', 'n1', 'n2', 'n4'];
const replica = (node: string): Replica => ({ node, store: node, boot: 1 });

function record(group: number, primary: string, inSync: string[], replicas: string[] = inSync): GroupRecord {
  return { group, epoch: 1, primary: replica(primary), inSync: inSync.map(replica), replicas };
}

/** A map of four members with single placement and these groups. */
function mapOf(...records: GroupRecord[]): ClusterMap {
  const member = (node: string, i: number): Member => ({
    ...replica(node),
    ordinal: i,
    address: '',
    amqp: '',
    http: '',
    pid: 1,
    lead: true,
    state: MemberState.ready,
  });
  return {
    config: { ...noConfig, replicas: 3, placement: Placement.single },
    members: new Map(nodes.map((node, i) => [node, { value: member(node, i), version: 1 }])),
    groups: new Map(records.map((value) => [value.group, { value, version: 1 }])),
    transfers: new Map(),
    isForgotten: () => false,
  } as unknown as ClusterMap;
}

describe('a single placement', () => {
  it('has one order of succession for all groups, whatever the order of their own replicas', () => {
    const system = record(systemGroup, 'n3', nodes);
    const groups = [record(1, 'n3', ['n3', 'n2', 'n1']), record(2, 'n3', ['n3', 'n1', 'n2'])];
    const map = mapOf(system, ...groups);
    assert.deepEqual(succession(system, map, 'n3'), ['n1', 'n2', 'n4']);
    for (const group of groups) assert.deepEqual(succession(group, map, 'n3'), ['n1', 'n2']);
  });

  it('prefers who could take over every group', () => {
    const system = record(systemGroup, 'n3', nodes);
    const group = record(1, 'n3', ['n3', 'n1', 'n2']);
    const map = mapOf(system, group, record(2, 'n3', ['n3', 'n2'], ['n3', 'n1', 'n2']));
    assert.deepEqual(succession(system, map, 'n3'), ['n2', 'n1', 'n4']);
    assert.deepEqual(succession(group, map, 'n3'), ['n2', 'n1']);
  });

  it('follows the system group, if that has gone elsewhere already', () => {
    const group = record(1, 'n3', ['n3', 'n1', 'n2']);
    const map = mapOf(record(systemGroup, 'n2', ['n2', 'n1'], nodes), group);
    assert.deepEqual(succession(group, map, 'n3'), ['n2', 'n1']);
  });

  it('gives a group that is led elsewhere to the node that leads, and new queues to its groups', () => {
    const stray = record(1, 'n1', ['n1', 'n3']);
    const system = record(systemGroup, 'n3', nodes);
    const map = mapOf(system, stray, record(2, 'n3', ['n3', 'n1']));
    assert.equal(leaderFor(stray, map, 'n1', leadsOf(map)), 'n3');
    assert.equal(leaderFor(record(2, 'n3', ['n3', 'n1']), map, 'n3', leadsOf(map)), undefined);
    assert.equal(leaderFor(record(1, 'n1', ['n1']), map, 'n1', leadsOf(map)), undefined);
    for (const name of ['a', 'b', 'c', 'd']) assert.equal(chooseGroup({ vhost: '/', name, owner: '' }, 'n1', map), 2);
  });

  it('places all replicas on the same nodes', () => {
    const system = record(systemGroup, 'n3', nodes);
    const groups = [1, 2, 3].map((group) => record(group, 'n3', ['n3']));
    for (const group of groups)
      assert.deepEqual(wantedReplicas(group, mapOf(system, ...groups), new Set(), 'n3'), ['n3', 'n1', 'n2']);
  });
});
