import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClient } from './test-client.js';
import { type TestGroup, type TestNode, World } from './world.js';

async function cluster(leader = 0): Promise<{ world: World; nodes: TestNode[]; group: TestGroup }> {
  const world = new World();
  const group = world.group(1);
  const nodes = await world.start(['a', 'b', 'c']);
  group.lead(nodes[leader]!);
  group.open(7);
  await world.run(10);
  return { world, nodes, group };
}

function texts(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);
}

for (const [where, node] of [
  ['on the primary itself', 0],
  ['on another node', 1],
] as const) {
  describe(`a group's client ${where}`, () => {
    it('publishes, is confirmed in order, consumes and acknowledges', async () => {
      const { world, nodes, group } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      const subscribed = client.consume(100);
      for (const text of texts(1, 50)) client.publish(text);
      await world.run(10);
      await subscribed;
      assert.deepEqual(client.confirmed, texts(1, 50));
      assert.deepEqual(client.delivered, texts(1, 50));
      for (const text of texts(1, 50)) client.ack(text);
      await world.run(10);
      assert.equal(group.primary!.state.queue(7)!.index.size, 0);
    });

    it('delivers within credit and gives back what is requeued, flagged, to its place', async () => {
      const { world, nodes } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      const subscribed = client.consume(2);
      for (const text of texts(1, 5)) client.publish(text);
      await world.run(10);
      assert.deepEqual(client.delivered, ['m1', 'm2']);
      client.requeue('m1');
      (await subscribed).grant(2);
      await world.run(10);
      assert.deepEqual(client.delivered, ['m1', 'm2', 'm1!', 'm3']);
    });

    it('gets, counts, purges', async () => {
      const { world, nodes } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      for (const text of texts(1, 4)) client.publish(text);
      await world.run(10);
      client.get();
      client.get(true);
      await world.run(10);
      const count = nodes[node]!.clients.client(1).count(7);
      await world.run(10);
      const purged = nodes[node]!.clients.client(1).purge(7);
      await world.run(10);
      client.get();
      await world.run(10);
      assert.deepEqual(client.events, ['got m1 of 4', 'got m2 of 3', 'empty']);
      assert.deepEqual(await count, { ready: 2, unacknowledged: 1, consumers: 0 });
      assert.deepEqual(await purged, { count: 2, refusal: '' });
    });

    it('finds by get and purge what was published before, also while the primary does not know the wiring yet', async () => {
      const { world, nodes, group } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      const known = async (): Promise<void> => {
        await world.run(10);
        group.primary!.service.advanceWiring(group.wiringVersion, 0);
        await world.run(10);
      };
      group.wiringVersion++;
      client.publish('m1');
      client.get(true);
      await known();
      assert.deepEqual(client.events, ['got m1 of 1']);
      group.wiringVersion++;
      client.publish('m2');
      const purged = nodes[node]!.clients.client(1).purge(7);
      await known();
      assert.deepEqual(await purged, { count: 1, refusal: '' });
      assert.deepEqual(client.confirmed, ['m1', 'm2']);
    });

    it('a closed subscription gives back all it held, flagged; a forgotten sink what it got', async () => {
      const { world, nodes } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      for (const text of texts(1, 3)) client.publish(text);
      await world.run(10);
      client.get();
      await world.run(10);
      const subscribed = client.consume(1);
      await world.run(10);
      (await subscribed).close();
      nodes[node]!.clients.forgetSink(client);
      client.held = [];
      await world.run(10);
      const other = new TestClient(nodes[2]!, 1);
      void other.consume(10);
      await world.run(10);
      assert.deepEqual(other.delivered, ['m1!', 'm2!', 'm3']);
    });

    it('is told that its queue is gone, and its later publishes complete', async () => {
      const { world, nodes, group } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      void client.consume(10);
      await world.run(10);
      group.drop(7);
      await world.run(10);
      client.publish('late');
      client.get();
      await world.run(10);
      assert.deepEqual(client.events, ['cancelled: queue deleted', "failed: no queue 'q' in vhost '/'"]);
      assert.deepEqual(client.confirmed, ['late']);
      await assert.rejects(Promise.race([client.consume(1), world.run(20)]), /no queue 'q' in vhost '\/'/);
    });

    it('refuses a second consumer beside an exclusive one by name', async () => {
      const { world, nodes } = await cluster();
      const client = new TestClient(nodes[node]!, 1);
      void client.consume(10, { exclusive: true });
      await world.run(10);
      await assert.rejects(
        Promise.race([client.consume(1), world.run(20)]),
        /queue 'q' in vhost '\/' in exclusive use/,
      );
    });
  });
}
