import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldBy, publish, q, queueWith, setUp, subscribe, Traits } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

/** Who has got how many. */
function shares(client: TestClient): [subscriber: number, count: number][] {
  const counts = new Map<number, number>();
  for (const { subscriber } of client.take()) counts.set(subscriber, (counts.get(subscriber) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

describe('consumers with priorities', () => {
  it('are served in turns, those with more as long as they have credit', () => {
    const { primary, client, port } = setUp();
    subscribe(port, 1, 10);
    subscribe(port, 2, 3, { priority: 5 });
    subscribe(port, 3, 3, { priority: 5 });
    subscribe(port, 4, 10, { priority: -1 });
    publish(port, 1, 6);
    primary.run();
    assert.deepEqual(shares(client), [
      [2, 3],
      [3, 3],
    ]);
    publish(port, 7, 8);
    primary.run();
    assert.deepEqual(shares(client), [[1, 2]]);
    port.grant(2, 1);
    publish(port, 9, 18);
    primary.run();
    assert.deepEqual(shares(client), [
      [1, 8],
      [2, 1],
      [4, 1],
    ]);
  });

  it('that are closed while they wait are passed over', () => {
    const { primary, client, port } = setUp();
    for (let subscriber = 1; subscriber <= 9; subscriber++)
      subscribe(port, subscriber, 5, { priority: subscriber % 3 });
    for (const subscriber of [2, 5, 8, 1, 4]) port.unsubscribe(subscriber);
    primary.run();
    publish(port, 1, 10);
    primary.run();
    // 7 and those with 0; of those with 1 only 7 is left.
    assert.deepEqual(shares(client), [
      [3, 2],
      [6, 2],
      [7, 5],
      [9, 1],
    ]);
  });
});

describe('a queue with one active consumer', () => {
  it('gives its messages to the first, and to the next when that is gone, in order', () => {
    const { primary, client, port } = queueWith({ singleActive: true });
    for (const subscriber of [1, 2, 3]) subscribe(port, subscriber, 10);
    publish(port, 1, 3);
    primary.run();
    assert.deepEqual(
      client.take().map(({ subscriber, body }) => [subscriber, body]),
      [
        [1, 'm1'],
        [1, 'm2'],
        [1, 'm3'],
      ],
    );
    port.unsubscribe(2);
    port.unsubscribe(1);
    publish(port, 4, 5);
    primary.run();
    assert.deepEqual(shares(client), [[3, 2]]);
  });

  it('lets messages wait while it has no credit', () => {
    const { primary, client, port } = queueWith({ singleActive: true });
    subscribe(port, 1, 1);
    subscribe(port, 2, 10);
    publish(port, 1, 3);
    primary.run();
    assert.deepEqual(shares(client), [[1, 1]]);
    port.grant(1, 1);
    primary.run();
    assert.deepEqual(shares(client), [[1, 1]]);
  });

  it('takes no exclusive consumer', () => {
    const { primary, client, port } = queueWith({ singleActive: true });
    subscribe(port, 1, 1, { exclusive: true });
    primary.run();
    assert.deepEqual(client.events, ['subscribed 1 access-refused: in exclusive use']);
  });

  it('goes on with the same one on the next primary, however late that comes', () => {
    const { primary, client, port } = queueWith({ singleActive: true });
    subscribe(port, 1, 1);
    publish(port, 1, 4, { durable: true });
    primary.run();
    primary.service.close();
    const traits = new Traits([q, { singleActive: true }]);
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    const again = new TestClient();
    const tie = next.attach(again, 'a', 1, heldBy(client));
    subscribe(tie, 5, 0);
    subscribe(tie, 1, 10, { wasActive: true });
    tie.grant(5, 10);
    next.run();
    assert.deepEqual(shares(again), [[1, 3]]);
  });
});

describe('a queue with priorities', () => {
  it('gives out the highest first, and what is given back before what came later', () => {
    const primary = new TestPrimary();
    primary.openQueue(q, true, 5);
    const client = new TestClient();
    const port = primary.attach(client);
    for (const [i, priority] of [0, 3, 9, 5, 3].entries())
      port.publish(messageParts(`m${i}p${priority}`, priority), [q], true, i + 1, 0);
    primary.run();
    subscribe(port, 1, 2);
    primary.run();
    const taken = client.take();
    assert.deepEqual(
      taken.map(({ body }) => body),
      ['m2p9', 'm3p5'],
    );
    port.requeue(q, taken[1]!.position, true);
    port.grant(1, 9);
    primary.run();
    assert.deepEqual(client.bodies(), ['m3p5', 'm1p3', 'm4p3', 'm0p0']);
  });

  it('is purged whole', () => {
    const primary = new TestPrimary();
    primary.openQueue(q, true, 5);
    const client = new TestClient();
    const port = primary.attach(client);
    for (let i = 1; i <= 6; i++) port.publish(messageParts(`m${i}`, 6 - i), [q], true, i, 0);
    primary.run();
    port.purge(1, q, 0);
    primary.run();
    assert.deepEqual(client.events, ['purged 1 6']);
  });
});
