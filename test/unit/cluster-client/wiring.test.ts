import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueueDeclaration } from '../../../src/model/broker.js';
import { goneMax } from '../../../src/model/wiring/plan-node.js';
import { WiringWorld } from './wiring-world.js';
import { type TestGroup, type TestNode, World } from './world.js';

async function cluster(): Promise<{ world: World; nodes: TestNode[]; wired: WiringWorld; system: TestGroup }> {
  const world = new World();
  const system = world.group(0);
  const nodes = await world.start(['a', 'b', 'c']);
  const wired = new WiringWorld(world, nodes, system);
  system.lead(nodes[0]!);
  await world.run(10);
  return { world, nodes, wired, system };
}

function queue(name: string, more: Partial<QueueDeclaration> = {}): QueueDeclaration {
  return {
    vhost: '/',
    name,
    passive: false,
    durable: true,
    exclusive: false,
    autoDelete: false,
    arguments: {},
    connection: 'b/2/1',
    ...more,
  };
}

/** The promise's outcome, after `ms`. */
async function outcome<T>(world: World, ms: number, promise: Promise<T>): Promise<T | 'waits' | Error> {
  let result: T | 'waits' | Error = 'waits';
  promise.then(
    (value) => {
      result = value;
    },
    (error: Error) => {
      result = error;
    },
  );
  await world.run(ms);
  return result;
}

describe('wiring operations', () => {
  for (const [where, at] of [
    ['the primary of the system group', 0],
    ['another node', 1],
  ] as const) {
    it(`are done from ${where}, and complete only when every node has them`, async () => {
      const { world, nodes, wired } = await cluster();
      const node = wired.at(nodes[at]!);
      wired.at(nodes[2]!).follows = false;
      const declared = node.wiring.declareQueue(queue('q'));
      assert.equal(await outcome(world, 50, declared), 'waits');
      wired.at(nodes[2]!).follows = true;
      assert.deepEqual(await outcome(world, 10, declared), { name: 'q', messages: 0, consumers: 0 });
      for (const { tables } of wired.nodes.values()) assert.equal(tables.queue('/', 'q')?.name, 'q');
    });
  }

  it('wait until the own tables have the outcome, though it was answered', async () => {
    const { world, nodes, wired } = await cluster();
    const b = wired.at(nodes[1]!);
    b.follows = false;
    const reached = b.tables.version;
    // The system group did without b; b is still to wait for its own tables.
    Object.defineProperty(b.tables, 'version', { configurable: true, get: () => Number.MAX_SAFE_INTEGER });
    const declared = b.wiring.declareQueue(queue('q'));
    await world.run(2);
    Object.defineProperty(b.tables, 'version', { configurable: true, get: () => reached });
    assert.equal(await outcome(world, 20, declared), 'waits');
    Reflect.deleteProperty(b.tables, 'version');
    b.follows = true;
    assert.notEqual(await outcome(world, 10, declared), 'waits');
  });

  it('are refused with the reason, at the node that asked', async () => {
    const { world, nodes, wired } = await cluster();
    const { wiring } = wired.at(nodes[1]!);
    await outcome(world, 10, wiring.declareQueue(queue('q')));
    const different = await outcome(world, 10, wiring.declareQueue(queue('q', { durable: false })));
    assert.match(String(different), /inequivalent arg 'durable' for queue 'q' in vhost '\/'/);
    const missing = await outcome(world, 10, wiring.declareQueue(queue('x', { passive: true })));
    assert.match(String(missing), /no queue 'x' in vhost '\/'/);
    const unbound = await outcome(
      world,
      10,
      wiring.bind(
        { vhost: '/', source: 'nowhere', destination: 'q', destinationKind: 'queue', routingKey: '', arguments: {} },
        'b/2/1',
      ),
    );
    assert.match(String(unbound), /no exchange 'nowhere'/);
  });

  it('are said again to the next primary, and done once', async () => {
    const { world, nodes, wired, system } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    system.primary!.commits = false;
    const declared = wired.at(c).wiring.declareQueue(queue('q', { connection: 'c/3/1' }));
    assert.equal(await outcome(world, 20, declared), 'waits');
    a.kill();
    wired.nodes.delete('a');
    await world.run(20);
    system.lead(b);
    assert.deepEqual(await outcome(world, 50, declared), { name: 'q', messages: 0, consumers: 0 });
    assert.equal(wired.at(b).tables.count('queue'), 1);
  });

  it('time out with an error that says so', async () => {
    const { world, nodes, wired } = await cluster();
    nodes[0]!.kill();
    const declared = wired.at(nodes[2]!).wiring.declareQueue(queue('q'));
    assert.match(String(await outcome(world, 32_000, declared)), /declareQueue was not answered in time/);
  });

  it('give server-named queues distinct names', async () => {
    const { world, nodes, wired } = await cluster();
    const { wiring } = wired.at(nodes[1]!);
    const one = await outcome(world, 10, wiring.declareQueue(queue('')));
    const other = await outcome(world, 10, wiring.declareQueue(queue('')));
    assert.match((one as { name: string }).name, /^amq\.gen-[0-9a-f]{22}$/);
    assert.notDeepEqual(one, other);
  });
});

