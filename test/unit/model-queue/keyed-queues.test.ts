import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { GroupServicePort } from '../../../src/model/group-port.js';
import type { HeaderCodec } from '../../../src/model/dead-letter/death.js';
import { bodies, heldBy, q, queueWith, subscribe, Traits } from './service-support.js';
import { jsonHeaders, partsWith, TestClient, TestPrimary } from './support.js';

let sequences = new WeakMap<GroupServicePort, number>();

/** Publishes messages `<key><number>`. */
function send(port: GroupServicePort, ...names: string[]): void {
  for (const name of names) {
    const sequence = (sequences.get(port) ?? 0) + 1;
    sequences.set(port, sequence);
    const parts = partsWith(name, name.startsWith('-') ? {} : { key: name[0]! });
    port.publish(parts, [q], true, sequence, 0);
  }
}

function who(client: TestClient): string[] {
  return client.deliveries.map(({ subscriber, body }) => `${subscriber}:${body}`);
}

describe('a queue of last values', () => {
  const lastValues = (): ReturnType<typeof queueWith> => queueWith({ lastValueKey: 'key' }, { headers: jsonHeaders });

  it('has the newest message of each key, in the order in which they came', () => {
    const { primary, port } = lastValues();
    send(port, 'a1', 'b1', 'a2', '-x', 'c1', 'a3', 'b2', '-y');
    primary.run();
    assert.deepEqual(bodies(primary, q), ['-x', 'c1', 'a3', 'b2', '-y']);
  });

  it('leaves clients what they hold, and drops it when it comes back', () => {
    const { primary, client, port } = lastValues();
    send(port, 'a1', 'b1');
    subscribe(port, 1, 2);
    primary.run();
    const [a, b] = client.take();
    send(port, 'a2');
    primary.run();
    assert.deepEqual(bodies(primary, q), ['a1', 'b1', 'a2']);
    port.requeue(q, a!.position, true);
    port.requeue(q, b!.position, true);
    primary.run();
    assert.deepEqual(bodies(primary, q), ['b1', 'a2']);
    port.grant(1, 1);
    primary.run();
    port.ack(q, client.take()[0]!.position);
    send(port, 'b2');
    primary.run();
    assert.deepEqual(bodies(primary, q), ['a2', 'b2']);
  });

  it('is so on the next primary, for what it finds', () => {
    const { primary, port } = lastValues();
    send(port, 'a1', 'b1', 'c1');
    primary.run();
    primary.service.close();
    const traits = new Traits([q, { lastValueKey: 'key' }]);
    const next = new TestPrimary({ previous: primary, epoch: 2, traits, headers: jsonHeaders });
    const tie = next.attach(new TestClient(), 'b', 2);
    next.run();
    send(tie, 'c2', 'a2');
    next.run();
    assert.deepEqual(bodies(next, q), ['b1', 'c2', 'a2']);
  });
});

