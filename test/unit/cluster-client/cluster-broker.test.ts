import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RefusedError } from '../../../src/base/errors.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { allRules } from '../../../src/base/rules.js';
import { silentLogger } from '../../../src/base/logger.js';
import { nobody } from '../../../src/model/broker.js';
import { ClusterBroker, type ConnectionWiring } from '../../../src/cluster/client/cluster-broker.js';
import { QueueAccess } from '../../../src/cluster/client/queue-access.js';
import { outboxSource, SourcesGate } from '../../../src/cluster/client/publish-gate.js';
import type { Arguments, ArgumentValue, ConsumeRequest, GetRequest, Subscription } from '../../../src/model/broker.js';
import type { Transaction, TransactionMessage, TransactionSettlement } from '../../../src/model/transaction.js';
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
  /** What the node may do, and the version in use; a test changes them. */
  may: { route: boolean; version: number };
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
  const may = { route: true, version: protocolVersions.max };
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
    boot: b.boot,
    links: b.links,
    random: world.random.fork('broker'),
    version: () => may.version,
    largeBytes: 1e6,
    mayRoute: () => may.route,
  });
  return { world, node: b, groups, tables, broker, may };
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

  it('keeps nothing hidden with a message while there are nodes that would show it', async () => {
    const { broker, may } = await setup();
    assert.equal(broker.keepsHidden, true);
    may.version = 2;
    assert.equal(broker.keepsHidden, false);
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

/** A transaction that notes what it is told. */
class TestTransaction implements Transaction {
  readonly vhost = '/';
  readonly messages: TransactionMessage[] = [];
  readonly told: string[] = [];
  settlements: TransactionSettlement[] = [];
  isAbandoned = false;

  publish(exchange: string, routingKey: string, text: string, moreKeys?: readonly string[]): this {
    this.messages.push({ exchange, routingKey, moreKeys, parts: message(text), headers: () => ({}) });
    return this;
  }
  takeSettlements(): TransactionSettlement[] {
    this.told.push('taken');
    return this.settlements.splice(0);
  }
  unroutable({ routingKey }: TransactionMessage): void {
    this.told.push(`unroutable ${routingKey}`);
  }
  committed(): void {
    this.told.push('committed');
  }
  failed(error: Error): void {
    this.told.push(`failed: ${error.message}`);
  }
}

function sizes([one, two]: [TestGroup, TestGroup]): number[] {
  return [one, one, two].map(({ primary }, i) => primary!.state.queue(11 + i)!.index.size);
}

describe('transactions of a cluster broker', () => {
  it('are as many units as there are groups, and one completion', async () => {
    const { world, node, groups, broker } = await setup();
    const client = new TestClient(node, 1);
    client.publish('held', [11]);
    client.get(false, 11);
    await world.run(10);
    const transaction = new TestTransaction().publish('amq.fanout', '', 'a').publish('', 'q2', 'b', ['q3', 'q2', 'x']);
    transaction.settlements = client.held.map(({ holder, position }) => ({ holder, position, rejects: false }));
    transaction.publish('', 'nowhere', 'c');
    broker.transactions.commit(transaction);
    assert.deepEqual(transaction.told, ['unroutable nowhere', 'taken']);
    await world.run(10);
    assert.deepEqual(transaction.told, ['unroutable nowhere', 'taken', 'committed']);
    // q1 has lost what was held.
    assert.deepEqual(sizes(groups), [1, 2, 2]);
    assert.equal(node.clients.unfinished().publishes, 0);
  });

  it('with nothing in them are done at once', async () => {
    const { broker } = await setup();
    const transaction = new TestTransaction();
    broker.transactions.commit(transaction);
    assert.deepEqual(transaction.told, ['taken', 'committed']);
  });

  it('return what was for an exchange that is gone by then', async () => {
    const { world, groups, broker } = await setup();
    const transaction = new TestTransaction().publish('gone', 'k', 'a').publish('', 'q1', 'b');
    broker.transactions.commit(transaction);
    await world.run(10);
    assert.deepEqual(transaction.told, ['unroutable k', 'taken', 'committed']);
    assert.deepEqual(sizes(groups), [1, 0, 0]);
  });

  it('wait as a whole while this node may not route, and are not begun if their client goes', async () => {
    const { world, groups, broker, may } = await setup();
    may.route = false;
    const [one, other] = [new TestTransaction().publish('', 'q1', 'a'), new TestTransaction().publish('', 'q1', 'b')];
    broker.transactions.commit(one);
    broker.transactions.commit(other);
    await world.run(20);
    assert.deepEqual([one.told, other.told], [[], []]);
    other.isAbandoned = true;
    may.route = true;
    await world.run(20);
    assert.deepEqual(one.told, ['taken', 'committed']);
    assert.deepEqual(other.told, ['failed: the channel is gone']);
    assert.deepEqual(sizes(groups), [1, 0, 0]);
  });

  it('are refused, with nothing done, where too few replicas would be in sync', async () => {
    const { world, groups, tables, broker } = await setup();
    tables.appeared(40, { ...queue('strict', 1), arguments: { 'x-min-in-sync': 2, 'x-min-in-sync-below': 'refuse' } });
    tables.applied(41);
    broker.publish(broker.route('/', '', 'q1', noHeaders), message('first'), nobody, 1);
    await world.run(10);
    const transaction = new TestTransaction().publish('', 'q1', 'a').publish('', 'strict', 'b');
    broker.transactions.commit(transaction);
    assert.match(transaction.told.join(), /^failed: the transaction was not begun: too few replicas/);
    await world.run(10);
    assert.deepEqual(sizes(groups), [1, 0, 0]);
  });

  it('are not begun while there are nodes that know none', async () => {
    const { broker, may } = await setup();
    broker.transactions.check();
    may.version = 2;
    assert.throws(() => broker.transactions.check(), { kind: 'not-implemented' });
  });
});