describe('exclusive queues', () => {
  it('end with their connection, also when it ends before the declaration is answered', async () => {
    const { world, nodes, wired, system } = await cluster();
    const b = wired.at(nodes[1]!);
    await outcome(world, 10, b.wiring.declareQueue(queue('mine', { exclusive: true })));
    assert.equal(b.tables.count('queue'), 1);
    const locked = await outcome(world, 10, b.wiring.purgeQueue('/', 'mine', 'b/2/2'));
    assert.match(String(locked), /cannot obtain exclusive access to locked queue 'mine' in vhost '\/'/);
    system.primary!.commits = false;
    const late = b.wiring.declareQueue(queue('late', { exclusive: true }));
    await world.run(5);
    b.wiring.connectionClosed('b/2/1');
    await world.run(5);
    system.primary!.commits = true;
    system.primary!.wake();
    await outcome(world, 50, late);
    assert.equal(b.tables.count('queue'), 0);
  });

  it('end with the boot of their node', async () => {
    const { world, nodes, wired } = await cluster();
    const [a, b] = nodes as [TestNode, TestNode];
    await outcome(world, 10, wired.at(b).wiring.declareQueue(queue('mine', { exclusive: true })));
    b.kill();
    wired.nodes.delete('b');
    await world.run(600);
    assert.equal(wired.at(a).tables.count('queue'), 0);
  });
});

describe('exchanges and bindings that are not replicated', () => {
  for (const alsoPrimary of [false, true])
    it(`end with the boot of their node${alsoPrimary ? ', though it led the system group' : ''}, and no others`, async () => {
      const { world, nodes, wired, system } = await cluster();
      const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
      const owner = alsoPrimary ? a : b;
      const common = { vhost: '/', arguments: { 'x-replicate': 'none' } };
      for (const node of [a, b, c]) {
        const { wiring } = wired.at(node);
        const connection = `${node.name}/${node.boot}/1`;
        const exchange = { name: `x ${node.name}`, type: 'fanout', passive: false, durable: true };
        await outcome(
          world,
          10,
          wiring.declareExchange({ ...common, ...exchange, autoDelete: false, internal: false, connection }),
        );
        const ends = { source: 'amq.fanout', destination: exchange.name, destinationKind: 'exchange' } as const;
        await outcome(world, 10, wiring.bind({ ...common, ...ends, routingKey: '' }, connection));
      }
      await world.run(600);
      for (const { tables } of wired.nodes.values())
        assert.deepEqual([tables.count('exchange'), tables.count('binding')], [3, 3]);
      owner.kill();
      wired.nodes.delete(owner.name);
      if (alsoPrimary) system.lead(b);
      await world.run(600);
      for (const { tables } of wired.nodes.values()) {
        assert.deepEqual([tables.count('exchange'), tables.count('binding')], [2, 2]);
        assert.equal(tables.exchange('/', `x ${owner.name}`), undefined);
      }
    });

  it('end without much delay if they are very many', async () => {
    const { world, nodes, wired } = await cluster();
    const [a, b] = nodes as [TestNode, TestNode];
    const ends = { source: 'amq.direct', destination: 'amq.fanout', destinationKind: 'exchange' } as const;
    const none = { vhost: '/', arguments: { 'x-replicate': 'none' } };
    const total = 6 * goneMax;
    for (let i = 0; i < total; i++) void wired.at(b).wiring.bind({ ...none, ...ends, routingKey: `k${i}` }, 'b/2/1');
    const { tables } = wired.at(a);
    await world.run(50);
    assert.equal(tables.count('binding'), total);
    b.kill();
    wired.nodes.delete('b');
    await world.run(400);
    assert.equal(tables.count('binding'), 0);
  });
});

describe('auto-delete queues', () => {
  it('are known by every node to have had a consumer: a later primary whose nodes have none of it deletes them', async () => {
    const { world, nodes, wired } = await cluster();
    const a = wired.at(nodes[0]!);
    const names = ['used', 'never used', 'of a connection', 'stays'];
    for (const name of names)
      await outcome(
        world,
        10,
        a.wiring.declareQueue(queue(name, { autoDelete: name !== 'stays', exclusive: name === 'of a connection' })),
      );
    const at = (name: string): number => a.tables.queue('/', name)!.position;
    for (const name of ['used', 'of a connection', 'stays'])
      a.wiring.queueUse(at(name), { kind: 'used', holds: () => true });
    await world.run(10);
    const other = wired.at(nodes[1]!);
    assert.ok(other.tables.useOf(at('used')) !== undefined);
    assert.equal(other.tables.count('use'), 1, 'nobody takes over what is of a connection, and what stays stays');
    for (const name of names) other.wiring.queueUse(at(name), { kind: 'idle', holds: () => true });
    await world.run(10);
    assert.deepEqual(
      names.filter((name) => a.tables.queue('/', name) !== undefined),
      ['never used', 'of a connection', 'stays'],
    );
    assert.equal(a.tables.count('use'), 0);
  });

  it('stay if they have a consumer again by the time that there is a primary who could delete them', async () => {
    const { world, nodes, wired, system } = await cluster();
    const [a, b] = [wired.at(nodes[0]!), wired.at(nodes[1]!)];
    await outcome(world, 10, b.wiring.declareQueue(queue('q', { autoDelete: true })));
    await world.run(10);
    const { position } = b.tables.queue('/', 'q')!;
    let isUnused = true;
    system.primary!.acts = false;
    b.wiring.queueUse(position, { kind: 'unused', holds: () => isUnused });
    await world.run(30);
    isUnused = false;
    system.primary!.acts = true;
    await world.run(100);
    assert.ok(a.tables.queue('/', 'q') !== undefined);
    isUnused = true;
    b.wiring.queueUse(position, { kind: 'unused', holds: () => isUnused });
    await world.run(100);
    assert.equal(a.tables.queue('/', 'q'), undefined);
  });
});
