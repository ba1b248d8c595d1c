import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DeliverTemplate } from '../../../src/amqp091/codec/index.js';
import { Consumer } from '../../../src/amqp091/consumer.js';
import { Credit } from '../../../src/amqp091/credit.js';
import type { Subscription } from '../../../src/model/broker.js';

/** The broker's side of one consumer, with a queue that never ends: delivers while there is credit. */
class Feed {
  readonly consumer: Consumer;
  credit: number;
  /** Messages in the queue. */
  ready: number;
  /** The number of the next message; goes down when one is given back. */
  next = 0;
  /** Numbers that the client has had, in order. */
  readonly had: number[] = [];
  private readonly control: Credit;

  constructor(control: Credit, tag: string, options: { prefetch?: number; noAck?: boolean; ready?: number }) {
    this.control = control;
    this.ready = options.ready ?? 1_000_000;
    this.consumer = new Consumer(control, {
      tag,
      queue: tag,
      noAck: options.noAck ?? false,
      exclusive: false,
      noWait: false,
      prefetch: options.prefetch ?? 0,
      template: new DeliverTemplate(1, tag),
    });
    this.credit = control.add(this.consumer);
    this.consumer.subscription = { grant: (count: number) => void (this.credit += count) } as Subscription;
    this.consumer.started = true;
  }

  /** Delivers up to `count` messages; returns how many the client got. */
  deliver(count: number, overfull = false, cost = 1): number {
    let got = 0;
    for (let i = 0; i < count && this.credit > 0 && this.ready > 0; i++) {
      this.credit -= cost;
      if (!this.control.admit(this.consumer, cost, overfull)) continue;
      this.had.push(this.next++);
      this.ready--;
      got++;
    }
    return got;
  }
}

const limits = { creditWindow: 100, unackedMax: 1000 };
const room = { congested: false, windowMax: 1000 };

