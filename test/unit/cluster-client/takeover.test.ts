import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRules, type Rules } from '../../../src/base/rules.js';
import { TestClient } from './test-client.js';
import { type TestGroup, type TestNode, World } from './world.js';

async function cluster(rules: Rules = allRules): Promise<{ world: World; nodes: TestNode[]; group: TestGroup }> {
  const world = new World();
  const group = world.group(1);
  const nodes = await world.start(['a', 'b', 'c'], rules);
  group.lead(nodes[0]!);
  group.open(7);
  await world.run(10);
  return { world, nodes, group };
}

function texts(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);
}

describe('take-over', () => {
  it('another node publishes again what did not commit, in order, before anything new: none lost, none twice', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    for (const text of texts(1, 10)) publisher.publish(text);
    await world.run(10);
    group.primary!.commits = false;
    for (const text of texts(11, 20)) publisher.publish(text);
    await world.run(10);
    assert.deepEqual(publisher.confirmed, texts(1, 10));
    a.kill();
    for (const text of texts(21, 30)) publisher.publish(text);
    await world.run(5);
    group.lead(b);
    for (const text of texts(31, 40)) publisher.publish(text);
    await world.run(20);
    assert.deepEqual(publisher.confirmed, texts(1, 40));
    const consumer = new TestClient(b, 1);
    void consumer.consume(100);
    await world.run(10);
    assert.deepEqual(
      consumer.delivered.map((text) => text.replace('!', '')),
      texts(1, 40),
    );
  });

  it('a commit whose confirm was lost is confirmed by the next primary, and is there once', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    group.primary!.acts = false;
    for (const text of texts(1, 5)) publisher.publish(text);
    await world.run(10);
    assert.deepEqual(publisher.confirmed, []);
    a.kill();
    group.lead(b);
    await world.run(20);
    assert.deepEqual(publisher.confirmed, texts(1, 5));
    assert.equal(group.primary!.state.queue(7)!.index.size, 5);
  });

  it('a deposed primary sends its own clients unconfirmed publishes to the next one', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b] = nodes as [TestNode, TestNode];
    const publisher = new TestClient(a, 1);
    for (const text of texts(1, 5)) publisher.publish(text);
    await world.run(10);
    group.primary!.commits = false;
    for (const text of texts(6, 10)) publisher.publish(text);
    await world.run(10);
    group.wiringVersion++;
    for (const text of texts(11, 15)) publisher.publish(text);
    await world.run(10);
    assert.deepEqual(publisher.confirmed, texts(1, 5));
    group.lead(b, 3);
    await world.run(1);
    for (const text of texts(16, 20)) publisher.publish(text);
    await world.run(30);
    assert.deepEqual(publisher.confirmed, texts(1, 20));
    assert.equal(group.primary!.state.queue(7)!.index.size, 20);
    // And back again: what came from elsewhere and what is new share one order.
    group.lead(a, 3);
    publisher.publish('m21');
    await world.run(30);
    assert.deepEqual(publisher.confirmed, texts(1, 21));
  });

  it('what a live node holds stays there, what was on its way comes again flagged, acks are said again', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    const consumer = new TestClient(c, 1);
    void consumer.consume(4);
    for (const text of texts(1, 6)) publisher.publish(text);
    await world.run(10);
    assert.deepEqual(consumer.delivered, texts(1, 4));
    group.primary!.commits = false;
    consumer.ack('m1');
    await world.run(5);
    consumer.requeue('m2');
    a.kill();
    await world.run(5);
    consumer.ack('m3');
    group.lead(b);
    const other = new TestClient(b, 1);
    void other.consume(10);
    await world.run(20);
    assert.deepEqual(consumer.delivered, texts(1, 4));
    assert.deepEqual(other.delivered, ['m2!', 'm5!', 'm6!']);
    consumer.ack('m4');
    for (const text of ['m2', 'm5', 'm6']) other.ack(text);
    await world.run(10);
    assert.equal(group.primary!.state.queue(7)!.index.size, 0);
  });

  it('a get and a cancellation outlive the primary', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    const client = new TestClient(c, 1);
    client.publish('m1');
    await world.run(10);
    const subscription = client.consume(1);
    await world.run(10);
    group.primary!.acts = false;
    client.ack('m1');
    client.get();
    const cancelled = (await subscription).cancel();
    await world.run(10);
    assert.deepEqual(client.events, []);
    a.kill();
    group.lead(b);
    await world.run(20);
    await cancelled;
    client.publish('m2');
    await world.run(20);
    assert.deepEqual(client.events, ['empty']);
    assert.deepEqual(client.delivered, ['m1']);
  });

  it('an attachment waits at a node that does not lead yet', async () => {
    const { world, nodes, group } = await cluster();
    const [, b, c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    const leadership = { epoch: 2, node: 'b', boot: b.boot };
    world.loop.after(0, c.context, () => c.directory.learn(group, leadership));
    await world.run(5);
    publisher.publish('m1');
    await world.run(20);
    assert.deepEqual(publisher.confirmed, []);
    group.lead(b);
    await world.run(10);
    assert.deepEqual(publisher.confirmed, ['m1']);
  });

  it('questions that nobody answers fail in time', async () => {
    const { world, nodes, group } = await cluster();
    const [a, , c] = nodes as [TestNode, TestNode, TestNode];
    a.kill();
    await world.run(10);
    const client = new TestClient(c, 1);
    client.get();
    const counted = assert.rejects(c.clients.client(group.id).count(7), /primary of group 1.*did not answer in time/);
    const consumed = assert.rejects(client.consume(1), /queue 'q' in vhost '\/' has no primary that answers/);
    await world.run(32_000);
    await counted;
    await consumed;
    assert.equal(client.events.length, 1);
  });
});

