import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RecordKind } from '../../../src/log/record.js';
import { heldBy, publish, q, setUp, subscribe } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

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

  test('is not confirmed without the lease; how many are in sync is told with it (rules 11, 21)', () => {
    const { primary, client, port } = setUp();
    primary.log.lease = false;
    publish(port, 1, 1);
    primary.run();
    assert.equal(client.confirmedTo, 0);
    primary.log.lease = true;
    primary.service.inSync = 3;
    primary.service.touch();
    primary.run();
    assert.deepEqual([client.confirmedTo, client.inSync], [1, 3]);
    // That there are fewer is told without the lease, too; that there are more is not.
    primary.log.lease = false;
    primary.service.inSync = 1;
    primary.service.touch();
    primary.run();
    assert.deepEqual([client.confirmedTo, client.inSync], [1, 1]);
    primary.service.inSync = 2;
    primary.service.touch();
    primary.run();
    assert.equal(client.inSync, 1);
    primary.log.lease = true;
    primary.service.touch();
    primary.run();
    assert.equal(client.inSync, 2);
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

  test('nothing to a node while the way there is full; others go on', () => {
    const { primary, client, port } = setUp();
    const other = new TestClient();
    const there = primary.attach(other, 'b', 2);
    subscribe(port, 1, 100);
    subscribe(there, 2, 1);
    client.congested = true;
    publish(port, 1, 3);
    primary.run();
    assert.deepEqual(
      other.take().map(({ body }) => body),
      ['m1'],
    );
    assert.deepEqual(client.take(), []);
    port.grant(1, 5);
    primary.run();
    assert.deepEqual(client.take(), []);
    client.congested = false;
    primary.service.drained('a');
    primary.run();
    assert.deepEqual(
      client.take().map(({ body }) => body),
      ['m2', 'm3'],
    );
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
