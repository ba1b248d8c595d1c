/** Transactions of clients of three nodes, while the primary moves and links break. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimRandom } from '../../../sim/random.js';
import { encodeUnit, unitHeaderBytes, unitLength, type UnitMessage } from '../../../src/model/unit.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import { EnqueueView } from '../../../src/log/record.js';
import { ClusterSubscription } from '../../../src/cluster/client/subscription.js';
import { TestClient } from './test-client.js';
import { message, type TestGroup, type TestNode, World } from './world.js';

const input = 7;
const output = 8;

/** Takes messages from one queue, and brings two for each into another one, in the same transaction. */
class Transactor extends TestClient {
  published = 0;
  committed = 0;
  begun = 0;

  /** Publishes, and settles what it holds of these texts. */
  transact(outputs: readonly string[], texts: readonly string[]): void {
    const messages: UnitMessage[] = outputs.map((text) => ({
      parts: message(text),
      incarnations: [output],
      durable: true,
    }));
    const taken = this.held.filter(({ text }) => texts.includes(text));
    this.held = this.held.filter((one) => !taken.includes(one));
    const settlements = taken.map(({ position }) => ({ incarnation: input, position, rejects: false }));
    this.begun++;
    this.node.clients
      .client(this.group)
      .transact(messages, settlements, { completed: () => this.committed++, refused: () => {} }, 0);
  }

  transactSome(random: SimRandom): void {
    const texts = this.held.map(({ text }) => text).filter(() => random.float() < 0.6);
    if (texts.length === 0) return;
    this.transact(
      texts.flatMap((text) => [`${text}>1`, `${text}>2`]),
      texts,
    );
  }
}

function textsIn(group: TestGroup, incarnation: number): string[] {
  const { state } = group.primary!;
  const { index } = state.queue(incarnation)!;
  return index.positionsAscending(0, 100_000).map((position) => {
    const entry = index.find(position)!;
    const chunk = state.chunk(entry.chunk);
    const { bytes, bodyStart, bodyLength } = new EnqueueView().set(chunk.bytes!, chunk.view!, entry.offset);
    return new TextDecoder().decode(bytes.subarray(bodyStart, bodyStart + bodyLength));
  });
}

async function cluster(seed = 1): Promise<{ world: World; nodes: TestNode[]; group: TestGroup }> {
  const world = new World(seed);
  const group = world.group(1);
  const nodes = await world.start(['a', 'b', 'c']);
  group.lead(nodes[0]!);
  group.open(input);
  group.open(output);
  await world.run(10);
  return { world, nodes, group };
}

async function consuming(world: World, client: Transactor, credit: number): Promise<void> {
  const subscription = await Promise.race([client.consume(credit), world.run(20)]);
  assert.ok(subscription instanceof ClusterSubscription);
}

