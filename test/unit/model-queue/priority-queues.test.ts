import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeOpen } from '../../../src/log/open-record.js';
import type { ReplicaOptions } from '../../../src/log/replica-options.js';
import { readEnvelope } from '../../../src/model/dead-letter/envelope.js';
import { outboxIncarnation } from '../../../src/model/queue/outbox.js';
import { Overflow, type QueueTraits } from '../../../src/model/queue/queue-traits.js';
import { fairShares, priorityLevels } from '../../../src/model/wiring/priority-arguments.js';
import { bodies, pass, q, subscribe, Traits, viewAt } from './service-support.js';
import { messageParts, TestClient, TestPrimary } from './support.js';

interface Message {
  readonly priority: number;
  readonly body: string;
}

function messages(priorities: readonly number[]): Message[] {
  return priorities.map((priority, i) => ({ priority, body: `${priority}:${i}` }));
}

function queueOf(options: ReplicaOptions, traits: Partial<QueueTraits>, previous?: TestPrimary): TestPrimary {
  const primary = new TestPrimary({
    traits: new Traits([q, traits]),
    ...(previous === undefined ? {} : { previous, epoch: 2 }),
  });
  primary.log.version = 3;
  if (previous !== undefined) return primary;
  const lsn = primary.log.appendBytes(encodeOpen(q, 1, options));
  primary.service.advanceWiring(1, lsn);
  primary.run();
  return primary;
}

function send(primary: TestPrimary, all: readonly Message[], from = 1): void {
  const port = primary.attach(new TestClient(), 'publisher', from);
  for (const [i, { priority, body }] of all.entries()) port.publish(messageParts(body, priority), [q], true, i + 1, 0);
  primary.run();
}

/** All of it, in the order in which a consumer gets it. */
function consume(primary: TestPrimary, credit = 1000): string[] {
  const client = new TestClient();
  subscribe(primary.attach(client, 'consumer', 7), 1, credit, { noAck: true });
  primary.run();
  return client.bodies();
}

/** What is to come out of queues of levels, each by arrival, if each level has a share; 0 = no limit. */
function shared(all: readonly Message[], levelOf: (priority: number) => number, shares: readonly number[]): string[] {
  const waiting = shares.map((_, level) => all.filter(({ priority }) => levelOf(priority) === level));
  const out: string[] = [];
  for (let level = shares.length - 1; out.length < all.length; level = (level === 0 ? shares.length : level) - 1) {
    const share = shares[level]! === 0 ? Number.POSITIVE_INFINITY : shares[level]!;
    out.push(...waiting[level]!.splice(0, share).map(({ body }) => body));
  }
  return out;
}

const some = [
  4, 5, 3, 7, 8, 8, 2, 8, 2, 8, 8, 16, 6, 6, 6, 6, 6, 6, 8, 3, 5, 8, 3, 5, 5, 3, 3, 8, 8, 3, 7, 3, 7, 7, 7, 8, 8, 8, 2,
];