describe('Credit', () => {
  it('gives a prefetch, and again what was settled, once a turn', () => {
    const credit = new Credit(limits, room, () => {});
    const feed = new Feed(credit, 'a', { prefetch: 10 });
    assert.equal(feed.deliver(100), 10);
    for (let i = 0; i < 4; i++) feed.consumer.settled();
    assert.equal(feed.credit, 0);
    credit.flush();
    assert.equal(feed.credit, 4);
  });

  it('gives a window, topped up by halves, without prefetch', () => {
    const credit = new Credit(limits, room, () => {});
    const feed = new Feed(credit, 'a', { noAck: true });
    feed.deliver(1000);
    credit.flush();
    assert.equal(feed.credit, 100);
    feed.deliver(49);
    credit.flush();
    assert.equal(feed.credit, 51);
    feed.deliver(1);
    credit.flush();
    assert.equal(feed.credit, 100);
  });

  it('lets a delivery owe credit, which no further one can use', () => {
    const credit = new Credit(limits, room, () => {});
    const feed = new Feed(credit, 'a', { noAck: true });
    assert.equal(feed.deliver(1000, false, 20), 2);
    credit.flush();
    assert.equal(feed.credit, 100);
    assert.equal(feed.deliver(1000, false, 5000), 1);
    assert.equal(feed.credit, -4900);
    credit.flush();
    assert.equal(feed.credit, 100);
  });

  it('gives a smaller window of big messages', () => {
    const credit = new Credit(limits, { congested: false, windowMax: 3 }, () => {});
    assert.equal(new Feed(credit, 'a', { noAck: true }).credit, 3);
    assert.equal(new Feed(credit, 'b', { prefetch: 10 }).credit, 3);
    assert.equal(new Feed(new Credit(limits, { congested: false, windowMax: 0 }, () => {}), 'c', {}).credit, 1);
  });

  it('gives nothing while the client does not read, and goes on when it does', () => {
    const slow = { congested: true, windowMax: 1000 };
    const credit = new Credit(limits, slow, () => {});
    const feed = new Feed(credit, 'a', { prefetch: 10 });
    assert.equal(feed.credit, 0);
    slow.congested = false;
    credit.resume();
    credit.flush();
    assert.equal(feed.credit, 10);
  });

  it('stops at the bound of what a client may hold, and goes on below it', () => {
    const credit = new Credit({ creditWindow: 100, unackedMax: 250 }, room, () => {});
    const feed = new Feed(credit, 'a', {});
    let got = 0;
    for (let i = 0; i < 20; i++) {
      got += feed.deliver(1000);
      credit.flush();
    }
    assert.equal(got, 250);
    for (let i = 0; i < 200; i++) feed.consumer.settled();
    credit.flush();
    assert.ok(feed.deliver(1000) > 0);
  });

  it('takes back everything once one delivery had to go back, so that the order stays', () => {
    const credit = new Credit(limits, room, () => {});
    const feed = new Feed(credit, 'a', { prefetch: 10 });
    assert.equal(feed.deliver(3), 3);
    assert.equal(feed.deliver(2, true), 0);
    assert.equal(feed.deliver(4), 0, 'there is room again, but the first to go back must come first');
    credit.flush();
    assert.equal(feed.credit, 1);
    assert.equal(feed.deliver(1), 0);
    credit.flush();
    assert.equal(feed.credit, 7);
    assert.equal(feed.deliver(100), 7);
  });

  it('keeps every limit, whatever happens, and every consumer with messages goes on', () => {
    const step = fc.record({
      act: fc.constantFrom('deliver', 'deliver', 'settle', 'flush', 'flush', 'limit', 'overfull', 'congest', 'flow'),
      consumer: fc.nat(),
      count: fc.integer({ min: 1, max: 30 }),
    });
    const consumers = fc.array(
      fc.record({ prefetch: fc.integer({ min: 0, max: 20 }), ready: fc.constantFrom(0, 1_000_000) }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(consumers, fc.array(step, { maxLength: 200 }), (options, steps) => {
        const slow = { congested: false, windowMax: 1000 };
        const credit = new Credit(limits, slow, () => {});
        const feeds = options.map((option, i) => new Feed(credit, `${i}`, option));
        const check = (limitBefore: number): void => {
          if (limitBefore > 0) assert.ok(credit.unacked <= limitBefore);
          for (const { consumer, credit: given } of feeds) {
            assert.equal(consumer.credit, given, 'both sides count alike');
            if (consumer.prefetch > 0) assert.ok(given + consumer.unacked <= consumer.prefetch);
          }
        };
        for (const { act, consumer: pick, count } of steps) {
          const feed = feeds[pick % feeds.length]!;
          const before = credit.unacked;
          if (act === 'deliver') feed.deliver(count);
          else if (act === 'overfull') feed.deliver(count, true);
          else if (act === 'settle')
            for (let i = 0; i < count && feed.consumer.unacked > 0; i++) feed.consumer.settled();
          else if (act === 'flush') credit.flush();
          else if (act === 'congest') slow.congested = !slow.congested;
          else if (act === 'flow') credit.flowing = !credit.flowing;
          else credit.limit = count % 7;
          check(Math.max(credit.limit, credit.limit > 0 ? before : 0));
        }
        // A quiet end: the client reads and settles all.
        slow.congested = false;
        credit.flowing = true;
        const had = feeds.map((feed) => feed.had.length);
        for (let i = 0; i < 200; i++) {
          for (const feed of feeds) {
            feed.deliver(5);
            while (feed.consumer.unacked > 0) feed.consumer.settled();
          }
          credit.resume();
          credit.flush();
        }
        for (const [i, feed] of feeds.entries()) {
          if (feed.ready > 0) assert.ok(feed.had.length > had[i]!, `consumer ${i} starves`);
          assert.deepEqual(feed.had, [...feed.had.keys()], 'in order');
        }
      }),
    );
  });
});