describe('transactions of a group', () => {
  it('that make no sense end the link, and nothing of them is done', async () => {
    const whole = Buffer.alloc(unitLength([{ parts: message('m'), incarnations: [output], durable: true }], []));
    const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
    encodeUnit(whole, view, 0, [{ parts: message('m'), incarnations: [output], durable: true }], [], 3, 1);
    const spoiled = (change: (bytes: Buffer) => void): Buffer => {
      const bytes = Buffer.from(whole);
      change(bytes);
      return bytes;
    };
    for (const unit of [
      whole.subarray(0, whole.length - 1),
      whole.subarray(0, 20),
      Buffer.concat([whole, Buffer.alloc(3)]),
      spoiled((bytes) => bytes.writeUInt32LE(1, 20)),
      spoiled((bytes) => bytes.writeUInt32LE(0xffff_ffff, 20)),
      spoiled((bytes) => bytes.writeUInt32LE(0, unitHeaderBytes)),
      spoiled((bytes) => bytes.writeUInt32LE(7, unitHeaderBytes + 20)),
      spoiled((bytes) => (bytes[4] = 1)),
    ]) {
      const { world, nodes, group } = await cluster();
      const link = nodes[2]!.links.get('a')!;
      const tie = nodes[2]!.clients.client(1).attachment!;
      world.loop.after(0, nodes[2]!.context, () => {
        const out = link.beginFrame(FrameType.transact, 1, 16 + unit.length, 3);
        out.view.setUint32(out.offset, tie.number, true);
        out.view.setFloat64(out.offset + 8, 1, true);
        out.bytes.set(unit, out.offset + 16);
      });
      await world.run(5);
      assert.equal(link.closed, true);
      assert.deepEqual(textsIn(group, output), []);
    }
  });

  for (const where of [0, 2])
    it(`take effect together, ${where === 0 ? 'on the primary' : 'over a link'}, in order with publishes`, async () => {
      const { world, nodes, group } = await cluster();
      const client = new Transactor(nodes[where]!, 1);
      client.publish('m1', [input]);
      client.publish('m2', [input]);
      await consuming(world, client, 10);
      await world.run(10);
      client.publish('before', [output]);
      client.transact(['a', 'b'], ['m1']);
      client.publish('after', [output]);
      await world.run(10);
      assert.equal(client.committed, 1);
      assert.deepEqual(textsIn(group, output), ['before', 'a', 'b', 'after']);
      assert.deepEqual(textsIn(group, input), ['m2']);
    });

  for (const where of [0, 1, 2])
    it(`are sent again as a whole to the next primary, from ${['the old one', 'the new one', 'a third node'][where]}`, async () => {
      const { world, nodes, group } = await cluster();
      const client = new Transactor(nodes[where]!, 1);
      for (const text of ['m1', 'm2', 'm3']) client.publish(text, [input]);
      await consuming(world, client, 10);
      await world.run(10);
      client.transact(['first'], ['m1']);
      await world.run(10);
      group.primary!.commits = false;
      client.transact(['a', 'b'], ['m2']);
      client.publish('plain', [output]);
      await world.run(10);
      group.lead(nodes[1]!, 3);
      client.transact(['c'], ['m3']);
      await world.run(40);
      assert.equal(client.committed, 3);
      assert.deepEqual(textsIn(group, output), ['first', 'a', 'b', 'plain', 'c']);
      assert.deepEqual(textsIn(group, input), []);
      assert.equal(client.node.clients.unfinished().publishes, 0);
    });

  it('are not taken twice when only their answer was lost', async () => {
    const { world, nodes, group } = await cluster();
    const client = new Transactor(nodes[2]!, 1);
    client.publish('m1', [input]);
    await consuming(world, client, 10);
    await world.run(10);
    group.primary!.acts = false;
    client.transact(['a'], ['m1']);
    await world.run(10);
    assert.equal(client.committed, 0);
    nodes[0]!.kill();
    group.lead(nodes[1]!);
    await world.run(30);
    assert.equal(client.committed, 1);
    assert.deepEqual([textsIn(group, output), textsIn(group, input)], [['a'], []]);
  });

  it('keep what they settle from others while they are on their way', async () => {
    const { world, nodes, group } = await cluster();
    const client = new Transactor(nodes[2]!, 1);
    client.publish('m1', [input]);
    await consuming(world, client, 10);
    await world.run(10);
    group.primary!.commits = false;
    client.transact(['a'], ['m1']);
    await world.run(5);
    // What its client holds no more is given back; what the transaction settles is not.
    client.node.clients.forgetSink(client);
    nodes[0]!.kill();
    group.lead(nodes[1]!);
    const other = new Transactor(nodes[1]!, 1);
    void other.consume(10);
    await world.run(40);
    assert.deepEqual(other.delivered, []);
    assert.deepEqual([textsIn(group, output), textsIn(group, input)], [['a'], []]);
  });
});

async function act(random: SimRandom, world: World, group: TestGroup, nodes: TestNode[], workers: Transactor[]) {
  const worker = random.pick(workers);
  const choice = random.float();
  if (choice < 0.35) {
    for (let i = random.int(10); i >= 0; i--) worker.publish(`${worker.node.name}${worker.published++}`, [input]);
  } else if (choice < 0.75) worker.transactSome(random);
  else if (choice < 0.8) group.primary!.commits = !group.primary!.commits;
  else if (choice < 0.83) group.wiringVersion++;
  else if (choice < 0.86) group.primary!.service.advanceWiring(group.wiringVersion, 0);
  else if (choice < 0.93) {
    const [one, other] = [random.pick(nodes), random.pick(nodes)];
    world.loop.after(0, one.context, () => one.links.get(other.name)?.close('closed', 'cut'));
  } else group.lead(random.pick(nodes), random.int(4));
  await world.run(random.float() * 2);
}

/** Nobody dies, so each message is taken by one transaction, and comes out twice: neither more nor less. */
async function run(seed: number): Promise<void> {
  const random = new SimRandom(seed);
  const { world, nodes, group } = await cluster(seed);
  const workers = nodes.map((node) => new Transactor(node, 1));
  for (const worker of workers) {
    await consuming(world, worker, 5);
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
    for (const worker of workers) worker.transactSome(random);
  }
  await world.run(50);
  const all = workers.flatMap(({ node, published }) => Array.from({ length: published }, (_, i) => node.name + i));
  assert.deepEqual(textsIn(group, input), []);
  assert.deepEqual(textsIn(group, output).sort(), all.flatMap((text) => [`${text}>1`, `${text}>2`]).sort());
  for (const { committed, begun } of workers) assert.equal(committed, begun);
}

describe('transactions of a group that moves', () => {
  const seeds =
    process.env['SEED'] === undefined ? Array.from({ length: 12 }, (_, i) => i + 1) : [Number(process.env['SEED'])];
  for (const seed of seeds) it(`seed ${seed}`, () => run(seed));
});