describe('priorities with fair shares', () => {
  const table = {
    'qpid.priorities': 8,
    'qpid.fairshare': 5,
    ...Object.fromEntries([0, 4, 3, 2, 2, 2, 2].map((share, i) => [`qpid.fairshare-${7 - i}`, share])),
  };
  const shares = fairShares(table)!;
  const options = { durable: true, ...priorityLevels(table) };
  const levelOf = (priority: number): number => Math.max(0, Math.min(priority - 1, 7));

  it('are those of the arguments', () => {
    assert.deepEqual([shares, options], [[5, 2, 2, 2, 2, 3, 4, 0], { durable: true, priorities: 7, base: 1 }]);
    assert.deepEqual(fairShares({ 'x-max-priority': 2, 'x-fair-share': 9, 'x-fair-share-1': 3 }), [9, 3, 9]);
    assert.equal(fairShares({ 'x-max-priority': 2 }), undefined);
    assert.equal(fairShares({ 'x-max-priority': 2, 'x-fair-share-1': 0 }), undefined, 'no level has a limit');
    for (const [levels, base] of [
      [2, 4],
      [3, 3],
      [10, undefined],
      [256, undefined],
    ] as const)
      assert.equal(priorityLevels({ 'qpid.priorities': levels }).base, base, `${levels} levels`);
  });

  it('S15: go out as levels have shares, and from the beginning on the next primary', () => {
    const all = messages(some);
    const primary = queueOf(options, { fairShares: shares });
    send(primary, all);
    const expected = shared(all, levelOf, shares);
    assert.deepEqual(consume(primary, 10), expected.slice(0, 10));
    const left = all.filter(({ body }) => !expected.slice(0, 10).includes(body));
    primary.service.close();
    const next = queueOf(options, { fairShares: shares }, primary);
    assert.deepEqual(consume(next), shared(left, levelOf, shares));
  });

  it('do what lists would do, whatever the shares and the messages', () => {
    const example = fc.tuple(
      fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }),
      fc.array(fc.nat(6), { maxLength: 60 }),
    );
    fc.assert(
      fc.property(example, ([limits, priorities]) => {
        const all = messages(priorities);
        const primary = queueOf({ durable: true, priorities: 4 }, { fairShares: limits });
        send(primary, all);
        const levels = (priority: number): number => Math.min(priority, 4);
        assert.deepEqual(consume(primary), shared(all, levels, limits));
      }),
      { numRuns: 100 },
    );
  });

  it('count for gets, and what is given back comes in the turn of its level', () => {
    const primary = queueOf({ durable: true, priorities: 1 }, { fairShares: [1, 2] });
    send(primary, messages([0, 0, 1, 1, 1]));
    const client = new TestClient();
    const port = primary.attach(client, 'getter', 9);
    const get = (): string => {
      port.get(1, q, 0, false);
      primary.run();
      return client.deliveries.at(-1)!.body;
    };
    assert.deepEqual([get(), get(), get()], ['1:2', '1:3', '0:0']);
    port.requeue(q, client.deliveries[0]!.position, true);
    assert.deepEqual([get(), get(), get()], ['1:2', '1:4', '0:1']);
  });
});

describe('a queue that an operator has rerouted', () => {
  it('gives all that is ready and was there to the outbox, and is answered when that is safe', () => {
    const to = { vhost: '/', queue: 'q', exchange: 'elsewhere', routingKey: undefined };
    const primary = queueOf({ durable: true, priorities: 9 }, {});
    send(primary, messages([1, 5, 9, 5]));
    const holder = new TestClient();
    subscribe(primary.attach(holder, 'holder', 5), 1, 1);
    primary.run();
    const asker = new TestClient();
    const port = primary.attach(asker, 'asker', 6);
    primary.run();
    primary.commits = false;
    port.purge(3, q, 0, to);
    primary.run();
    assert.deepEqual(asker.events, []);
    primary.commits = true;
    primary.run();
    assert.deepEqual(asker.events, ['purged 3 3']);
    assert.deepEqual(bodies(primary, q), ['9:2'], 'a client holds it');
    assert.deepEqual(bodies(primary, outboxIncarnation), ['5:1', '5:3', '1:0']);
    const [first] = primary.state.queue(outboxIncarnation)!.index.positionsAscending(0, 1);
    assert.equal(readEnvelope(viewAt(primary, outboxIncarnation, first!)).exchange, 'elsewhere');
  });

  it('goes on in slices, and when the outbox has room', () => {
    const to = { vhost: '/', queue: 'q', exchange: '', routingKey: 'other' };
    const primary = queueOf({ durable: true }, {});
    send(primary, messages(Array.from({ length: 10_000 }, () => 0)));
    const asker = new TestClient();
    primary.attach(asker, 'asker', 6).purge(3, q, 0, to);
    for (let i = 0; i < 100 && asker.events.length === 0; i++) pass(primary, 2);
    assert.deepEqual(asker.events, ['purged 3 10000']);
    assert.equal(primary.state.queue(outboxIncarnation)!.index.size, 10_000);
  });
});

