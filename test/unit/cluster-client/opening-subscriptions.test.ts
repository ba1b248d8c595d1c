import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Subscription } from '../../../src/model/broker.js';
import { TestClient } from './test-client.js';
import { type TestNode, World } from './world.js';

async function cluster() {
  const world = new World();
  const group = world.group(1);
  const [a, b] = (await world.start(['a', 'b'])) as [TestNode, TestNode];
  group.lead(a);
  group.open(7);
  await world.run(10);
  return { world, group, a, b };
}

const nothing = { publishes: 0, settlements: 0, requests: 0, subscriptions: 0, bodies: 0, channels: 0 };

/** A channel that asks to consume, and is gone some time later: it closes its subscription if it has it by then. */
async function consumeAndGo(world: World, consumer: TestClient, afterMs: number, move = (): void => {}) {
  let subscription: Subscription | undefined;
  const opened = consumer.consume(2);
  void opened.then((one) => (subscription = one));
  move();
  if (afterMs > 0) await world.run(afterMs);
  const given = consumer.delivered.length;
  const wasTold = subscription !== undefined;
  subscription?.close();
  consumer.node.clients.forgetSink(consumer);
  consumer.held = [];
  await world.run(50);
  // It is told in any case: its channel waits for that.
  (await opened).close();
  assert.deepEqual(consumer.node.clients.unfinished(), nothing, `after ${afterMs} ms`);
  assert.equal(consumer.delivered.length, given, 'nothing comes to who is gone');
  return { wasTold, wasGiven: given > 0 };
}

const delays = Array.from({ length: 40 }, (_, i) => i / 10);

describe('a channel that is gone while it waits for its subscription', () => {
  for (const isAtPrimary of [true, false])
    it(`leaves nothing behind, whenever that is (${isAtPrimary ? 'at the primary' : 'elsewhere'})`, async () => {
      const outcomes = new Set<string>();
      for (const afterMs of delays) {
        const { world, group, a, b } = await cluster();
        const publisher = new TestClient(a, 1);
        for (const text of ['m1', 'm2', 'm3']) publisher.publish(text);
        await world.run(10);
        const consumer = new TestClient(isAtPrimary ? a : b, 1);
        outcomes.add(JSON.stringify(await consumeAndGo(world, consumer, afterMs)));
        assert.equal(group.primary!.state.queue(7)!.index.ready, 3);
        const other = new TestClient(b, 1);
        void other.consume(10, { exclusive: true });
        await world.run(20);
        const texts = other.delivered.map((text) => text.replace('!', ''));
        assert.deepEqual(texts, ['m1', 'm2', 'm3']);
      }
      assert.ok(outcomes.has(JSON.stringify({ wasTold: false, wasGiven: false })), 'it was gone before the answer');
      assert.ok(outcomes.has(JSON.stringify({ wasTold: true, wasGiven: true })), 'and after it');
    });

  it('is told to no primary that comes later, nor is anything given to it', async () => {
    const { world, group, a, b } = await cluster();
    a.kill();
    await world.run(10);
    const consumer = new TestClient(b, 1);
    const opened = consumer.consume(10, { exclusive: true });
    b.clients.forgetSink(consumer);
    await opened;
    assert.deepEqual(b.clients.unfinished(), nothing);
    group.lead(b);
    const other = new TestClient(b, 1);
    void other.consume(10, { exclusive: true });
    other.publish('m1');
    await world.run(20);
    assert.deepEqual([consumer.delivered, other.delivered], [[], ['m1']]);
  });

  it('leaves nothing behind in the group to which its queue moves meanwhile', async () => {
    for (const afterMs of delays) {
      const { world, a, b } = await cluster();
      const second = world.group(2);
      second.lead(a);
      second.open(8);
      await world.run(10);
      const publisher = new TestClient(a, 2);
      for (const text of ['m1', 'm2']) publisher.publish(text, [8]);
      await world.run(10);
      const destination = { client: b.clients.client(2), incarnation: 8 };
      const move = (): void => b.clients.client(1).moveSubscriptions(7, destination);
      await consumeAndGo(world, new TestClient(b, 1), afterMs, move);
      assert.equal(second.primary!.state.queue(8)!.index.ready, 2);
    }
  });
});
