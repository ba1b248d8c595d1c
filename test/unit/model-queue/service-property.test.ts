import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allRules, type RuleName, type Rules, rulesWithout } from '../../../src/base/rules.js';
import type { GroupServicePort } from '../../../src/model/group-port.js';
import { type Delivery, messageParts, TestClient, TestPrimary } from './support.js';
import { Naming } from '../../../src/model/group-port.js';

const q = 10;

/** One node: publishes, consumes, and says everything again when it attaches again, as the client's side does. */
class Node {
  readonly name: string;
  readonly boot: number;
  client: TestClient = new TestClient();
  port: GroupServicePort | undefined;
  held: Delivery[] = [];
  /** What it has told and has no answer for. */
  private settling: Delivery[] = [];
  private settledBase = 0;
  published = 0;
  confirmed = 0;
  credit = 0;
  private subscriber = 0;
  private readonly world: World;

  constructor(world: World, name: string, boot: number) {
    this.world = world;
    this.name = name;
    this.boot = boot;
  }

  attach(primary: TestPrimary): void {
    const held = [...this.held, ...this.settling].map(({ position }) => ({
      incarnation: q,
      position,
      naming: Naming.held,
    }));
    this.client = new TestClient();
    this.port = primary.service.attach(this.name, this.boot, this.client, held, this.confirmed);
    this.settledBase = 0;
    for (let sequence = this.confirmed + 1; sequence <= this.published; sequence++) this.send(sequence);
    for (const { position } of this.settling) this.port.ack(q, position);
    const options = { consumerTag: '', noAck: false, exclusive: false, arguments: {}, credit: this.credit };
    this.port.subscribe(++this.subscriber, q, 0, options);
  }

  publish(count: number): void {
    for (let i = 0; i < count; i++) {
      this.published++;
      if (this.port !== undefined) this.send(this.published);
    }
  }
  grant(count: number): void {
    this.credit += count;
    this.port?.grant(this.subscriber, count);
  }
  settle(which: number, requeue: boolean): void {
    if (this.held.length === 0) return;
    const [delivery] = this.held.splice(which % this.held.length, 1);
    if (requeue && this.port !== undefined) {
      this.port.requeue(q, delivery!.position, true);
      this.world.requeued.add(delivery!.body);
      this.settling.push({ ...delivery!, body: '' });
    } else {
      this.world.acked.add(delivery!.body);
      this.settling.push(delivery!);
      this.port?.ack(q, delivery!.position);
    }
  }

  /** Takes in what the service has sent. */
  receive(): void {
    this.confirmed = Math.max(this.confirmed, this.client.confirmedTo);
    for (const delivery of this.client.take()) {
      this.credit--;
      this.held.push(delivery);
      this.world.delivered(this, delivery);
    }
    const answered = this.client.settledCount - this.settledBase;
    this.settling.splice(0, answered);
    this.settledBase += answered;
    assert.ok(this.credit >= 0, 'more was delivered than asked for');
  }

  /** The tie is lost with all that is under way. Requeues that were not answered are not said again: nobody names them. */
  lose(): void {
    this.port = undefined;
    this.settling = this.settling.filter(({ body }) => body !== '');
  }
  private send(sequence: number): void {
    this.port!.publish(messageParts(`${this.name}${sequence}`), [q], true, sequence, 0);
  }
}

class World {
  primary: TestPrimary;
  epoch = 1;
  readonly nodes: Node[];
  readonly acked: Set<string> = new Set();
  readonly requeued: Set<string> = new Set();
  /** Bodies delivered without the flag; a second time is an error. */
  private readonly unflagged = new Set<string>();
  private readonly lastUnflagged = new Map<string, number>();
  private boots = 2;
  private readonly rules: Rules;

  constructor(rules: Rules) {
    this.rules = rules;
    this.primary = new TestPrimary({ rules });
    this.primary.openQueue(q, true);
    this.nodes = [new Node(this, 'a', 1), new Node(this, 'b', 2)];
    for (const node of this.nodes) node.attach(this.primary);
  }

  delivered(node: Node, { body, redelivered }: Delivery): void {
    for (const other of this.nodes)
      if (other !== node) assert.ok(!other.held.some((held) => held.body === body), `${body} is held twice`);
    if (redelivered) return;
    assert.ok(!this.unflagged.has(body), `${body} came twice without the flag`);
    this.unflagged.add(body);
    const publisher = `${body[0]!} at ${node.name}`;
    const sequence = Number(body.slice(1));
    assert.ok(sequence > (this.lastUnflagged.get(publisher) ?? 0), `${body} came out of order`);
    this.lastUnflagged.set(publisher, sequence);
  }

