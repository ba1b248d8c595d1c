import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rulesWithout } from '../../../src/base/rules.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { immediately, type MessageParts } from '../../../src/log/record.js';
import { EnvelopeKind, readEnvelope } from '../../../src/model/dead-letter/envelope.js';
import { markerFormat } from '../../../src/model/group-service/marker-format.js';
import { outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { noTraits } from '../../../src/model/queue/queue-traits.js';
import { bodies, pass, publish, q, queueWith, setUp, subscribe, Traits, viewAt } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const to = { vhost: '/', queue: 'q', exchange: 'graves', routingKey: 'late' };

function expiring(body: string, expiresAt: number): MessageParts {
  const parts = messageParts(body);
  parts.expiresAt = expiresAt;
  return parts;
}

describe('messages that expire', () => {
  it('go when they were in their queue for its time, consumers or not', () => {
    const { primary, client, port } = queueWith({ ttlMs: 100 });
    publish(port, 1, 3, { durable: true });
    primary.run();
    pass(primary, 60);
    assert.deepEqual(bodies(primary, q), ['m1', 'm2', 'm3']);
    pass(primary, 90);
    assert.deepEqual(bodies(primary, q), []);
    subscribe(port, 1, 10);
    primary.run();
    assert.deepEqual(client.bodies(), []);
  });

  it('go by their own time if that is shorter, and only from the front', () => {
    const { primary, client, port } = queueWith({ ttlMs: 10_000 });
    port.publish(messageParts('stays'), [q], true, 1, 0);
    port.publish(expiring('short', 1100), [q], true, 2, 0);
    primary.run();
    pass(primary, 500);
    assert.deepEqual(bodies(primary, q), ['stays', 'short']);
    subscribe(port, 1, 1);
    primary.run();
    assert.deepEqual(client.bodies(), ['stays']);
    assert.deepEqual(bodies(primary, q), ['stays']);
  });

  it('are for whoever waits for them, if their time is none', () => {
    const { primary, client, port } = queueWith({ ttlMs: 0 });
    publish(port, 1, 1);
    primary.run();
    assert.deepEqual(bodies(primary, q), []);
    subscribe(port, 1, 10);
    primary.run();
    publish(port, 2, 2);
    port.publish(expiring('own', immediately), [q], false, 3, 0);
    primary.run();
    assert.deepEqual(client.bodies(), ['m2', 'own']);
  });

  it('have the time of each of their queues, and one number', () => {
    const other = 11;
    const traits = new Traits([q, { ttlMs: 100 }], [other, { ttlMs: 1000 }]);
    const primary = new TestPrimary({ traits });
    primary.clock.advance(1000);
    for (const queue of [q, other, 12]) primary.openQueue(queue, true);
    const client = new TestClient();
    const port = primary.attach(client);
    publish(port, 1, 1, { queues: [q, other, 12], durable: true });
    primary.run();
    assert.equal(client.confirmedTo, 1);
    publish(port, 2, 2, { queues: [12] });
    primary.run();
    assert.equal(client.confirmedTo, 2);
    pass(primary, 200);
    assert.deepEqual(
      [q, other, 12].map((queue) => bodies(primary, queue)),
      [[], ['m1'], ['m1', 'm2']],
    );
    pass(primary, 1000);
    assert.deepEqual(bodies(primary, other), []);
  });

  it('are known to the next primary', () => {
    const traits = new Traits([q, { ttlMs: 100 }]);
    const { primary, port } = queueWith({ ttlMs: 100 });
    publish(port, 1, 2, { durable: true });
    primary.run();
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    next.clock.advance(1050);
    next.run();
    assert.deepEqual(bodies(next, q), ['m1', 'm2']);
    pass(next, 100);
    assert.deepEqual(bodies(next, q), []);
  });

  it('wait outside while the next primary does not know the queue yet: they would stay for ever', () => {
    const { primary } = queueWith({ ttlMs: 100 });
    primary.service.close();
    const traits = new Traits();
    traits.wiringVersion = 0;
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    const port = next.attach(new TestClient());
    port.publish(messageParts('m1'), [q], true, 1, 1);
    next.run();
    assert.deepEqual(bodies(next, q), []);
    traits.version++;
    traits.known.set(q, { ...noTraits, ttlMs: 100 });
    next.service.advanceWiring(1, 0);
    next.run();
    assert.deepEqual(bodies(next, q), ['m1']);
    pass(next, 200);
    assert.deepEqual(bodies(next, q), []);
  });
});

describe('a queue with a length', () => {
  it('gives up its oldest messages, but none that somebody holds', () => {
    const { primary, client, port } = queueWith({ lengthMax: 2 });
    subscribe(port, 1, 1);
    publish(port, 1, 6);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1']);
    assert.deepEqual(bodies(primary, q), ['m1', 'm5', 'm6']);
  });

  it('of none hands out what it gets, and keeps nothing', () => {
    const { primary, client, port } = queueWith({ lengthMax: 0 });
    subscribe(port, 1, 1, { noAck: true });
    publish(port, 1, 3);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1']);
    assert.deepEqual(bodies(primary, q), []);
  });
});

describe('dead letters', () => {
  it('go into the outbox in the very batch that takes them out of their queue', () => {
    const { primary, client, port } = queueWith({ deadLettering: to });
    publish(port, 1, 2, { durable: true });
    subscribe(port, 1, 10);
    primary.run();
    const [first, second] = client.take();
    port.reject(q, first!.position);
    primary.run();
    assert.deepEqual([bodies(primary, q), bodies(primary, outboxIncarnation)], [['m2'], ['m1']]);
    assert.equal(client.settledCount, 1);
    const [position] = primary.state.queue(outboxIncarnation)!.index.positionsAscending(0, 1);
    assert.deepEqual(readEnvelope(viewAt(primary, outboxIncarnation, position!)), {
      kind: EnvelopeKind.dead,
      vhost: '/',
      exchange: 'graves',
      routingKey: 'late',
    });
    primary.commits = false;
    port.reject(q, second!.position);
    primary.run();
    // Nothing of it is committed: who leads next knows nothing of it.
    primary.log.cut();
    primary.service.close();
    assert.deepEqual([bodies(primary, q), bodies(primary, outboxIncarnation)], [['m2'], ['m1']]);
  });

  it('are what expires and what is too much, in the order in which it went', () => {
    const { primary, port } = queueWith({ deadLettering: to, lengthMax: 3, ttlMs: 100 });
    publish(port, 1, 5, { durable: true });
    primary.run();
    assert.deepEqual(bodies(primary, outboxIncarnation), ['m1', 'm2']);
    pass(primary, 200);
    assert.deepEqual(bodies(primary, outboxIncarnation), ['m1', 'm2', 'm3', 'm4', 'm5']);
    assert.deepEqual(bodies(primary, q), []);
  });

  it('wait in their queue while the outbox is behind, and are all there in the end', () => {
    const { primary, port } = queueWith({ deadLettering: to, ttlMs: 100 });
    const count = 10_000;
    publish(port, 1, count, { durable: true });
    primary.run();
    primary.clock.advance(200);
    let most = 0;
    for (let more = true; more; ) {
      more = [primary.runOnce(), primary.commit()].includes(true);
      const { index } = primary.state.queue(q)!;
      most = Math.max(most, index.size - index.ready);
    }
    assert.ok(most < count / 2, `${most} at once`);
    assert.deepEqual([bodies(primary, q).length, primary.state.queue(outboxIncarnation)!.index.size], [0, count]);
  });

  it("take no node's word along that comes while their queue moves", () => {
    const { primary, client, port } = queueWith({ deadLettering: to, ttlMs: 100, lengthMax: 1 });
    const marker = messageParts('');
    marker.format = markerFormat;
    port.publish(marker, [q], false, 1, 0);
    primary.run();
    pass(primary, 1000);
    assert.equal(primary.state.queue(q)!.index.size, 1);
    publish(port, 2, 3, { durable: true });
    primary.run();
    assert.deepEqual([bodies(primary, q), bodies(primary, outboxIncarnation)], [['m3'], ['m2']]);
    assert.equal(client.confirmedTo, 3);
  });

  it('stay as long as some node could not read them; but what is rejected is gone', () => {
    const { primary, client, port } = queueWith({ deadLettering: to, ttlMs: 100, lengthMax: 1 });
    primary.log.version = 2;
    publish(port, 1, 2);
    primary.run();
    pass(primary, 1000);
    assert.deepEqual(bodies(primary, q), ['m1', 'm2']);
    subscribe(port, 1, 10);
    primary.run();
    for (const { position } of client.take()) port.reject(q, position);
    primary.run();
    assert.deepEqual(bodies(primary, q), []);
    assert.equal(primary.state.queue(outboxIncarnation), undefined);
  });
});

describe('what another outbox sends again (rule 16)', () => {
  const fromOutbox = (position: Lsn, done: Lsn): MessageParts => {
    const parts = messageParts(`o${position}`);
    parts.origin = { group: 7, position, done };
    return parts;
  };

  it('is taken once, in whatever order it comes, by the next primary as well; its number counts', () => {
    const { primary, client, port } = setUp({ durable: true });
    [5, 3, 5].forEach((position, i) => port.publish(fromOutbox(position, 3), [q], true, i + 1, 0));
    primary.run();
    assert.deepEqual(bodies(primary, q), ['o5', 'o3']);
    assert.equal(client.confirmedTo, 3);
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2 });
    const port2 = next.attach(new TestClient(), 'b', 2);
    [3, 5, 6, 2].forEach((position, i) => port2.publish(fromOutbox(position, 4), [q], true, i + 1, 0));
    next.run();
    assert.deepEqual(bodies(next, q), ['o5', 'o3', 'o6']);
  });

  it('would come twice without the rule', () => {
    const { primary, port } = setUp({ durable: true, rules: rulesWithout('outboxOnce') });
    [5, 5].forEach((position, i) => port.publish(fromOutbox(position, 3), [q], true, i + 1, 0));
    primary.run();
    assert.deepEqual(bodies(primary, q), ['o5', 'o5']);
  });
});
