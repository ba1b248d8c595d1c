import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rulesWithout } from '../../../src/base/rules.js';
import { epochStart, type Lsn } from '../../../src/log/lsn.js';
import { RecordKind } from '../../../src/log/record.js';
import type { GroupServicePort, HeldMessage } from '../../../src/model/group-port.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const q = 10;

function subscribe(
  port: GroupServicePort,
  subscriber: number,
  credit: number,
  options: { noAck?: boolean; exclusive?: boolean; queue?: Lsn; version?: Lsn } = {},
): void {
  const { noAck = false, exclusive = false, queue = q, version = 0 } = options;
  port.subscribe(subscriber, queue, version, {
    consumerTag: `c${subscriber}`,
    noAck,
    exclusive,
    arguments: {},
    credit,
  });
}

/** Publishes messages named `<name><number>` with the sequences [from, to]. */
function publish(
  port: GroupServicePort,
  from: number,
  to: number,
  options: { name?: string; queues?: Lsn[]; durable?: boolean } = {},
): void {
  const { name = 'm', queues = [q], durable = false } = options;
  for (let sequence = from; sequence <= to; sequence++)
    port.publish(messageParts(`${name}${sequence}`), queues, durable, sequence, 0);
}

/** A primary with an open queue, and a client attached. */
function setUp(options: ConstructorParameters<typeof TestPrimary>[0] & { durable?: boolean } = {}) {
  const primary = new TestPrimary(options);
  primary.openQueue(q, options.durable ?? false);
  const client = new TestClient();
  const port = primary.attach(client);
  return { primary, client, port };
}

function heldBy(client: TestClient): HeldMessage[] {
  return client.deliveries.map(({ incarnation, position, subscriber }) => ({ incarnation, position, subscriber }));
}

describe('publishing', () => {
  test('is confirmed when committed, up to the last one', () => {
    const { primary, client, port } = setUp();
    primary.commits = false;
    publish(port, 1, 5);
    primary.run();
    assert.equal(client.confirmedTo, 0);
    primary.commit();
    primary.run();
    assert.equal(client.confirmedTo, 5);
    publish(port, 6, 6);
    primary.commits = true;
    primary.run();
    assert.equal(client.confirmedTo, 6);
  });

  test('takes a number once, and confirms a repeated one with its commit (rules 4, 14)', () => {
    const { primary, client, port } = setUp();
    primary.commits = false;
    publish(port, 1, 3);
    const again = new TestClient();
    const second = primary.attach(again);
    publish(second, 1, 4);
    primary.run();
    assert.equal(again.confirmedTo, 0);
    primary.commits = true;
    primary.run();
    assert.equal(again.confirmedTo, 4);
    assert.equal(client.confirmedTo, 0);
    assert.equal(primary.state.queue(q)!.index.size, 4);
  });

  test('breaks the tie when a number is left out', () => {
    const { primary, port } = setUp();
    publish(port, 1, 2);
    publish(port, 4, 4);
    publish(port, 3, 3);
    primary.run();
    assert.deepEqual(primary.broken, ['a/1: publish number 4 came where 3 was due']);
    assert.equal(primary.state.queue(q)!.index.size, 2);
  });

  test('goes on after what was confirmed, whatever else is known of the publisher', () => {
    const { primary } = setUp();
    const client = new TestClient();
    const port = primary.attach(client, 'b', 2, [], 40);
    publish(port, 40, 42);
    primary.run();
    assert.equal(client.confirmedTo, 42);
    assert.equal(primary.state.queue(q)!.index.size, 2);
  });

  test('into queues that are gone is logged without the message, and confirmed', () => {
    const { primary, client, port } = setUp();
    publish(port, 1, 1, { queues: [77] });
    publish(port, 2, 2, { queues: [77, q] });
    primary.run();
    assert.equal(client.confirmedTo, 2);
    assert.equal(primary.log.appendedOfKind[RecordKind.enqueue], 2);
    assert.equal(primary.state.queue(q)!.index.size, 1);
  });

  test('waits for the wiring it was routed with, in order, and so does what follows', () => {
    const { primary, client, port } = setUp();
    const version = primary.state.wiringVersion + 1;
    port.publish(messageParts('first'), [20], false, 1, version);
    publish(port, 2, 2, { name: 'second' });
    port.get(1, q, 0, false);
    primary.run();
    assert.equal(client.confirmedTo, 0);
    const waiting: string[] = [];
    primary.service.forEachWaitingPublish('a', (bytes, view, start) =>
      waiting.push(
        new TextDecoder().decode(
          bytes.subarray(start + view.getUint32(start, true) - view.getUint32(start + 20, true)),
        ),
      ),
    );
    assert.deepEqual(waiting, ['first', 'second2']);
    primary.openQueue(20);
    assert.equal(client.confirmedTo, 2);
    assert.equal(primary.state.queue(20)!.index.size, 1);
    assert.deepEqual(client.events, ['got 1 second2 remaining 0']);
  });

  test('too much that waits breaks the tie', () => {
    const { primary, port } = setUp();
    const big = messageParts('x'.repeat(8 * 1024 * 1024));
    for (let sequence = 1; sequence <= 9; sequence++) port.publish(big, [q], false, sequence, 99);
    assert.equal(primary.broken.length, 1);
  });

  test('is not confirmed without the lease, nor while confirms are held (rules 11, 21)', () => {
    const { primary, client, port } = setUp();
    primary.log.lease = false;
    publish(port, 1, 1);
    primary.run();
    assert.equal(client.confirmedTo, 0);
    primary.log.lease = true;
    primary.service.confirmsHeld = true;
    primary.run();
    assert.equal(client.confirmedTo, 0);
    primary.service.confirmsHeld = false;
    primary.run();
    assert.equal(client.confirmedTo, 1);
  });
});

