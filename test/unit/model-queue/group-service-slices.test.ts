import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Lsn } from '../../../src/log/lsn.js';
import { walkSlice } from '../../../src/model/group-service/attachments.js';
import { giveBackSlice } from '../../../src/model/group-service/served-queue.js';
import { heldBy, publish, q, setUp, subscribe } from './service-support.js';
import { TestClient, TestPrimary } from './support.js';
import { Naming } from '../../../src/model/group-port.js';

const many = 30_000;
const manyQueues = 10_000;

/** Runs turns until `done`; none may change `measure` by more than `most`. Returns how many there were. */
function turnsUntil(primary: TestPrimary, measure: () => number, most: number, done: () => boolean): number {
  let turns = 0;
  for (; !done(); turns++) {
    const before = measure();
    assert.ok(primary.runOnce(), 'it goes on by itself');
    const changed = Math.abs(measure() - before);
    assert.ok(changed <= most, `${changed} in one turn, allowed are ${most}`);
    if (primary.commits) primary.commit();
  }
  return turns;
}

/** A primary with many queues, on each of which the node has a consumer. */
function crowd(options: ConstructorParameters<typeof TestPrimary>[0] = {}) {
  const primary = new TestPrimary(options);
  const queues: Lsn[] = [];
  for (let i = 0; i < manyQueues; i++) {
    queues.push(1000 + i);
    primary.openQueue(1000 + i);
  }
  const client = new TestClient();
  const port = primary.attach(client);
  for (let i = 0; i < manyQueues; i++) subscribe(port, i, 10, { queue: queues[i]!, exclusive: true });
  primary.run();
  return { primary, client, port, queues };
}

describe('in one turn only some thousand', () => {
  test('messages come back from a node that is gone; others get them in order, flagged', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, many);
    publish(port, 1, many);
    primary.run();
    assert.equal(client.take().length, many);
    const other = new TestClient();
    subscribe(primary.attach(other, 'b', 2), 1, many);
    primary.run();
    const { index } = primary.state.queue(q)!;
    const heldByA = (): number => many - other.deliveries.length - index.ready;
    primary.service.reap('a', 1);
    assert.ok(heldByA() >= many - walkSlice - giveBackSlice, 'the first slice comes at once');
    assert.ok(turnsUntil(primary, heldByA, walkSlice + giveBackSlice, () => heldByA() === 0) > 4);
    primary.run();
    const got = other.take();
    assert.deepEqual(
      got.map(({ body }) => body),
      Array.from({ length: many }, (_, i) => `m${i + 1}`),
    );
    assert.ok(got.every(({ redelivered }) => redelivered));
  });

  test('consumers of a node that is gone are taken away', () => {
    const { primary } = crowd();
    primary.service.reap('a', 1);
    const left = (): number => primary.unused.length;
    assert.ok(left() <= walkSlice);
    assert.equal(
      turnsUntil(primary, left, walkSlice, () => left() === manyQueues),
      2,
    );
  });

  test('consumers are looked after when the node that attached again did not subscribe', () => {
    const { primary } = crowd();
    primary.attach(new TestClient());
    primary.run();
    primary.clock.advance(5000);
    const left = (): number => primary.unused.length;
    assert.ok(left() > 0 && left() <= walkSlice);
    turnsUntil(primary, left, walkSlice, () => left() === manyQueues);
  });

  test('queues are served when the gate opens, and deliveries made', () => {
    const { primary, client, port, queues } = crowd({ open: false });
    for (let i = 0; i < manyQueues; i++) publish(port, i * 2 + 1, i * 2 + 2, { queues: [queues[i]!] });
    primary.run();
    assert.equal(client.deliveries.length, 0);
    primary.service.open();
    const made = (): number => client.deliveries.length;
    assert.ok(turnsUntil(primary, made, 8192, () => made() === manyQueues * 2) > manyQueues / 1024);
  });

  test('held messages are named; nobody else gets them, and what is said of them waits', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, many);
    publish(port, 1, many + 1);
    primary.run();
    const held = heldBy(client);
    primary.service.detach('a', 1);
    const other = new TestClient();
    subscribe(primary.attach(other, 'b', 2), 1, many + 1);
    primary.run();
    assert.deepEqual(other.bodies(), [`m${many + 1}`]);
    let named = 0;
    let looked = 0;
    const counted = held.slice(0, -1).map(({ incarnation, position }) => ({
      get incarnation(): number {
        looked++;
        return incarnation;
      },
      position,
      naming: Naming.held,
    }));
    const again = new TestClient();
    const second = primary.service.attach('a', 1, again, counted, many, () => named++);
    const last = held.at(-2)!;
    second.ack(q, last.position);
    second.requeue(q, held[0]!.position, true);
    assert.equal(named, 0);
    assert.ok(looked <= walkSlice);
    turnsUntil(
      primary,
      () => looked,
      walkSlice,
      () => named === 1,
    );
    primary.run();
    assert.deepEqual(other.bodies(), ['m1', `m${many}`], 'what was given back, and what was not named');
    assert.equal(again.settledCount, 2);
    const { index } = primary.state.queue(q)!;
    assert.deepEqual([index.find(last.position), index.size, index.ready], [undefined, many, 0]);
  });
});

