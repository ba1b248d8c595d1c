import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { noTraits } from '../../../src/model/queue/queue-traits.js';
import { TestClient } from './test-client.js';
import { type TestGroup, type TestNode, World } from './world.js';

const flow = {
  stopCount: 5,
  resumeCount: 3,
  stopBytes: Number.POSITIVE_INFINITY,
  resumeBytes: Number.POSITIVE_INFINITY,
};
const limited: QueueTraitsSource = {
  version: 1,
  wiringVersion: Number.POSITIVE_INFINITY,
  of: () => ({ ...noTraits, flow }),
};

async function cluster(): Promise<{ world: World; nodes: TestNode[]; group: TestGroup }> {
  const world = new World();
  const group = world.group(1);
  group.traits = limited;
  const nodes = await world.start(['a', 'b', 'c']);
  group.lead(nodes[0]!);
  group.open(7);
  await world.run(10);
  return { world, nodes, group };
}

/** Which nodes have their publishers wait; and what has changed since, by node. */
function stoppedAt(nodes: readonly TestNode[]): string {
  return nodes
    .filter(({ clients }) => clients.stops.has(7))
    .map(({ name }) => name)
    .join('');
}

describe('a queue whose publishers wait, in a cluster', () => {
  it('S22: has them wait on all nodes, over a failover too, until somebody on any node has made room', async () => {
    const { world, nodes, group } = await cluster();
    const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(c, 1);
    for (let i = 1; i <= 6; i++) publisher.publish(`m${i}`);
    await world.run(5);
    assert.equal(stoppedAt(nodes), 'abc');
    const consumer = new TestClient(b, 1);
    void consumer.consume(10);
    await world.run(5);
    consumer.ack('m1');
    consumer.ack('m2');
    await world.run(5);
    assert.equal(stoppedAt(nodes), 'abc', 'four are left');

    let hasResumed = false;
    const { onResumed } = c.clients.stops;
    c.clients.stops.onResumed = (queue) => {
      hasResumed = true;
      onResumed(queue);
    };
    a.kill();
    await world.run(5);
    group.lead(b, 3);
    await world.run(20);
    assert.deepEqual([stoppedAt([b, c]), hasResumed], ['bc', false], 'the next primary goes on where the last one was');
    consumer.ack('m3');
    consumer.ack('m4');
    await world.run(5);
    assert.equal(stoppedAt([b, c]), '');
    for (let i = 7; i <= 10; i++) publisher.publish(`m${i}`);
    await world.run(5);
    assert.equal(stoppedAt([b, c]), 'bc');
    assert.equal(publisher.confirmed.length, 10, 'what is published meanwhile is taken');
  });

  it('S22: lets them go on everywhere when it is deleted, though its primary is another one by then', async () => {
    for (const dies of [false, true]) {
      const { world, nodes, group } = await cluster();
      const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
      const publisher = new TestClient(c, 1);
      for (let i = 1; i <= 6; i++) publisher.publish(`m${i}`);
      await world.run(5);
      if (dies) {
        a.kill();
        group.lead(b);
        group.drop(7);
      } else group.drop(7);
      await world.run(20);
      assert.equal(stoppedAt([b, c]), '');
    }
  });

  it('is told of to a node that was cut off meanwhile', async () => {
    const { world, nodes, group } = await cluster();
    const [a, , c] = nodes as [TestNode, TestNode, TestNode];
    const publisher = new TestClient(a, 1);
    world.loop.after(0, c.context, () => c.links.get('a')!.close('closed', 'cut'));
    for (let i = 1; i <= 6; i++) publisher.publish(`m${i}`);
    await world.run(3000);
    assert.equal(stoppedAt(nodes), 'abc');
    world.loop.after(0, c.context, () => c.links.get('a')!.close('closed', 'cut'));
    const consumer = new TestClient(a, 1);
    void consumer.consume(10);
    await world.run(1);
    for (let i = 1; i <= 6; i++) consumer.ack(`m${i}`);
    await world.run(3000);
    assert.equal(stoppedAt(nodes), '');
    assert.equal(group.primary!.state.queue(7)!.index.size, 0);
  });
});