describe('delivering', () => {
  test('only what is committed, in order, within the credit', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    primary.commits = false;
    publish(port, 1, 4);
    primary.run();
    assert.deepEqual(client.bodies(), []);
    primary.commits = true;
    primary.run();
    assert.deepEqual(client.events, ['subscribed 1']);
    assert.deepEqual(client.bodies(), ['m1', 'm2']);
    port.grant(1, 10);
    primary.run();
    assert.deepEqual(client.bodies(), ['m3', 'm4']);
  });

  test('big messages take more credit of a consumer without acknowledgements, and of no other', () => {
    const { primary, client, port } = setUp();
    const big = 'x'.repeat(10_000);
    subscribe(port, 1, 4, { noAck: true });
    publish(port, 1, 3, { name: big });
    primary.run();
    assert.equal(client.bodies().length, 2, 'the second took what was left, and owes the rest');
    port.grant(1, 2);
    primary.run();
    assert.equal(client.bodies().length, 0);
    port.grant(1, 1);
    primary.run();
    assert.equal(client.bodies().length, 1);
    subscribe(port, 2, 3);
    port.unsubscribe(1);
    publish(port, 4, 7, { name: big });
    primary.run();
    assert.equal(client.bodies().length, 3);
  });

  test('goes round among consumers with credit', () => {
    const { primary, client, port } = setUp();
    const other = new TestClient();
    const otherPort = primary.attach(other, 'b', 2);
    subscribe(port, 1, 10);
    subscribe(port, 2, 1);
    subscribe(otherPort, 1, 10);
    publish(port, 1, 7);
    primary.run();
    assert.deepEqual(
      client.take().map(({ subscriber, body }) => `${subscriber}:${body}`),
      ['1:m1', '2:m2', '1:m4', '1:m6'],
    );
    assert.deepEqual(other.bodies(), ['m3', 'm5', 'm7']);
  });

  test('nothing before the gate opens, nor without the lease (rules 11, 13)', () => {
    const primary = new TestPrimary({ open: false });
    primary.openQueue(q);
    const client = new TestClient();
    const port = primary.attach(client);
    subscribe(port, 1, 10);
    publish(port, 1, 2);
    port.get(1, q, 0, true);
    port.purge(2, q, 0);
    primary.run();
    assert.equal(client.confirmedTo, 2);
    assert.deepEqual(client.take(), []);
    assert.deepEqual(client.events.splice(0), ['subscribed 1']);
    primary.log.lease = false;
    primary.service.open();
    primary.run();
    assert.deepEqual(client.take(), []);
    primary.log.lease = true;
    primary.service.touch();
    primary.run();
    // The purge came first through the gate.
    assert.deepEqual(client.events, ['gotNothing 1', 'purged 2 2']);
  });

  test('without acknowledgement dequeues at once: with a record where others follow or the disk has it', () => {
    for (const [replicated, durable, records] of [
      [true, false, 1],
      [false, true, 1],
      [false, false, 0],
    ] as const) {
      const { primary, client, port } = setUp({ durable });
      primary.log.replicated = replicated;
      subscribe(port, 1, 10, { noAck: true });
      publish(port, 1, 3, { durable });
      primary.run();
      assert.deepEqual(client.bodies(), ['m1', 'm2', 'm3']);
      assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], records);
      assert.equal(primary.state.queue(q)!.index.size, 0);
    }
  });

  test('reads back what was evicted, and goes on when it is there', () => {
    const { primary, client, port } = setUp();
    const body = 'x'.repeat(100_000);
    for (let sequence = 1; sequence <= 6; sequence++)
      port.publish(messageParts(`${sequence}${body}`), [q], false, sequence, 0);
    primary.run();
    const { chunks } = primary;
    for (const chunk of chunks.all.values()) if (chunk !== primary.log.chunk) chunks.evict(chunk);
    subscribe(port, 1, 10);
    primary.run();
    assert.deepEqual(client.take(), []);
    chunks.settleLoads(new Error('unreadable'));
    primary.run();
    assert.deepEqual(client.take(), []);
    primary.clock.advance(1000);
    primary.run();
    while (chunks.settleLoads()) primary.run();
    assert.deepEqual(
      client.bodies().map((text) => text[0]),
      ['1', '2', '3', '4', '5', '6'],
    );
    for (const chunk of chunks.all.values()) if (chunk !== primary.log.chunk) assert.equal(chunk.pins, 0);
  });

  test('a long backlog goes out over several turns', () => {
    const { primary, client, port } = setUp();
    publish(port, 1, 20_000);
    primary.run();
    subscribe(port, 1, 1e6);
    primary.runOnce();
    assert.ok(client.deliveries.length < 10_000);
    primary.run();
    assert.equal(client.take().length, 20_000);
  });
});

