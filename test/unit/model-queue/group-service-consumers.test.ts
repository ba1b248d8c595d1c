import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { publish, q, setUp, subscribe } from './service-support.js';

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
    port.count(7, q, 0, false);
    port.count(8, 99, 0, false);
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