  run(): void {
    this.primary.run();
    while (this.primary.chunks.settleLoads()) this.primary.run();
    for (const node of this.nodes) node.receive();
  }

  loseLink(node: Node): void {
    if (node.port === undefined) return;
    this.primary.service.detach(node.name, node.boot);
    node.lose();
  }
  attach(node: Node): void {
    if (node.port === undefined) node.attach(this.primary);
  }
  /** The node dies with all its clients; a new boot takes its place. */
  kill(index: number): void {
    const node = this.nodes[index]!;
    this.primary.service.reap(node.name, node.boot);
    const next = new Node(this, String.fromCharCode(97 + this.boots), ++this.boots);
    this.nodes[index] = next;
    next.attach(this.primary);
  }
  /** Another primary takes over; the `dead`-th node may die at the same moment. */
  takeOver(dead: number): void {
    const { primary } = this;
    if (dead < this.nodes.length) this.nodes[dead] = new Node(this, String.fromCharCode(97 + this.boots), ++this.boots);
    primary.service.close();
    primary.log.cut();
    for (const node of this.nodes) node.lose();
    this.primary = new TestPrimary({ previous: primary, epoch: ++this.epoch, rules: this.rules, open: false });
    for (const node of this.nodes) {
      node.attach(this.primary);
      this.run();
    }
    this.primary.service.open();
  }
  evict(): void {
    const { chunks, log } = this.primary;
    for (const chunk of chunks.all.values()) if (chunk !== log.chunk && chunk.pins === 0) chunks.evict(chunk);
  }

  /** Everything comes to an end: all is delivered, acknowledged and confirmed. */
  finish(): void {
    this.primary.commits = true;
    for (const node of this.nodes) {
      this.attach(node);
      node.grant(10_000);
    }
    for (let i = 0; i < 10; i++) {
      this.run();
      for (const node of this.nodes) while (node.held.length > 0) node.settle(0, false);
    }
    const { state, chunks } = this.primary;
    assert.equal(state.queue(q)!.index.size, 0);
    assert.equal(chunks.live, 1, 'the open record only');
    for (const node of this.nodes) {
      assert.equal(node.confirmed, node.published);
      for (let sequence = 1; sequence <= node.published; sequence++)
        assert.ok(this.acked.has(`${node.name}${sequence}`), `${node.name}${sequence} was lost`);
    }
  }
}

const which = fc.nat(1);
const step: fc.Arbitrary<(world: World) => void> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(which, fc.nat(20)).map(
      ([n, count]) =>
        (world: World) =>
          world.nodes[n]!.publish(count),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(which, fc.nat(8)).map(
      ([n, count]) =>
        (world: World) =>
          world.nodes[n]!.grant(count),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(which, fc.nat(30), fc.nat(3)).map(
      ([n, at, kind]) =>
        (world: World) =>
          world.nodes[n]!.settle(at, kind === 0),
    ),
  },
  { weight: 4, arbitrary: fc.constant((world: World) => world.run()) },
  {
    weight: 1,
    arbitrary: fc.boolean().map((commits) => (world: World) => {
      world.primary.commits = commits;
    }),
  },
  { weight: 1, arbitrary: which.map((n) => (world: World) => world.loseLink(world.nodes[n]!)) },
  { weight: 1, arbitrary: which.map((n) => (world: World) => world.attach(world.nodes[n]!)) },
  { weight: 1, arbitrary: which.map((n) => (world: World) => world.kill(n)) },
  { weight: 1, arbitrary: fc.nat(5).map((dead) => (world: World) => world.takeOver(dead)) },
  { weight: 1, arbitrary: fc.constant((world: World) => world.evict()) },
);

function history(rules: Rules): fc.IProperty<[((world: World) => void)[]]> {
  return fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), (steps) => {
    const world = new World(rules);
    for (const run of steps) run(world);
    world.finish();
  });
}

test('whatever is lost on the way, every message is delivered, flagged if it may have been before, and held once', () => {
  fc.assert(history(allRules), { numRuns: 200, includeErrorInReport: true });
});

const neededRules: RuleName[] = [
  'dedupe',
  'flagOld',
  'waitReattach',
  'keepHeld',
  'holdOverLinkLoss',
  'deliverCommitted',
];
for (const rule of neededRules)
  test(`the same is not so without the rule ${rule}`, () => {
    const details = fc.check(history(rulesWithout(rule)), { numRuns: 2000, endOnFailure: true, seed: 1 });
    assert.ok(details.failed);
  });
