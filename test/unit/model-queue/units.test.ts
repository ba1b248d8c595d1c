/** What transactions do in a group: units. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Lsn } from '../../../src/log/lsn.js';
import { EnqueueView } from '../../../src/log/record.js';
import type { GroupServicePort } from '../../../src/model/group-port.js';
import type { QueueTraitsSource } from '../../../src/model/group-service/traits-of.js';
import { outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { noTraits, Overflow, type QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { encodeUnit, unitLength, type UnitSettlement } from '../../../src/model/unit.js';
import { publish, q, setUp, subscribe } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

const other: Lsn = 20;

function unit(
  sequence: number,
  bodies: [body: string, ...queues: Lsn[]][],
  settlements: UnitSettlement[] = [],
  durable = false,
): Uint8Array {
  const messages = bodies.map(([body, ...incarnations]) => ({ parts: messageParts(body), incarnations, durable }));
  const bytes = new Uint8Array(unitLength(messages, settlements));
  encodeUnit(bytes, new DataView(bytes.buffer), 0, messages, settlements, 1, sequence);
  return bytes;
}

function transact(port: GroupServicePort, bytes: Uint8Array, wiringVersion = 0): void {
  port.transact(bytes, new DataView(bytes.buffer), 0, wiringVersion);
}

const ack = (position: Lsn, incarnation = q): UnitSettlement => ({ incarnation, position, rejects: false });
const reject = (position: Lsn, incarnation = q): UnitSettlement => ({ incarnation, position, rejects: true });

function bodiesIn({ state }: TestPrimary, queue: Lsn): string[] {
  const { index } = state.queue(queue)!;
  return index.positionsAscending(0, 100_000).map((position) => {
    const entry = index.find(position)!;
    const chunk = state.chunk(entry.chunk);
    const { bytes, bodyStart, bodyLength } = new EnqueueView().set(chunk.bytes!, chunk.view!, entry.offset);
    return new TextDecoder().decode(bytes.subarray(bodyStart, bodyStart + bodyLength));
  });
}

function traitsOf(some: Partial<QueueTraits>): QueueTraitsSource {
  const traits: QueueTraits = { ...noTraits, ...some };
  return { version: 1, wiringVersion: Number.POSITIVE_INFINITY, of: (queue) => (queue === q ? traits : noTraits) };
}

describe('units', () => {
  it('publish and settle in one go, and are confirmed as one publish', () => {
    const { primary, client, port } = setUp();
    primary.openQueue(other);
    publish(port, 1, 3);
    subscribe(port, 1, 10);
    primary.run();
    const [first, second] = client.take();
    transact(
      port,
      unit(
        4,
        [
          ['a', other],
          ['b', q, other],
        ],
        [ack(first!.position), reject(second!.position)],
      ),
    );
    assert.deepEqual(primary.log.units.length, 1);
    primary.run();
    assert.equal(client.confirmedTo, 4);
    assert.deepEqual(bodiesIn(primary, q), ['m3', 'b']);
    assert.deepEqual(bodiesIn(primary, other), ['a', 'b']);
    // The number, two messages, one dequeue.
    assert.deepEqual(primary.log.units, [4]);
  });

  it('are taken once, however often they are sent, and in their order', () => {
    const { primary, client, port } = setUp();
    const bytes = unit(1, [['a', q]]);
    transact(port, bytes);
    transact(port, bytes);
    publish(port, 2, 2);
    transact(port, bytes);
    transact(port, unit(3, []));
    transact(port, unit(4, [['gone', 77]], [ack(1, 77), ack(12345)]));
    primary.run();
    assert.equal(client.confirmedTo, 4);
    assert.deepEqual(bodiesIn(primary, q), ['a', 'm2']);
    assert.deepEqual(primary.broken, []);
    transact(port, unit(6, []));
    assert.match(primary.broken[0]!, /publish number 6 came where 5 was due/);
  });

  it('are found again by the next primary, which has all of them', () => {
    const { primary, client, port } = setUp();
    primary.openQueue(other);
    publish(port, 1, 1);
    subscribe(port, 1, 1);
    primary.run();
    const [held] = client.take();
    const bytes = unit(2, [['out', other]], [ack(held!.position)]);
    transact(port, bytes);
    primary.run();
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2 });
    const again = new TestClient();
    const { position } = held!;
    const nextPort = next.attach(again, 'a', 1, [{ incarnation: q, position, naming: 0 }], 1);
    transact(nextPort, bytes);
    next.run();
    assert.equal(again.confirmedTo, 2);
    assert.deepEqual([bodiesIn(next, q), bodiesIn(next, other)], [[], ['out']]);
  });

  it('settle a message whoever holds it by then', () => {
    const { primary, client, port } = setUp();
    publish(port, 1, 2);
    subscribe(port, 1, 2);
    primary.run();
    const [first, second] = client.take();
    port.requeue(q, second!.position, true);
    port.unsubscribe(1);
    primary.run();
    const stranger = new TestClient();
    const strangers = primary.attach(stranger, 'b', 2);
    subscribe(strangers, 1, 1);
    primary.run();
    assert.equal(stranger.take()[0]!.position, second!.position);
    transact(port, unit(3, [], [ack(first!.position), ack(second!.position)]));
    primary.run();
    assert.deepEqual(bodiesIn(primary, q), []);
    strangers.ack(q, second!.position);
    primary.run();
    assert.equal(stranger.settledCount, 1);
  });

  it('settle a message that nobody holds by then, wherever it stands', () => {
    const { primary, port, client } = setUp();
    publish(port, 1, 5);
    subscribe(port, 1, 4);
    primary.run();
    const held = client.take();
    port.unsubscribe(1);
    for (const { position } of held.slice(0, 3)) port.requeue(q, position, true);
    primary.run();
    transact(port, unit(6, [], [ack(held[1]!.position), ack(held[3]!.position)]));
    primary.run();
    subscribe(port, 2, 10);
    primary.run();
    assert.deepEqual(client.bodies(), ['m1', 'm3', 'm5']);
  });

  it('wait for the wiring that they were routed with, and what comes behind them waits', () => {
    const { primary, client, port } = setUp();
    const version = primary.state.wiringVersion + 1;
    transact(port, unit(1, [['late', other]]), version);
    publish(port, 2, 2);
    primary.run();
    assert.equal(client.confirmedTo, 0);
    const kept: number[] = [];
    primary.service.forEachWaitingPublish('a', (_bytes, view, start) => kept.push(view.getFloat64(start + 24, true)));
    assert.deepEqual(kept, [1, 2]);
    primary.openQueue(other);
    primary.run();
    assert.equal(client.confirmedTo, 2);
    assert.deepEqual([bodiesIn(primary, other), bodiesIn(primary, q)], [['late'], ['m2']]);
  });

  it('bring what they refuse into the outbox, with the rest', () => {
    const deadLettering = { vhost: '/', queue: 'q', exchange: 'graves', routingKey: 'late' };
    const { primary, client, port } = setUp({
      traits: traitsOf({ deadLettering }),
      durable: true,
    });
    publish(port, 1, 2, { durable: true });
    subscribe(port, 1, 2);
    primary.run();
    const [first, second] = client.take();
    transact(port, unit(3, [['new', q]], [reject(first!.position), ack(second!.position)], true));
    primary.run();
    assert.deepEqual(bodiesIn(primary, q), ['new']);
    assert.deepEqual(bodiesIn(primary, outboxIncarnation), ['m1']);
    // Number, message, dequeue; the outbox is opened, and gets the other one, which is dequeued.
    assert.deepEqual(primary.log.units, [6]);
    assert.equal(client.confirmedTo, 3);
  });

  it('are done but for what a full queue refuses, and say so', () => {
    const { primary, client, port } = setUp({ traits: traitsOf({ lengthMax: 2, overflow: Overflow.rejectPublish }) });
    primary.openQueue(other);
    publish(port, 1, 1);
    primary.run();
    transact(
      port,
      unit(2, [
        ['a', q],
        ['b', q, other],
        ['c', other],
      ]),
    );
    primary.run();
    assert.deepEqual(client.refused, [2]);
    assert.equal(client.confirmedTo, 2);
    assert.deepEqual(
      [bodiesIn(primary, q), bodiesIn(primary, other)],
      [
        ['m1', 'a'],
        ['b', 'c'],
      ],
    );
    transact(port, unit(3, [['d', other]]));
    primary.run();
    assert.deepEqual(client.refused, [2]);
  });

  it('do to queues what a plain list would have', () => {
    const step = fc.record({
      publishes: fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 4 }),
      settles: fc.array(fc.nat(20), { maxLength: 4 }),
      rejects: fc.boolean(),
      again: fc.boolean(),
      plain: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { primary, client, port } = setUp();
        const queues: Lsn[] = [q, other, 30];
        for (const queue of queues.slice(1)) primary.openQueue(queue);
        queues.forEach((queue, i) => subscribe(port, i, 1000, { queue }));
        const model = new Map<Lsn, string[]>(queues.map((queue) => [queue, []]));
        let number = 0;
        let step = 0;
        for (const { publishes, settles, rejects, again, plain } of steps) {
          const bodies = publishes.map(([which, both], i): [string, ...Lsn[]] => {
            const into = both ? [queues[which]!, queues[(which + 1) % 3]!] : [queues[which]!];
            for (const queue of into) model.get(queue)!.push(`${step}.${i}`);
            return [`${step}.${i}`, ...into];
          });
          const held = [...new Set(settles.map((at) => client.deliveries[at]))].filter((one) => one !== undefined);
          for (const one of held) {
            client.deliveries.splice(client.deliveries.indexOf(one), 1);
            const list = model.get(one.incarnation)!;
            list.splice(list.indexOf(one.body), 1);
          }
          const settlements = held.map(({ incarnation, position }) => ({ incarnation, position, rejects }));
          if (plain) {
            for (const [body, ...into] of bodies) port.publish(messageParts(body), into, false, ++number, 0);
            for (const { incarnation, position } of settlements) port.ack(incarnation, position);
          } else {
            const bytes = unit(++number, bodies, settlements);
            transact(port, bytes);
            if (again) transact(port, bytes);
          }
          primary.run();
          step++;
        }
        assert.equal(client.confirmedTo, number);
        for (const queue of queues) assert.deepEqual(bodiesIn(primary, queue), model.get(queue));
        assert.deepEqual(primary.broken, []);
      }),
      { numRuns: 60 },
    );
  });
});