describe('settling', () => {
  test('an ack dequeues with one record per turn; its answer waits for the commit', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 10);
    publish(port, 1, 5);
    primary.run();
    primary.commits = false;
    for (const { position } of [...client.take()].reverse()) port.ack(q, position);
    primary.run();
    assert.equal(client.settledCount, 0);
    assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], 1);
    primary.commits = true;
    primary.run();
    assert.equal(client.settledCount, 5);
    assert.equal(primary.state.queue(q)!.index.size, 0);
  });

  test('an ack of what is being dequeued, or gone, counts and waits likewise (rule 4)', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 10);
    publish(port, 1, 1);
    primary.run();
    const held = heldBy(client);
    primary.commits = false;
    port.ack(q, held[0]!.position);
    primary.run();
    const again = new TestClient();
    const second = primary.attach(again, 'a', 1, held);
    second.ack(q, held[0]!.position);
    second.ack(q, 12345);
    second.ack(99, 1);
    primary.run();
    assert.equal(again.settledCount, 0);
    primary.commits = true;
    primary.run();
    assert.equal(again.settledCount, 3);
    assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], 1);
  });

  test('more than 4096 positions make several records', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 1e6);
    publish(port, 1, 5000);
    primary.run();
    for (const { position } of client.take()) port.ack(q, position);
    primary.run();
    assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], 2);
    assert.equal(client.settledCount, 5000);
    // The queue's own record.
    assert.equal(primary.chunks.live, 1);
  });

  test('what is requeued comes again in its place, flagged if it was seen, or if others behind it were handed out', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 4);
    publish(port, 1, 6);
    primary.run();
    const [first, second, third, fourth] = client.take();
    port.requeue(q, third!.position, true);
    port.requeue(q, first!.position, false);
    port.requeue(q, fourth!.position, false);
    port.grant(1, 4);
    primary.run();
    assert.equal(client.settledCount, 3);
    assert.equal(primary.state.queue(q)!.index.find(second!.position)!.redelivered, false);
    assert.deepEqual(
      client.take().map(({ body, redelivered }) => `${body}${redelivered ? ' again' : ''}`),
      ['m1 again', 'm3 again', 'm4', 'm5'],
    );
  });

  test('what is rejected is gone', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 4);
    publish(port, 1, 2);
    primary.run();
    port.reject(q, client.take()[0]!.position);
    primary.run();
    assert.equal(client.settledCount, 1);
    assert.equal(primary.state.queue(q)!.index.size, 1);
  });

  test('nobody settles what another node holds', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 4);
    publish(port, 1, 1);
    primary.run();
    const other = primary.attach(new TestClient(), 'b', 2);
    other.ack(q, client.deliveries[0]!.position);
    other.requeue(q, client.deliveries[0]!.position, true);
    primary.run();
    assert.equal(primary.state.queue(q)!.index.delivered, 1);
  });

  test('a dequeue is durable if one of its messages is', () => {
    const { primary, client, port } = setUp({ durable: true });
    primary.log.replicated = false;
    subscribe(port, 1, 4);
    publish(port, 1, 1, { durable: true });
    publish(port, 2, 3);
    primary.run();
    const held = client.take();
    port.ack(q, held[1]!.position);
    primary.run();
    assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], 0);
    port.ack(q, held[0]!.position);
    port.ack(q, held[2]!.position);
    primary.run();
    assert.equal(primary.log.appendedOfKind[RecordKind.dequeue], 1);
    assert.equal(client.settledCount, 3);
    assert.equal(primary.state.queue(q)!.index.size, 0);
  });
});