describe('while a node is gone through', () => {
  test('it may subscribe again to what its older attachment had for itself', () => {
    const { primary, queues } = crowd();
    const again = new TestClient();
    const port = primary.attach(again);
    for (let i = 0; i < manyQueues; i++) subscribe(port, i, 10, { queue: queues[i]!, exclusive: true });
    primary.run();
    assert.equal(again.events.filter((event) => event.includes('refused')).length, 0);
    primary.clock.advance(5000);
    primary.run();
    assert.deepEqual(primary.unused, []);
  });

  test('it may attach a third time: what it named before is not given to others', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, many);
    publish(port, 1, many);
    primary.run();
    const held = heldBy(client);
    const other = new TestClient();
    subscribe(primary.attach(other, 'b', 2), 1, many);
    let named = '';
    primary.service.attach('a', 1, new TestClient(), held, many, () => (named += '2'));
    primary.service.attach('a', 1, new TestClient(), held, many, () => (named += '3'));
    primary.run();
    assert.equal(named, '23');
    assert.deepEqual(other.bodies(), []);
    primary.service.reap('a', 1);
    primary.run();
    assert.equal(other.take().length, many);
  });

  test('deliveries to its consumers stop, though they are not taken away yet', () => {
    const { primary, client, port, queues } = crowd();
    primary.service.reap('a', 1);
    const other = primary.attach(new TestClient(), 'b', 2);
    publish(other, 1, 1, { queues: [queues.at(-1)!] });
    primary.run();
    port.ack(queues.at(-1)!, 1);
    assert.deepEqual(client.bodies(), []);
    assert.equal(primary.state.queue(queues.at(-1)!)!.index.ready, 1);
  });
});

describe('while what was called in a pause is done', () => {
  test('a later settlement waits behind an earlier one: the first are told of as done, and are', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    publish(port, 1, 2);
    primary.run();
    const [first, second] = client.take();
    primary.service.pause();
    primary.run();
    publish(port, 3, 2 * walkSlice);
    port.ack(q, first!.position);
    primary.service.resume();
    const { index } = primary.state.queue(q)!;
    assert.ok(index.size < 2 * walkSlice, 'it takes more turns than one');
    port.ack(q, second!.position);
    // The group is given away after all: what is not told of as done is said again to the next primary.
    primary.service.pause();
    primary.run();
    assert.equal(client.settledCount, 0);
    assert.ok(index.find(first!.position) !== undefined && index.find(second!.position) !== undefined);
    primary.service.resume();
    primary.run();
    assert.equal(client.settledCount, 2);
    assert.deepEqual([index.size, index.delivered], [2 * walkSlice - 2, 0]);
  });
});
