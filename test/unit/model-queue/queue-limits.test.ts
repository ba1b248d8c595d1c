import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EnqueueView, RecordFlag, RecordKind } from '../../../src/log/record.js';
import { readEnvelope } from '../../../src/model/dead-letter/envelope.js';
import { outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { noTraits, Overflow, type QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { bodies, pass, publish, q, queueWith, setUp, subscribe, Traits, viewAt } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const to = { vhost: '/', queue: 'q', exchange: 'graves', routingKey: 'late' };

describe('a queue with a length in bytes', () => {
  it('gives up its oldest messages when their bodies are more than that', () => {
    const { primary, port } = queueWith({ bytesMax: 7 });
    publish(port, 1, 5, { durable: true });
    primary.run();
    assert.deepEqual(bodies(primary, q), ['m3', 'm4', 'm5']);
    port.publish(messageParts('larger than all'), [q], true, 6, 0);
    primary.run();
    assert.deepEqual(bodies(primary, q), []);
  });

  it('counts again what is given back', () => {
    const { primary, client, port } = queueWith({ bytesMax: 4 });
    subscribe(port, 1, 2);
    publish(port, 1, 4, { durable: true });
    primary.run();
    const [first] = client.take();
    assert.deepEqual(bodies(primary, q), ['m1', 'm2', 'm3', 'm4']);
    port.requeue(q, first!.position, true);
    primary.run();
    assert.deepEqual(bodies(primary, q), ['m2', 'm3', 'm4']);
  });
});

describe('a queue that refuses what is too much', () => {
  it('knows after a restart of all replicas what it has refused, if that is among the dead', () => {
    const traits = { lengthMax: 1, overflow: Overflow.rejectPublishDlx, deadLettering: to };
    const { primary, port } = queueWith(traits);
    publish(port, 1, 2, { durable: true });
    primary.run();
    const { chunk } = primary.log;
    const message = new EnqueueView();
    const durable: boolean[] = [];
    for (let at = 0; at < primary.log.offset; at += message.length) {
      message.set(chunk.bytes!, chunk.view!, at);
      const isPublish = chunk.bytes![at + 4] === RecordKind.enqueue && message.publisherSequence > 0;
      if (isPublish) durable.push((message.flags & RecordFlag.durable) !== 0);
    }
    assert.deepEqual(durable, [true, true]);
  });

  it('gives what an outbox sends again after a failure to its own outbox once', () => {
    const traits = { lengthMax: 1, overflow: Overflow.rejectPublishDlx, deadLettering: to };
    const { primary, port } = queueWith(traits);
    const owed = messageParts('owed');
    owed.origin = { group: 7, position: 3, done: 2 };
    publish(port, 1, 1, { durable: true });
    port.publish(owed, [q], true, 2, 0);
    primary.run();
    assert.deepEqual(bodies(primary, outboxIncarnation), ['owed']);
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2, traits: new Traits([q, traits]) });
    const tie = next.attach(new TestClient(), 'another', 8);
    tie.publish(owed, [q], true, 1, 0);
    next.run();
    assert.deepEqual([bodies(next, q), bodies(next, outboxIncarnation)], [['m1'], ['owed']]);
    owed.origin = { group: 7, position: 4, done: 2 };
    tie.publish(owed, [q], true, 2, 0);
    next.run();
    assert.deepEqual(bodies(next, outboxIncarnation), ['owed', 'owed'], 'another one is another one');
  });

  for (const overflow of [Overflow.rejectPublish, Overflow.rejectPublishDlx]) {
    it(`keeps what it has, and its publishers are told (${overflow})`, () => {
      const { primary, client, port } = queueWith({ lengthMax: 2, overflow, deadLettering: to });
      publish(port, 1, 4, { durable: true });
      assert.deepEqual(client.refused, [3, 4], 'before any of them is committed');
      primary.run();
      assert.deepEqual(bodies(primary, q), ['m1', 'm2']);
      assert.equal(client.confirmedTo, 4);
      const dead = overflow === Overflow.rejectPublishDlx ? ['m3', 'm4'] : [];
      assert.deepEqual(bodies(primary, outboxIncarnation), dead);
      const [position] = primary.state.queue(outboxIncarnation)?.index.positionsAscending(0, 1) ?? [];
      if (position !== undefined)
        assert.equal(readEnvelope(viewAt(primary, outboxIncarnation, position)).exchange, 'graves');
      subscribe(port, 1, 1);
      primary.run();
      publish(port, 5, 6, { durable: true });
      primary.run();
      assert.deepEqual(client.refused, [3, 4, 6]);
      assert.deepEqual(bodies(primary, q), ['m1', 'm2', 'm5']);
    });
  }

  it('counts bytes, too, and does not stand against other queues of the message', () => {
    const other = 11;
    const traits = new Traits([q, { bytesMax: 4, overflow: Overflow.rejectPublish }]);
    const primary = new TestPrimary({ traits });
    primary.log.version = 3;
    primary.openQueue(q, true);
    primary.openQueue(other, true);
    const client = new TestClient();
    const port = primary.attach(client);
    publish(port, 1, 3, { queues: [q, other], durable: true });
    primary.run();
    assert.deepEqual(client.refused, [3]);
    assert.deepEqual(
      [bodies(primary, q), bodies(primary, other)],
      [
        ['m1', 'm2'],
        ['m1', 'm2', 'm3'],
      ],
    );
  });

  it('takes what is passed on with a queue that moves, and all while older nodes cannot be told', () => {
    const { primary, client, port } = queueWith({ lengthMax: 1, overflow: Overflow.rejectPublish });
    const moved = messageParts('moved');
    moved.moved = true;
    publish(port, 1, 1);
    port.publish(moved, [q], false, 2, 0);
    primary.log.version = 2;
    publish(port, 3, 3);
    primary.run();
    assert.deepEqual([client.refused, bodies(primary, q)], [[], ['m1', 'moved', 'm3']]);
  });
});

