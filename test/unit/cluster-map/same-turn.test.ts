import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { allRules } from '../../../src/base/rules.js';
import { Turn } from '../../../src/base/turn.js';
import { ClusterMap } from '../../../src/cluster/cluster-map.js';
import type { Change, Coordinator } from '../../../src/cluster/coordinator/coordinator.js';
import { MemoryCoordinator } from '../../../src/cluster/coordinator/memory.js';
import { MapKey, type Member, MemberState } from '../../../src/cluster/map.js';
import { OwnMember } from '../../../src/cluster/own-member.js';
import { realClock } from '../coordinator/ports.js';

const self = { node: 'n1', store: 's1', boot: 1 };
const member: Member = {
  ...self,
  ordinal: 1,
  address: '',
  amqp: '',
  http: '',
  pid: 1,
  lead: true,
  damaged: false,
  state: MemberState.joining,
};

async function open(): Promise<{ map: ClusterMap; coordinator: Coordinator; swaps: (readonly Change[])[] }> {
  const coordinator = new MemoryCoordinator('test').handle();
  await coordinator.swap([{ key: MapKey.member('n1'), expect: 0, value: JSON.stringify(member) }]);
  const swaps: (readonly Change[])[] = [];
  const seen: Coordinator = {
    identity: () => coordinator.identity(),
    read: (prefix) => coordinator.read(prefix),
    swap: (changes) => (swaps.push(changes), coordinator.swap(changes)),
    watch: (prefix, changed) => coordinator.watch(prefix, changed),
    close: () => coordinator.close(),
  };
  const turn = new Turn((run) => setImmediate(run));
  const map = new ClusterMap({ coordinator: seen, clock: realClock, turn, logger: silentLogger, rules: allRules });
  await map.open();
  return { map, coordinator, swaps };
}

describe('compare-and-sets of one turn', () => {
  it('leave together, but of one record only the first: the others are told that it has changed', async () => {
    const { map, coordinator, swaps } = await open();
    const version = (await coordinator.read(MapKey.member('n1')))[0]!.version;
    const outcomes = await Promise.all([
      map.swapMember({ ...member, address: 'a:1' }, version),
      map.swapMember({ ...member, node: 'n2', address: 'b:1' }, 0),
      map.swapMember({ ...member, ailing: 'disk' }, version),
    ]);
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['done', 'done', 'conflict'],
    );
    assert.deepEqual(
      swaps.map((changes) => changes.map(({ key }) => key)),
      [[MapKey.member('n1'), MapKey.member('n2')], [MapKey.member('n1')]],
    );
    assert.equal(map.members.get('n1')!.value.address, 'a:1');
    map.close();
  });

  it('of a node about itself take effect all, whatever moment they are made in', async () => {
    const { map, coordinator } = await open();
    const own = new OwnMember(self, coordinator, map, realClock);
    await Promise.all([
      own.change((now) => ({ ...now, address: 'a:1' })),
      own.change((now) => ({ ...now, ailing: 'disk' })),
      own.change((now) => ({ ...now, amqp: 'a:2' })),
    ]);
    const { address, ailing, amqp } = map.members.get('n1')!.value;
    assert.deepEqual([address, ailing, amqp], ['a:1', 'disk', 'a:2']);
    map.close();
  });
});
