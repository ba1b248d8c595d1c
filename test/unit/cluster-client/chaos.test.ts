/** Publishers and consumers on three nodes while the primary moves and links break: what they see must add up in the end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimRandom } from '../../../sim/random.js';
import { TestClient } from './test-client.js';
import { type TestGroup, type TestNode, World } from './world.js';

/** A client that settles what it is given in a while, at random. */
class Worker extends TestClient {
  published = 0;
  readonly acked: string[] = [];

  settleSome(random: SimRandom): void {
    for (const { text } of [...this.held]) {
      const choice = random.float();
      if (choice < 0.5) {
        this.acked.push(text);
        this.ack(text);
      } else if (choice < 0.6) this.requeue(text);
    }
  }
  ackAll(): void {
    for (const { text } of [...this.held]) {
      this.acked.push(text);
      this.ack(text);
    }
  }
}

async function act(
  random: SimRandom,
  world: World,
  group: TestGroup,
  nodes: TestNode[],
  workers: Worker[],
): Promise<void> {
  const worker = random.pick(workers);
  const choice = random.float();
  if (choice < 0.45) {
    for (let i = random.int(20); i >= 0; i--) worker.publish(`${worker.node.name}${worker.published++}`);
  } else if (choice < 0.75) worker.settleSome(random);
  else if (choice < 0.8) group.primary!.commits = !group.primary!.commits;
  else if (choice < 0.83) group.wiringVersion++;
  else if (choice < 0.86) {
    group.primary!.service.advanceWiring(group.wiringVersion, 0);
  } else if (choice < 0.93) {
    const [one, other] = [random.pick(nodes), random.pick(nodes)];
    world.loop.after(0, one.context, () => one.links.get(other.name)?.close('closed', 'cut'));
  } else group.lead(random.pick(nodes), random.int(4));
  await world.run(random.float() * 2);
}

async function run(seed: number): Promise<void> {
  const random = new SimRandom(seed);
  const world = new World(seed);
  const group = world.group(1);
  const nodes = await world.start(['a', 'b', 'c']);
  group.lead(nodes[0]!);
  group.open(7);
  await world.run(10);
  const workers = nodes.map((node) => new Worker(node, 1));
  for (const worker of workers) {
    const subscription = await Promise.race([worker.consume(5), world.run(20)]);
    assert.ok(subscription);
    const original = worker.deliver.bind(worker);
    worker.deliver = (...delivery): void => {
      original(...delivery);
      delivery[0].grant(1);
    };
  }
  for (let step = 0; step < 80; step++) await act(random, world, group, nodes, workers);
  group.primary!.commits = true;
  group.primary!.service.advanceWiring(group.wiringVersion, 0);
  group.primary!.wake();
  for (let quiet = 0; quiet < 20; quiet++) {
    await world.run(50);
    for (const worker of workers) worker.ackAll();
  }
  check(group, workers);
}

function check(group: TestGroup, workers: readonly Worker[]): void {
  const acked = new Map<string, number>();
  const unflagged = new Set<string>();
  for (const worker of workers) {
    const all = Array.from({ length: worker.published }, (_, i) => `${worker.node.name}${i}`);
    assert.deepEqual(worker.confirmed, all, 'every publish is confirmed once, in order');
    for (const text of worker.acked) acked.set(text, (acked.get(text) ?? 0) + 1);
  }
  for (const worker of workers)
    for (const text of worker.delivered) {
      if (text.endsWith('!')) continue;
      assert.ok(!unflagged.has(text), `${text} was delivered twice unflagged`);
      unflagged.add(text);
    }
  assert.equal(group.primary!.state.queue(7)!.index.size, 0, 'everything was consumed');
  for (const worker of workers)
    for (let i = 0; i < worker.published; i++) assert.ok(acked.get(`${worker.node.name}${i}`) ?? 0, 'nothing is lost');
}

describe('clients of a group that moves', () => {
  const seeds =
    process.env['SEED'] === undefined ? Array.from({ length: 12 }, (_, i) => i + 1) : [Number(process.env['SEED'])];
  for (const seed of seeds) it(`seed ${seed}`, () => run(seed));
});