describe('limits that come and go while messages are on their way', () => {
  const byBytes = (bytesMax: number): Partial<QueueTraits> => ({ bytesMax, overflow: Overflow.rejectPublish });
  const unlimited: Partial<QueueTraits> = {};

  /** Each step: what the policy says then, if it changes; the body's length. Nothing is committed before the last one. */
  function run(...steps: [policy: Partial<QueueTraits> | undefined, body: number][]): ReturnType<typeof setUp> {
    const traits = new Traits();
    const all = setUp({ durable: true, traits });
    all.primary.run();
    all.primary.commits = false;
    for (const [i, [policy, body]] of steps.entries()) {
      if (policy !== undefined) {
        traits.known.set(q, { ...noTraits, ...policy });
        traits.version++;
      }
      all.port.publish(messageParts('x'.repeat(body)), [q], true, i + 1, 0);
      all.primary.run();
    }
    all.primary.commits = true;
    all.primary.run();
    return all;
  }

  /** Publishes one that has just room beside `used` bytes, and then one more, that has not. */
  function fill(
    { primary, port, client }: ReturnType<typeof setUp>,
    next: number,
    bytesMax: number,
    used: number,
  ): void {
    assert.deepEqual(client.refused.splice(0), []);
    port.publish(messageParts('z'.repeat(bytesMax - used)), [q], true, next, 0);
    port.publish(messageParts('z'), [q], true, next + 1, 0);
    primary.run();
    assert.deepEqual(client.refused.splice(0), [next + 1]);
  }

  it('a message that came before the limits takes nothing away from the count of those that came after', () => {
    fill(run([undefined, 10], [byBytes(1000), 900]), 3, 1000, 910);
  });

  it('a message that came while there were no limits is counted off as what it was', () => {
    fill(run([byBytes(1000), 100], [unlimited, 50], [byBytes(1000), 400], [undefined, 5]), 5, 1000, 555);
    fill(run([byBytes(1000), 100], [unlimited, 700], [byBytes(1000), 200]), 4, 1000, 1000);
  });

  it('what a queue that moves brings is counted off as what it was', () => {
    const all = queueWith(byBytes(1000));
    const moved = messageParts('m'.repeat(300));
    moved.moved = true;
    all.primary.commits = false;
    all.port.publish(moved, [q], true, 1, 0);
    all.port.publish(messageParts('x'.repeat(400)), [q], true, 2, 0);
    all.primary.run();
    all.primary.commits = true;
    all.primary.run();
    fill(all, 3, 1000, 700);
  });
});

describe('a queue that nobody uses', () => {
  const expired = (primary: TestPrimary): number => primary.told.filter(({ kind }) => kind === 'expired').length;

  it('is reported when its time is over, and not before its last use', () => {
    const { primary, port } = queueWith({ unusedMs: 2000 });
    pass(primary, 900);
    port.count(1, q, 0, false);
    port.get(2, q, 0, true);
    primary.run();
    pass(primary, 1900);
    subscribe(port, 1, 1);
    primary.run();
    pass(primary, 5000);
    assert.equal(expired(primary), 0, 'it has a consumer');
    port.unsubscribe(1);
    primary.run();
    pass(primary, 1900);
    port.count(3, q, 0, true);
    primary.run();
    pass(primary, 1900);
    assert.equal(expired(primary), 0, 'it was declared again');
    pass(primary, 200);
    assert.equal(expired(primary), 1);
    const use = primary.told.at(-1)!;
    assert.ok(use.holds());
    subscribe(port, 2, 1);
    primary.run();
    assert.ok(!use.holds(), 'it is in use by now');
  });

  it('is looked after by the next primary from its beginning on, and when a policy says so', () => {
    const { primary } = queueWith({});
    primary.service.close();
    const traits = new Traits();
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    pass(next, 5000);
    assert.equal(expired(next), 0);
    traits.known.set(q, { ...traits.of(q), unusedMs: 500 });
    traits.version++;
    next.openQueue(12);
    pass(next, 400);
    assert.equal(expired(next), 0);
    pass(next, 200);
    assert.equal(expired(next), 1);
  });

  it('is looked after when the next primary knows of it, if that is later than it serves', () => {
    const { primary } = queueWith({});
    primary.service.close();
    const traits = new Traits([q, { unusedMs: 500 }]);
    traits.isLate = true;
    traits.version++;
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    pass(next, 5000);
    assert.equal(expired(next), 0);
    traits.isLate = false;
    next.openQueue(12);
    pass(next, 400);
    assert.equal(expired(next), 0);
    pass(next, 200);
    assert.equal(expired(next), 1);
  });
});

describe('a policy', () => {
  it('acts on what is in the queue', () => {
    const { primary, port } = setUp({ traits: new Traits() });
    publish(port, 1, 4);
    primary.run();
    primary.service.close();
    const traits = new Traits();
    const next = new TestPrimary({ previous: primary, epoch: 2, traits });
    next.run();
    assert.deepEqual(bodies(next, q), ['m1', 'm2', 'm3', 'm4']);
    traits.known.set(q, { ...traits.of(q), lengthMax: 1 });
    traits.version++;
    next.openQueue(12);
    next.run();
    assert.deepEqual(bodies(next, q), ['m4']);
  });
});
