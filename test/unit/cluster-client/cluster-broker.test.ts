import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedError } from '../../../src/base/errors.js';
import { allRules } from '../../../src/base/rules.js';
import { silentLogger } from '../../../src/base/logger.js';
import { nobody } from '../../../src/model/broker.js';
import { ClusterBroker, type ConnectionWiring } from '../../../src/cluster/client/cluster-broker.js';
import { QueueAccess } from '../../../src/cluster/client/queue-access.js';
import { outboxSource, SourcesGate } from '../../../src/cluster/client/publish-gate.js';
import type { Arguments, ArgumentValue, ConsumeRequest, GetRequest, Subscription } from '../../../src/model/broker.js';
import type { QueueObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import { TestClient } from './test-client.js';
import { message, type TestGroup, type TestNode, World } from './world.js';

function queue(name: string, group: number, more: Partial<QueueObject> = {}): QueueObject {
  const queue = { kind: 'queue', position: 0, vhost: '/', name, durable: true, owner: '', autoDelete: false } as const;
  return { ...queue, arguments: {}, group, ...more };
}

interface Setup {
  world: World;
  node: TestNode;
  groups: [TestGroup, TestGroup];
  tables: WiringTables;
  broker: ClusterBroker;
}

/** Queues q1, q2 (group 1), q3 (group 2), all bound to amq.fanout; mine (group 1) belongs to connection b/2/9. */
async function setup(): Promise<Setup> {
  const world = new World();
  const groups: [TestGroup, TestGroup] = [world.group(1), world.group(2)];
  const [a, b] = (await world.start(['a', 'b'])) as [TestNode, TestNode];
  groups[0].lead(a);
  groups[1].lead(b);
  const tables = new WiringTables();
  const queues: [number, string, number][] = [
    [11, 'q1', 1],
    [12, 'q2', 1],
    [13, 'q3', 2],
  ];
  for (const [position, name, group] of queues) {
    tables.appeared(position, queue(name, group));
    world.groups.get(group)!.open(position);
    tables.appeared(position + 10, {
      kind: 'binding',
      position: 0,
      vhost: '/',
      source: 'amq.fanout',
      destinationKind: 'queue',
      destination: name,
      routingKey: '',
      arguments: {},
      durable: true,
    });
  }
  tables.appeared(14, queue('mine', 1, { owner: 'b/2/9', durable: false }));
  tables.applied(30);
  await world.run(10);
  const { clients, clock } = b;
  const broker = new ClusterBroker({
    node: 'b',
    tables,
    clients,
    wiring: {} as ConnectionWiring,
    gate: new SourcesGate([outboxSource(clients.memory, 1 << 20)], clock, silentLogger),
    members: { membersOf: () => ({ leader: 'a', members: ['a', 'b'], online: ['a'] }) },
    clock,
    rules: allRules,
    queues: new QueueAccess({ tables, clock, isCurrent: () => true }),
    mayRoute: () => true,
  });
  return { world, node: b, groups, tables, broker };
}

const noHeaders = (): never => {
  throw new Error('headers were asked for');
};

describe('cluster broker', () => {
  it('sends a message once per group and tells its owner once for each', async () => {
    const { world, groups, broker } = await setup();
    const route = broker.route('/', 'amq.fanout', 'any', noHeaders);
    assert.deepEqual([route.queueCount, route.keyed, route.version], [3, true, broker.routingVersion]);
    const told: number[] = [];
    const owner = { completed: (tag: number) => void told.push(tag), refused: (tag: number) => void told.push(-tag) };
    assert.equal(broker.publish(route, message('m1'), owner, 5), 2);
    assert.deepEqual(told, []);
    await world.run(10);
    assert.deepEqual(told, [5, 5]);
    const [one, two] = groups;
    assert.deepEqual(
      [one, one, two].map(({ primary }, i) => primary!.state.queue(11 + i)!.index.size),
      [1, 1, 1],
    );
    broker.publish(route, message('m2'), owner, 6);
    broker.forgetPublisher(owner);
    await world.run(10);
    assert.deepEqual(told, [5, 5]);
  });

  it('routes to nothing, and refuses what does not exist', async () => {
    const { broker } = await setup();
    const nowhere = broker.route('/', '', 'no-such-queue', noHeaders);
    assert.equal(nowhere.queueCount, 0);
    assert.equal(broker.publish(nowhere, message('m'), nobody, 1), 0);
    assert.throws(() => broker.route('/', 'x', '', noHeaders), /no exchange 'x' in vhost '\/'/);
  });

  it('refuses missing and locked queues by name', async () => {
    const { node, broker } = await setup();
    const sink = new TestClient(node, 1);
    const request = (name: string): ConsumeRequest => ({
      vhost: '/',
      queue: name,
      consumerTag: 'c',
      noAck: false,
      exclusive: false,
      arguments: {},
      connection: 'b/2/1',
      credit: 1,
      sink,
      cookie: 0,
    });
    await assert.rejects(broker.consume(request('x')), { kind: 'not-found', message: "no queue 'x' in vhost '/'" });
    await assert.rejects(broker.consume(request('mine')), (error: RefusedError) => {
      return error.kind === 'resource-locked' && error.message.includes("locked queue 'mine' in vhost '/'");
    });
    const failures: string[] = [];
    const get: GetRequest = {
      ...request('mine'),
      got: () => {},
      empty: () => {},
      failed: (error) => failures.push((error as RefusedError).kind),
    };
    broker.get(get);
    broker.get({ ...get, queue: 'x' });
    assert.deepEqual(failures, ['resource-locked', 'not-found']);
  });

  it('refuses arguments of a consumer that could not be said to another node, whoever leads now', async () => {
    const { world, node, groups, broker } = await setup();
    let deep: ArgumentValue = 1;
    for (let i = 0; i < 40; i++) deep = [deep];
    const consume = (queue: string, args: Arguments): Promise<Subscription> =>
      broker.consume({
        ...{ vhost: '/', queue, consumerTag: 'c', noAck: false, exclusive: false, connection: 'b/2/1' },
        ...{ arguments: args, credit: 1, sink: new TestClient(node, 1), cookie: 0 },
      });
    // q1 is led by the other node, q3 by this one.
    for (const queue of ['q1', 'q3'])
      for (const args of [{ deep }, { many: Array.from({ length: 2000 }, () => 1) }])
        await assert.rejects(consume(queue, args), { kind: 'precondition-failed' });
    await assert.rejects(consume('q1', { 'x-priority': 'high' }), {
      message: /^invalid arg 'x-priority' for queue 'q1' in vhost '\/': the value 'high' .* an integer/,
    });
    const [one, two] = groups;
    one.lead(node);
    two.lead(world.nodes.get('a')!);
    await world.run(100);
    one.lead(world.nodes.get('a')!);
    await world.run(100);
  });

  it('reports a queue from its primary', async () => {
    const { world, broker } = await setup();
    broker.publish(broker.route('/', '', 'q1', noHeaders), message('m'), nobody, 1);
    await world.run(10);
    const status = broker.queueStatus('/', 'q1');
    await world.run(10);
    const { messages, unacknowledged, leader, group, durable } = await status;
    assert.deepEqual([messages, unacknowledged, leader, group, durable], [1, 0, 'a', 1, true]);
  });
});