describe('a queue that an operator has rerouted while its group is given away', () => {
  const to = { vhost: '/', queue: 'q', exchange: '', routingKey: 'other' };
  const count = 10_000;

  /** It has begun, and all that it has taken out is in the outbox. */
  function begun(): { primary: TestPrimary; asker: TestClient; moved: () => number } {
    const primary = queueOf({ durable: true }, {});
    send(primary, messages(Array.from({ length: count }, () => 0)));
    const asker = new TestClient();
    primary.attach(asker, 'asker', 6).purge(3, q, 0, to);
    for (let i = 0; i < 3; i++) primary.runOnce();
    primary.service.pause();
    for (let i = 0; i < 100 && !primary.service.isDrained; i++) pass(primary, 2);
    assert.ok(primary.service.isDrained, 'it stands against nothing');
    const moved = (): number => primary.state.queue(outboxIncarnation)!.index.size;
    assert.ok(moved() > 0 && moved() < count, `${moved()}`);
    assert.equal(moved() + primary.state.queue(q)!.index.size, count);
    assert.deepEqual(asker.events, []);
    return { primary, asker, moved };
  }

  it('goes on if it stays', () => {
    const { primary, asker, moved } = begun();
    primary.service.resume();
    for (let i = 0; i < 100 && asker.events.length === 0; i++) pass(primary, 2);
    assert.deepEqual([asker.events, moved()], [[`purged 3 ${count}`], count]);
  });

  it('goes on when the next primary is asked again', () => {
    const { primary, moved } = begun();
    const before = moved();
    primary.service.close();
    const next = new TestPrimary({ previous: primary, epoch: 2 });
    const asker = new TestClient();
    next.attach(asker, 'asker', 6).purge(3, q, 0, to);
    for (let i = 0; i < 100 && asker.events.length === 0; i++) pass(next, 2);
    assert.deepEqual([asker.events, moved()], [[`purged 3 ${count - before}`], count]);
  });
});

describe('a ring of priorities', () => {
  const ring = { lengthMax: 5, overflow: Overflow.dropLowest };

  it('S16: keeps the highest, of the same priority the newest', () => {
    const all = messages([8, 9, 5, 1, 2, 2, 3, 4, 9, 7, 8, 9, 9, 2]);
    const primary = queueOf({ durable: true, priorities: 9 }, ring);
    send(primary, all);
    assert.equal(primary.state.queue(q)!.index.size, 5);
    primary.service.close();
    const next = queueOf({ durable: true, priorities: 9 }, ring, primary);
    send(next, messages([1]), 2);
    assert.deepEqual(consume(next), ['9:1', '9:8', '9:11', '9:12', '8:10']);
  });

  it('does not keep a message that is lower than all it has, which is a dead letter', () => {
    const deadLettering = { vhost: '/', queue: 'q', exchange: 'graves', routingKey: 'late' };
    const primary = queueOf({ durable: true, priorities: 9 }, { ...ring, lengthMax: 2, deadLettering });
    send(primary, messages([5, 6, 4, 7]));
    assert.deepEqual(bodies(primary, outboxIncarnation), ['4:2', '5:0']);
    const [first] = primary.state.queue(outboxIncarnation)!.index.positionsAscending(0, 1);
    assert.equal(readEnvelope(viewAt(primary, outboxIncarnation, first!)).exchange, 'graves');
    assert.deepEqual(consume(primary), ['7:3', '6:1']);
  });

  it('counts bytes, too, and takes nothing from who holds it', () => {
    const primary = queueOf({ durable: true, priorities: 9 }, { bytesMax: 9, overflow: Overflow.dropLowest });
    send(primary, messages([1, 2]));
    const holder = new TestClient();
    subscribe(primary.attach(holder, 'holder', 5), 1, 1);
    primary.run();
    assert.deepEqual(holder.bodies(), ['2:1']);
    send(primary, messages([3, 3, 3, 0]), 2);
    assert.deepEqual(bodies(primary, q).sort(), ['2:1', '3:0', '3:1', '3:2']);
  });

  it('of a queue without priorities keeps the newest', () => {
    const primary = queueOf({ durable: true }, { ...ring, lengthMax: 2 });
    send(primary, messages([9, 1, 2]));
    assert.deepEqual(consume(primary), ['1:1', '2:2']);
  });
});