describe('a queue with message groups', () => {
  const grouped = (): ReturnType<typeof queueWith> => {
    const traits = new Traits([q, { groupKey: 'key' }], [11, { groupKey: 'key' }]);
    return queueWith({}, { headers: jsonHeaders, traits });
  };

  it('gives messages of a group to one client at a time, in order', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 1);
    subscribe(port, 2, 10);
    send(port, 'a1', 'a2', 'b1', 'a3', '-x', 'b2');
    primary.run();
    assert.deepEqual(who(client), ['1:a1', '2:b1', '2:-x', '2:b2']);
    const [a1, b1] = client.take();
    port.ack(q, a1!.position);
    primary.run();
    // Consumer 1 has no credit any more: the group is free for the other one.
    assert.deepEqual(who(client), ['2:a2', '2:a3']);
    port.requeue(q, b1!.position, true);
    port.grant(1, 5);
    primary.run();
    assert.deepEqual(who(client).slice(2), ['2:b1'], 'b2 is still held by consumer 2');
  });

  it('goes on with a consumer that gets credit again, before anybody else', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 1);
    send(port, 'a1', 'a2', 'a3');
    primary.run();
    subscribe(port, 2, 10);
    primary.run();
    assert.deepEqual(who(client), ['1:a1']);
    port.count(7, q, 0, false);
    primary.run();
    assert.equal(client.events.at(-1), 'counted 7 2 1 2');
    port.grant(1, 1);
    primary.run();
    assert.deepEqual(who(client), ['1:a1', '1:a2']);
  });

  for (const credit of [1, 3]) {
    it(`costs the same however many wait behind what is handed out (${credit} at a time)`, () => {
      let decoded = 0;
      const headers: HeaderCodec = {
        ...jsonHeaders,
        table: (message) => {
          decoded++;
          return jsonHeaders.table(message);
        },
      };
      const { primary, client, port } = queueWith({ groupKey: 'key' }, { headers });
      const count = 600;
      const names = Array.from({ length: count }, (_, i) => `a${1000 + i}`);
      send(port, ...names);
      for (const subscriber of [1, 2]) subscribe(port, subscriber, credit);
      primary.run();
      const seen: string[] = [];
      while (seen.length < count) {
        const deliveries = client.take();
        assert.ok(deliveries.length > 0, `nothing comes after ${seen.length}`);
        for (const { subscriber, body, position } of deliveries) {
          seen.push(body);
          port.ack(q, position);
          port.grant(subscriber, 1);
          primary.run();
        }
      }
      assert.deepEqual(seen, names);
      assert.ok(decoded < count * 8, `${decoded} looks at ${count} messages`);
    });
  }

  it('goes out by priority in a group, too', () => {
    const { primary, client, port } = grouped();
    primary.openQueue(11, true, 5);
    const [low, high] = [partsWith('low', { key: 'a' }), partsWith('high', { key: 'a' })];
    high.priority = 4;
    for (const subscriber of [1, 2]) subscribe(port, subscriber, 1, { queue: 11 });
    for (const [i, parts] of [low, low, high, low, high].entries()) {
      port.publish(parts, [11], true, i + 1, 0);
      primary.run();
    }
    const seen: string[] = [];
    for (let round = 0; round < 5; round++) {
      const [delivery, ...others] = client.take();
      assert.deepEqual(others, []);
      seen.push(delivery!.body);
      port.ack(11, delivery!.position);
      port.grant(delivery!.subscriber, 1);
      primary.run();
    }
    assert.deepEqual(seen, ['low', 'high', 'high', 'low', 'low']);
  });

  it('knows on the next primary to which groups belongs what clients hold', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 1);
    send(port, 'a1', 'a2', 'b1');
    primary.run();
    const held = heldBy(client);
    primary.service.close();
    const traits = new Traits([q, { groupKey: 'key' }]);
    const next = new TestPrimary({ previous: primary, epoch: 2, traits, headers: jsonHeaders });
    const again = new TestClient();
    const tie = next.attach(again, 'a', 1, held);
    subscribe(tie, 2, 10);
    next.run();
    assert.deepEqual(who(again), ['2:b1']);
    tie.ack(q, held[0]!.position);
    next.run();
    assert.deepEqual(who(again), ['2:b1', '2:a2']);
  });

  it('is purged of what waits for its group, too', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 1);
    send(port, 'a1', 'a2', 'a3', 'b1');
    primary.run();
    subscribe(port, 2, 1);
    primary.run();
    assert.deepEqual(who(client), ['1:a1', '2:b1']);
    port.purge(5, q, 0);
    primary.run();
    assert.deepEqual(bodies(primary, q), ['a1', 'b1']);
    assert.equal(client.events.at(-1), 'purged 5 2');
  });

  it('drops what was replaced while it waited, if it keeps the newest of each key', () => {
    const { primary, client, port } = queueWith({ groupKey: 'key', lastValueKey: 'key' }, { headers: jsonHeaders });
    subscribe(port, 1, 1);
    subscribe(port, 2, 1);
    send(port, 'a1');
    primary.run();
    send(port, 'a2');
    primary.run();
    send(port, 'a3');
    primary.run();
    port.ack(q, client.take()[0]!.position);
    primary.run();
    assert.deepEqual(bodies(primary, q), ['a3']);
    assert.deepEqual(who(client), ['2:a3']);
  });

  it('goes on with a consumer when the way to its node has room again', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 10);
    send(port, 'a1');
    primary.run();
    client.congested = true;
    send(port, 'a2', 'a3');
    primary.run();
    assert.deepEqual(who(client), ['1:a1']);
    client.congested = false;
    primary.service.drained('a');
    primary.run();
    assert.deepEqual(who(client), ['1:a1', '1:a2', '1:a3']);
  });

  it('keeps a group in order, and with its consumer, while others get messages', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 2);
    send(port, 'a1');
    primary.run();
    assert.deepEqual(who(client), ['1:a1']);
    send(port, 'a2', 'b1', 'a3');
    port.get(1, q, 0, false);
    primary.run();
    assert.deepEqual(who(client), ['1:a1', '1:a2', '0:b1']);
    port.get(2, q, 0, false);
    primary.run();
    assert.equal(client.events.at(-1), 'gotNothing 2');
    // It waits for its group, and so does what comes after it.
    send(port, 'a4');
    port.grant(1, 5);
    primary.run();
    assert.deepEqual(who(client).slice(3), ['1:a3', '1:a4']);
  });

  it('does not wait for what was settled before it is known to which group it belongs', () => {
    for (const isReturned of [false, true]) {
      const { primary, client, port } = grouped();
      subscribe(port, 1, 1);
      send(port, 'a1', 'a2');
      primary.run();
      const held = heldBy(client);
      primary.service.close();
      const traits = new Traits([q, { groupKey: 'key' }]);
      const next = new TestPrimary({ previous: primary, epoch: 2, traits, headers: jsonHeaders });
      const again = new TestClient();
      const tie = next.attach(again, 'a', 1, held);
      if (isReturned) tie.requeue(q, held[0]!.position, true);
      else tie.ack(q, held[0]!.position);
      subscribe(tie, 2, 10);
      next.run();
      assert.deepEqual(who(again), isReturned ? ['2:a1', '2:a2'] : ['2:a2']);
    }
  });

  it('does not wait for what its node names again and has settled before', () => {
    const { primary, client, port } = grouped();
    subscribe(port, 1, 1);
    send(port, 'a1', 'a2');
    primary.run();
    const held = heldBy(client);
    primary.commits = false;
    port.ack(q, held[0]!.position);
    primary.run();
    const again = new TestClient();
    const tie = primary.attach(again, 'a', 1, held);
    tie.ack(q, held[0]!.position);
    subscribe(tie, 2, 10);
    primary.run();
    primary.commits = true;
    primary.commit();
    primary.run();
    assert.deepEqual(who(again), ['2:a2']);
  });

  it('whatever clients do: never two at a time, in order, and in the end everything', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('send' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ kind: fc.constantFrom('ack' as const, 'requeue' as const), which: fc.nat(20) }),
      fc.record({
        kind: fc.constant('grant' as const),
        which: fc.constantFrom(1, 2, 3),
        count: fc.integer({ min: 1, max: 4 }),
      }),
      fc.record({ kind: fc.constant('get' as const) }),
      fc.record({ kind: fc.constant('purge' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        sequences = new WeakMap();
        const { primary, client, port } = grouped();
        for (const subscriber of [1, 2, 3]) subscribe(port, subscriber, 1);
        const held: { body: string; position: number; subscriber: number }[] = [];
        const sent = new Set<string>();
        const done: string[] = [];
        const newest = new Map<string, string>();
        let number = 100;
        const look = (): void => {
          primary.run();
          for (const { body, position, subscriber, redelivered } of client.take()) {
            const others = held.filter((one) => one.body[0] === body[0]);
            for (const one of others) assert.equal(one.subscriber, subscriber, `${body} and ${one.body} are with two`);
            if (!redelivered) {
              assert.ok(body > (newest.get(body[0]!) ?? ''), `${body} comes late`);
              newest.set(body[0]!, body);
            }
            held.push({ body, position, subscriber });
          }
        };
        const settle = (which: number, kind: 'ack' | 'requeue'): void => {
          const [message] = held.splice(which % (held.length || 1), 1);
          if (message === undefined) return;
          if (kind === 'ack') {
            port.ack(q, message.position);
            done.push(message.body);
          } else port.requeue(q, message.position, true);
        };
        for (const one of steps) {
          if (one.kind === 'send') {
            sent.add(`${one.key}${++number}`);
            send(port, `${one.key}${number}`);
          } else if (one.kind === 'grant') port.grant(one.which, one.count);
          else if (one.kind === 'get') port.get(++number, q, 0, false);
          else if (one.kind === 'purge') {
            port.purge(++number, q, 0);
            primary.run();
            const left = bodies(primary, q);
            for (const body of sent) if (!left.includes(body)) sent.delete(body);
            for (const body of done.splice(0)) if (left.includes(body)) done.push(body);
            look();
            assert.deepEqual(left.sort(), held.map(({ body }) => body).sort(), 'what nobody holds is purged');
          } else settle(one.which, one.kind);
          look();
        }
        for (let rounds = 0; rounds < 300 && done.length < sent.size; rounds++) {
          for (const subscriber of [1, 2, 3]) port.grant(subscriber, 1);
          look();
          settle(0, 'ack');
        }
        assert.deepEqual([...done].sort(), [...sent].sort());
      }),
      { numRuns: 300 },
    );
  });
});