describe('a lost link, in the same epoch', () => {
  async function cut(world: World, node: TestNode, other: string): Promise<void> {
    world.loop.after(0, node.context, () => node.links.get(other)!.close('closed', 'test'));
    await world.run(0.001);
  }

  it('nothing is lost, twice, or unflagged when it was seen', async () => {
    const { world, nodes, group } = await cluster();
    const [, , c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    const consumer = new TestClient(c, 1);
    void consumer.consume(3);
    for (const text of texts(1, 5)) publisher.publish(text);
    await world.run(10);
    assert.deepEqual(consumer.delivered, texts(1, 3));
    // Said, and lost with the link.
    consumer.ack('m1');
    consumer.requeue('m2');
    publisher.publish('m6');
    await cut(world, c, 'a');
    await world.run(100);
    const other = new TestClient(nodes[1]!, 1);
    void other.consume(10);
    await world.run(20);
    assert.deepEqual(consumer.delivered, texts(1, 3));
    assert.deepEqual(other.delivered, ['m2!', 'm4', 'm5', 'm6']);
    assert.deepEqual(publisher.confirmed, texts(1, 6));
    consumer.ack('m3');
    await world.run(10);
    assert.equal(group.primary!.state.queue(7)!.index.size, 4);
  });

  it('deliveries on their way at the loss come again', async () => {
    const { world, nodes, group } = await cluster();
    const [, b, c] = nodes as [TestNode, TestNode, TestNode];
    const consumer = new TestClient(c, 1);
    const publisher = new TestClient(b, 1);
    void consumer.consume(10);
    await world.run(10);
    publisher.publish('m1');
    publisher.publish('m2');
    // The primary has sent them, they have not arrived.
    while (group.primary!.state.queue(7)!.index.delivered < 2) await world.run(0.01);
    assert.deepEqual(consumer.delivered, []);
    await cut(world, c, 'a');
    await world.run(100);
    assert.deepEqual(consumer.delivered, ['m1!', 'm2!']);
    assert.deepEqual(publisher.confirmed, texts(1, 2));
  });
});

describe('a local group whose node is gone', () => {
  it('completes what was published to it, refuses the rest, and serves again with the next boot', async () => {
    const world = new World();
    const group = world.group(0x8001);
    const [a, b] = (await world.start(['a', 'b'])) as [TestNode, TestNode];
    group.lead(a);
    group.open(7);
    await world.run(10);
    const client = new TestClient(b, 0x8001);
    void client.consume(10);
    await world.run(10);
    group.primary!.commits = false;
    client.publish('m1');
    a.kill();
    await world.run(10);
    assert.deepEqual(client.confirmed, []);
    // Nobody says so: it is looked for now and then.
    group.over = true;
    await world.run(1100);
    client.publish('m2');
    client.get();
    await world.run(10);
    assert.deepEqual(client.confirmed, ['m1', 'm2']);
    assert.equal(client.events.length, 2);
    assert.match(client.events[0]!, /^cancelled: the node of group/);
    assert.match(client.events[1]!, /^failed: /);
    // The same node comes back: its group is empty and knows no numbers.
    group.over = false;
    group.committed.length = 0;
    group.lead(b);
    group.open(9);
    await world.run(10);
    client.publish('m3', [9]);
    await world.run(10);
    assert.deepEqual(client.confirmed, ['m1', 'm2', 'm3']);
  });
});
