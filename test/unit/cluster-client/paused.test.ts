import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestClient } from './test-client.js';
import { type TestNode, World } from './world.js';

/** More than may wait at the primary. */
const many = 70_000;

describe('a group that is being given away', () => {
  for (const [where, index] of [
    ['the primary’s own node', 0],
    ['another node', 1],
  ] as const)
    it(`takes everything from clients of ${where} in the end, whatever they published meanwhile`, async () => {
      const world = new World();
      const group = world.group(1);
      const nodes = (await world.start(['a', 'b', 'c'])) as [TestNode, TestNode, TestNode];
      group.lead(nodes[0]);
      group.open(7);
      await world.run(10);
      const client = new TestClient(nodes[index], 1);
      client.publish('first');
      await world.run(10);
      group.primary!.service.pause();
      for (let i = 0; i < many; i++) client.publish(`x${i}`);
      await world.run(5);
      group.primary!.service.resume();
      await world.run(300);
      client.publish('last');
      await world.run(500);
      assert.equal(client.confirmed.length, many + 2);
      assert.equal(group.primary!.state.queue(7)!.index.size, many + 2);
    });
});