describe('consumers', () => {
  test('an exclusive one stands alone', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 1);
    subscribe(port, 2, 1, { exclusive: true });
    port.unsubscribe(1);
    subscribe(port, 3, 1, { exclusive: true });
    subscribe(port, 4, 1);
    subscribe(port, 5, 1, { queue: 99 });
    primary.run();
    assert.deepEqual(client.events, [
      'subscribed 1',
      'subscribed 2 access-refused: in exclusive use',
      'unsubscribed 1',
      'subscribed 3',
      'subscribed 4 access-refused: in exclusive use',
      'subscribed 5 not-found: the queue is gone',
    ]);
  });

  test('one that has left gets nothing; what it holds stays held', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 1);
    publish(port, 1, 3);
    primary.run();
    port.unsubscribe(1);
    port.grant(1, 10);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1']);
    assert.equal(primary.state.queue(q)!.index.delivered, 1);
    assert.deepEqual(primary.unused, [q]);
  });

  test('a queue is reported as unused each time the last one leaves', () => {
    const { primary, port } = setUp();
    subscribe(port, 1, 1);
    subscribe(port, 2, 1);
    port.unsubscribe(1);
    assert.deepEqual(primary.unused, []);
    port.unsubscribe(2);
    port.unsubscribe(2);
    assert.deepEqual(primary.unused, [q]);
    subscribe(port, 3, 1);
    port.unsubscribe(3);
    assert.deepEqual(primary.unused, [q, q]);
  });

  test('thousands that come and go without a message leave nothing behind', () => {
    const { primary, client, port } = setUp();
    for (let subscriber = 1; subscriber <= 5000; subscriber++) {
      subscribe(port, subscriber, 10);
      port.unsubscribe(subscriber);
    }
    subscribe(port, 6000, 10);
    publish(port, 1, 1);
    primary.run();
    assert.deepEqual(
      client.take().map(({ subscriber }) => subscriber),
      [6000],
    );
  });
});

