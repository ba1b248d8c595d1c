import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterMap, SwapOutcome } from '../../../src/cluster/cluster-map.js';
import { type GroupRecord, MemberState, noConfig, Placement } from '../../../src/cluster/map.js';
import { GroupMaker } from '../../../src/cluster/replication/group-maker.js';
import { wantedReplicas } from '../../../src/cluster/replication/replica-places.js';
import { QueuePlaces } from '../../../src/cluster/wiring/queue-places.js';
import { silentLogger } from '../../../src/base/logger.js';
import type { Arguments } from '../../../src/model/broker.js';
import { declareQueue, InstantWiring, queueObject } from '../model-wiring/support.js';

/** Three nodes; groups 1 to 3 of three replicas, each led by one of them. */
class World {
  readonly wiring = new InstantWiring();
  readonly groups = new Map<number, { value: GroupRecord; version: number }>();
  readonly config = { ...noConfig, replicas: 3, groups: 3 };
  readonly map: ClusterMap;
  readonly places: QueuePlaces;

  constructor() {
    const members = new Map(
      ['n1', 'n2', 'n3'].map((node, i) => {
        const value = { node, store: `s${i}`, boot: i + 1, ordinal: i + 1, state: MemberState.ready };
        return [node, { value, version: 1 }] as const;
      }),
    );
    const swapGroup = (value: GroupRecord): Promise<SwapOutcome<GroupRecord>> => {
      const record = { value, version: 1 };
      this.groups.set(value.group, record);
      return Promise.resolve({ kind: 'done', record });
    };
    const { groups, config } = this;
    this.map = {
      groups,
      members,
      config,
      transfers: new Map(),
      isForgotten: () => false,
      swapGroup,
    } as unknown as ClusterMap;
    for (const node of ['n1', 'n1', 'n2', 'n3']) {
      const first = { node, store: '', boot: 1 };
      const group = this.groups.size;
      const value = { group, epoch: 1, primary: first, inSync: [first], replicas: ['n1', 'n2', 'n3'] };
      this.groups.set(group, { value, version: 1 });
    }
    const { tables } = this.wiring;
    this.places = new QueuePlaces(tables, this.map, new GroupMaker(this.map, silentLogger), 'n1');
  }

  async group(node: string, args: Arguments = {}, durable = true): Promise<GroupRecord> {
    const queue = queueObject('q', { arguments: args, durable, group: 0 });
    for (;;) {
      const group = this.places.choose(queue, node);
      if (group !== undefined) return this.groups.get(group)!.value;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

describe('groups of another size', () => {
  test('a queue that asks for nothing is in one of the groups of the cluster', async () => {
    const world = new World();
    assert.equal((await world.group('n2')).group, 2);
    assert.equal(world.groups.size, 4);
  });

  test('are made when a queue asks for one, on the node that declares it, once', async () => {
    const world = new World();
    const two = await world.group('n2', { 'x-replicas': 2 });
    assert.deepEqual([two.group, two.size, two.primary.node, two.replicas], [4, 2, 'n2', ['n2']]);
    assert.equal(await world.group('n2', { 'x-replicas': 2 }), two);
    // Whoever leads none of that size uses another's.
    assert.equal(await world.group('n3', { 'x-replicas': 2 }), two);
    assert.equal(world.groups.size, 5);
    assert.equal((await world.group('n3', { 'x-replicas': 3 })).size, undefined);
  });

  test('get as many replicas as they ask for, and no more', async () => {
    const world = new World();
    const two = await world.group('n2', { 'x-replicas': 2 });
    const wanted = wantedReplicas(two, world.map, new Set(), 'n2')!;
    assert.equal(wanted.length, 2);
    assert.equal(wantedReplicas({ ...two, replicas: wanted }, world.map, new Set(), 'n2'), undefined);
    const five = await world.group('n2', { 'x-replicas': 5 });
    assert.equal(wantedReplicas(five, world.map, new Set(), 'n2')!.length, 3);
  });

  test('what is not replicated is on the node that declares it, and stays there', async () => {
    for (const args of [
      { 'x-replicate': 'none' },
      { 'x-replicate': 'configuration' },
      { 'x-replicate': false },
      { 'qpid.replicate': false },
      { 'x-qpid-replicate': 'none' },
    ]) {
      const world = new World();
      for (const node of ['n2', 'n3']) {
        const one = await world.group(node, args);
        assert.deepEqual([one.size, one.replicas], [1, [node]], JSON.stringify(args));
        for (const placement of [Placement.spread, Placement.ring]) {
          world.config.placement = placement;
          assert.equal(wantedReplicas(one, world.map, new Set(), node), undefined);
        }
      }
    }
    const world = new World();
    assert.equal((await world.group('n2', { 'x-replicate': true })).size, undefined);
  });

  test('a policy, else the default of the cluster, says it where the queue does not', async () => {
    const world = new World();
    world.wiring.tables.settings.defaults = { minInSync: 1, replicate: 'durable' };
    assert.equal((await world.group('n2')).size, undefined);
    assert.equal((await world.group('n2', {}, false)).size, 1);
    assert.equal((await world.group('n2', { 'x-replicate': 'all' }, false)).size, undefined);
    world.wiring.tables.settings.defaults = { minInSync: 1, replicate: 'none' };
    assert.equal((await world.group('n2')).size, 1);
    const policy = {
      vhost: '/',
      name: 'p',
      pattern: '^q',
      priority: 0,
      applyTo: 'all',
      definition: { replicate: 'all', replicas: 2 },
    } as const;
    world.wiring.done({ op: 'setPolicy', policy });
    assert.equal((await world.group('n2')).size, 2);
  });

  test('nonsense is refused with what is allowed', () => {
    const wiring = new InstantWiring();
    assert.match(
      wiring.refused(declareQueue('q', { arguments: { 'x-replicate': 'some' } })),
      /^precondition-failed: invalid arg 'x-replicate' for queue 'q' .*'all' or 'configuration' or 'none' or 'true' or 'false' is expected/,
    );
    assert.match(
      wiring.refused(declareQueue('q', { arguments: { 'x-replicas': 0 } })),
      /an integer from 1 to 31 is expected/,
    );
    wiring.done(declareQueue('q', { arguments: { 'x-replicate': 'none' } }));
    assert.match(wiring.refused(declareQueue('q')), /inequivalent arg 'x-replicate'/);
    wiring.version = 1;
    assert.match(
      wiring.refused(declareQueue('r', { arguments: { 'x-replicas': 2 } })),
      /with 'x-replicas' while the cluster speaks protocol version 1: it takes 2/,
    );
  });
});