describe('get, count, purge, drop', () => {
  test('get gives one message at a time, or nothing', () => {
    const { primary, client, port } = setUp();
    publish(port, 1, 2);
    primary.run();
    port.get(1, q, 0, false);
    port.get(2, q, 0, true);
    port.get(3, q, 0, true);
    port.get(4, 99, 0, true);
    primary.run();
    assert.deepEqual(client.events.sort(), [
      'got 1 m1 remaining 1',
      'got 2 m2 remaining 0',
      'gotNothing 3',
      'gotNothing 4 not-found: the queue is gone',
    ]);
    assert.equal(primary.state.queue(q)!.index.size, 1);
  });

  test('count tells ready, unacknowledged and consumers', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    publish(port, 1, 5);
    primary.run();
    port.count(7, q, 0);
    port.count(8, 99, 0);
    primary.run();
    assert.deepEqual(client.events.slice(1), ['counted 7 3 2 1', 'counted 8 0 0 0']);
  });

  test('purge takes what is ready then, in slices, and answers when that is committed', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 1);
    publish(port, 1, 50_000);
    primary.run();
    client.events.length = 0;
    primary.commits = false;
    port.purge(1, q, 0);
    publish(port, 50_001, 50_010);
    primary.run();
    assert.deepEqual(client.events, []);
    assert.equal(primary.state.queue(q)!.index.ready, 0);
    primary.commits = true;
    primary.run();
    assert.deepEqual(client.events, ['purged 1 49999']);
    assert.equal(primary.state.queue(q)!.index.ready, 10);
    assert.equal(primary.state.queue(q)!.index.delivered, 1);
    port.purge(2, 99, 0);
    primary.run();
    assert.deepEqual(client.events, ['purged 1 49999', 'purged 2 0 not-found: the queue is gone']);
  });

  test('a dropped queue cancels its consumers, answers its gets and lets its messages go', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    publish(port, 1, 5);
    primary.run();
    const held = client.take();
    primary.log.lease = false;
    port.get(1, q, 0, true);
    primary.run();
    port.ack(q, held[0]!.position);
    primary.dropQueue(q);
    primary.log.lease = true;
    primary.service.touch();
    primary.run();
    assert.deepEqual(client.events, [
      'subscribed 1',
      'cancelled 1 queue deleted',
      'gotNothing 1 not-found: the queue is gone',
    ]);
    port.ack(q, held[1]!.position);
    publish(port, 6, 6);
    primary.run();
    assert.equal(client.settledCount, 2);
    assert.equal(client.confirmedTo, 6);
    assert.equal(primary.chunks.live, 0);
    assert.deepEqual(primary.unused, []);
  });

  test('dequeue takes out declarations by their positions', () => {
    const { primary, port } = setUp();
    publish(port, 1, 3);
    primary.run();
    const positions = primary.state.positionsDescending(q, Infinity, 2).reverse();
    const lsn = primary.service.dequeue(q, Float64Array.from(positions), true);
    primary.run();
    assert.ok(primary.state.applied >= lsn);
    assert.equal(primary.state.queue(q)!.index.size, 1);
  });
});

describe('attachments (rule 13)', () => {
  test('after a link loss what a node names stays held, the rest comes again flagged', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 3);
    publish(port, 1, 4);
    primary.run();
    const held = heldBy(client);
    primary.service.detach('a', 1);
    const other = new TestClient();
    subscribe(primary.attach(other, 'b', 2), 1, 10);
    primary.run();
    assert.deepEqual(other.bodies(), ['m4']);
    port.ack(q, held[0]!.position);
    const again = new TestClient();
    const second = primary.attach(again, 'a', 1, [held[0]!, held[2]!]);
    port.ack(q, held[0]!.position);
    primary.run();
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [['m2', true]],
    );
    second.ack(q, held[0]!.position);
    second.requeue(q, held[2]!.position, false);
    primary.run();
    assert.equal(again.settledCount, 2);
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [['m3', true]],
    );
  });

  test('what a dead node held comes again flagged, and its consumers are gone', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2, { exclusive: true });
    publish(port, 1, 2);
    primary.run();
    assert.equal(client.take().length, 2);
    const other = new TestClient();
    const otherPort = primary.attach(other, 'b', 2);
    primary.service.detach('a', 1);
    subscribe(otherPort, 1, 10);
    primary.service.reap('a', 0);
    subscribe(otherPort, 2, 10);
    assert.deepEqual(primary.unused, []);
    primary.service.reap('a', 1);
    assert.deepEqual(primary.unused, [q]);
    subscribe(otherPort, 3, 10);
    primary.run();
    assert.deepEqual(other.events, [
      'subscribed 1 access-refused: in exclusive use',
      'subscribed 2 access-refused: in exclusive use',
      'subscribed 3',
    ]);
    assert.deepEqual(
      other.take().map(({ body, redelivered }) => [body, redelivered]),
      [
        ['m1', true],
        ['m2', true],
      ],
    );
  });

  test('a node that attaches again has time to subscribe again before its queue is unused', () => {
    const { primary, port } = setUp();
    subscribe(port, 1, 2);
    primary.openQueue(20);
    subscribe(port, 2, 2, { queue: 20 });
    const second = primary.attach(new TestClient());
    subscribe(second, 1, 2);
    primary.clock.advance(4999);
    assert.deepEqual(primary.unused, []);
    primary.clock.advance(1);
    assert.deepEqual(primary.unused, [20]);
  });

  test('a take-over flags what older epochs may have handed out, and waits for all before it delivers', () => {
    const old = setUp();
    subscribe(old.port, 1, 2);
    publish(old.port, 1, 4);
    old.primary.run();
    const held = heldBy(old.client);
    old.primary.service.close();
    const primary = new TestPrimary({ previous: old.primary, epoch: 2, open: false });
    const client = new TestClient();
    const port = primary.attach(client, 'a', 1, [held[1]!, { incarnation: 99, position: 1, subscriber: 1 }], 4);
    subscribe(port, 1, 10);
    publish(port, 5, 5);
    primary.run();
    assert.deepEqual(client.take(), []);
    primary.service.open();
    primary.run();
    assert.deepEqual(
      client.take().map(({ body, redelivered }) => `${body}${redelivered ? ' again' : ''}`),
      ['m1 again', 'm3 again', 'm4 again', 'm5'],
    );
    port.ack(q, held[1]!.position);
    primary.run();
    assert.equal(client.settledCount, 1);
    assert.ok(primary.state.applied > epochStart(2));
  });

  test('auto-delete waits for the gate too', () => {
    const primary = new TestPrimary({ open: false });
    primary.openQueue(q);
    const port = primary.attach(new TestClient());
    subscribe(port, 1, 1);
    port.unsubscribe(1);
    primary.run();
    assert.deepEqual(primary.unused, []);
    primary.service.open();
    assert.deepEqual(primary.unused, [q]);
  });

  test('a closed service forgets who holds what, and says nothing more', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 2);
    publish(port, 1, 3);
    primary.run();
    port.ack(q, client.take()[0]!.position);
    port.get(9, q, 0, true);
    client.events.length = 0;
    primary.service.close();
    primary.log.cut();
    port.ack(q, 1);
    publish(port, 4, 4);
    primary.run();
    const { index } = primary.state.queue(q)!;
    assert.deepEqual([index.size, index.ready, index.delivered], [3, 3, 0]);
    assert.equal(client.settledCount, 0);
    assert.deepEqual(client.events, []);
  });
});

describe('a rule left out', () => {
  test('dedupe: the log takes a publish twice', () => {
    const { primary, port } = setUp({ rules: rulesWithout('dedupe') });
    publish(port, 1, 2);
    publish(port, 1, 2);
    primary.run();
    assert.equal(primary.state.queue(q)!.index.size, 4);
  });

  test('deliverCommitted: messages go out before their commit', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('deliverCommitted') });
    subscribe(port, 1, 9);
    primary.commits = false;
    publish(port, 1, 1);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1']);
    assert.equal(client.confirmedTo, 0);
  });

  test('requeueInPlace: what is given back comes last', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('requeueInPlace') });
    subscribe(port, 1, 1);
    publish(port, 1, 3);
    primary.run();
    port.requeue(q, client.take()[0]!.position, true);
    port.grant(1, 9);
    primary.run();
    assert.deepEqual(client.bodies(), ['m2', 'm3', 'm1']);
  });

  test('retryWaits: retries are answered before the commit', () => {
    const { primary, client, port } = setUp({ rules: rulesWithout('retryWaits') });
    primary.commits = false;
    publish(port, 1, 1);
    publish(port, 1, 1);
    primary.run();
    assert.equal(client.confirmedTo, 1);
  });
});
