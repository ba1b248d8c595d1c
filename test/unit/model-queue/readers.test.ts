/** Subscriptions that choose, and those that browse, at the primary. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HeaderCodec } from '../../../src/model/dead-letter/death.js';
import type { GroupServicePort, SubscribeOptions } from '../../../src/model/group-port.js';
import type { MessageFields } from '../../../src/model/selection/message-fields.js';
import type { Reader } from '../../../src/model/group-service/reader.js';
import { Readers } from '../../../src/model/group-service/readers.js';
import { noTraits } from '../../../src/model/queue/queue-traits.js';
import { q, Traits } from './service-support.js';
import { type Delivery, jsonHeaders, partsWith, TestClient, TestPrimary } from './support.js';

/** How many messages were asked for something. */
let looked = 0;
const headers: HeaderCodec = {
  ...jsonHeaders,
  fields(message): MessageFields {
    looked++;
    const table = jsonHeaders.table(message) as Record<string, number>;
    return { field: () => undefined, property: (name) => (name in table ? BigInt(table[name]!) : undefined) };
  },
};

const sequences = new WeakMap<GroupServicePort, number>();

/** A message named `<kind>.<n>` whose header `n` is the kind. */
function send(port: GroupServicePort, name: string, priority = 0): void {
  const sequence = (sequences.get(port) ?? 0) + 1;
  sequences.set(port, sequence);
  const parts = partsWith(name, { n: Number(name.split('.')[0]) });
  parts.priority = priority;
  port.publish(parts, [q], false, sequence, 0);
}

function subscribe(port: GroupServicePort, number: number, credit: number, options: Partial<SubscribeOptions>): void {
  const plain = { consumerTag: String(number), noAck: false, exclusive: false, arguments: {} };
  port.subscribe(number, q, 0, { ...plain, credit, ...options });
}

const choosing = (selector: string, more = {}): Partial<SubscribeOptions> => ({ filter: { selector, ...more } });

function started(options: ConstructorParameters<typeof TestPrimary>[0] = {}, priorities = 0) {
  const primary = new TestPrimary({ headers, ...options });
  if (options.previous === undefined) primary.openQueue(q, true, priorities);
  const client = new TestClient();
  const port = primary.attach(client);
  return { primary, client, port };
}

describe('a reader', () => {
  it('looks at each message once, and never again but at what comes back', () => {
    const { primary, client, port } = started();
    for (let i = 0; i < 2000; i++) send(port, `${i % 100}.${i}`);
    primary.run();
    looked = 0;
    subscribe(port, 1, 1, choosing('n = 7'));
    primary.run();
    for (let i = 0; i < 19; i++) {
      port.ack(q, client.deliveries.at(-1)!.position);
      port.grant(1, 1);
      primary.run();
    }
    assert.deepEqual(
      client.bodies(),
      Array.from({ length: 20 }, (_, i) => `7.${i * 100 + 7}`),
    );
    assert.ok(looked <= 2000, `${looked} looks`);
    looked = 0;
    port.grant(1, 10);
    send(port, '7.late');
    primary.run();
    assert.deepEqual(client.bodies(), ['7.late']);
    assert.ok(looked <= 93, `${looked} looks at what is new and not passed`);
  });

  it('looks at a bounded number of messages in a turn, and others are served meanwhile', () => {
    const { primary, client, port } = started();
    for (let i = 0; i < 5000; i++) send(port, `1.${i}`);
    primary.run();
    subscribe(port, 1, 10, choosing('n = 2'));
    subscribe(port, 2, 1, {});
    let most = 0;
    let turns = 0;
    for (looked = 0; primary.runOnce(); looked = 0) {
      primary.commit();
      most = Math.max(most, looked);
      if (turns++ === 1) assert.deepEqual(client.bodies(), ['1.0']);
    }
    assert.ok(most > 0 && most <= 1024, `${most} looks in a turn`);
    assert.ok(turns > 5);
  });

  it('looks at fewer messages in a turn where a look takes long', () => {
    const { primary, port } = started();
    for (let i = 0; i < 1000; i++) send(port, `1.${i}`);
    primary.run();
    subscribe(port, 1, 10, choosing(`n${' + n'.repeat(500)} = 0`));
    let most = 0;
    for (looked = 0; primary.runOnce(); looked = 0) {
      primary.commit();
      most = Math.max(most, looked);
    }
    assert.ok(most > 0 && most <= 64, `${most} looks in a turn`);
  });

  it('waits for a chunk that is out of memory, and goes on', () => {
    const { primary, client, port } = started();
    for (let i = 0; i < 3000; i++) send(port, `${i % 1000}.${i}${'x'.repeat(500)}`);
    primary.run();
    for (const chunk of primary.chunks.all.values()) if (chunk.pins === 0) primary.chunks.evict(chunk);
    subscribe(port, 1, 10, choosing('n = 999'));
    primary.run();
    for (let i = 0; i < 100 && client.deliveries.length < 3; i++) {
      primary.chunks.settleLoads();
      primary.run();
    }
    assert.deepEqual(
      client.bodies().map((body) => body.replaceAll('x', '')),
      ['999.999', '999.1999', '999.2999'],
    );
  });

  it('is drained when it has looked at everything', () => {
    const { primary, client, port } = started();
    for (let i = 0; i < 3000; i++) send(port, `${i % 1000}.${i}${'x'.repeat(500)}`);
    primary.run();
    for (const chunk of primary.chunks.all.values()) if (chunk.pins === 0) primary.chunks.evict(chunk);
    subscribe(port, 5, 10, choosing('n = 999'));
    port.drain(5);
    primary.run();
    assert.deepEqual(client.drainedSubscribers, [], 'its chunk is being read');
    for (let i = 0; i < 100 && client.drainedSubscribers.length === 0; i++) {
      primary.chunks.settleLoads();
      primary.run();
    }
    assert.deepEqual(client.drainedSubscribers, [5]);
    assert.equal(client.deliveries.length, 3);
  });

  it('of an exchange lets go of what it does not want', () => {
    const { primary, client, port } = started();
    for (let i = 0; i < 10; i++) send(port, `${i}.x`);
    subscribe(port, 1, 10, choosing('n > 7', { discards: true }));
    primary.run();
    assert.deepEqual(client.bodies(), ['8.x', '9.x']);
    assert.equal(primary.state.queue(q)!.index.size, 2);
  });

  it('is drained though only another consumer is given messages', () => {
    const { primary, client, port } = started({ traits: new Traits([q, { singleActive: true }]) });
    send(port, '1.a');
    subscribe(port, 1, 0, {});
    subscribe(port, 2, 5, choosing('n = 1'));
    port.drain(2);
    primary.run();
    assert.deepEqual([client.bodies(), client.drainedSubscribers], [[], [2]]);
  });

  it('leaves half of the turn to others, whatever it costs', () => {
    const { primary, client, port } = started();
    for (let i = 1; i <= 20; i++)
      port.publish(partsWith(`1.${i}`, { n: 1, padding: 'x'.repeat(65_000) }), [q], false, i, 0);
    primary.run();
    subscribe(port, 1, 1, choosing(`n LIKE '${'%a'.repeat(120)}'`));
    subscribe(port, 2, 20, {});
    primary.runOnce();
    primary.runOnce();
    assert.ok(client.deliveries.length > 0);
  });

  it('has its turn after another that costs all of it', () => {
    const readers = new Readers();
    const ran: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const run = (max: number): number => {
        ran.push(name);
        return max * 2;
      };
      readers.add({ wants: true, isBehind: false, toldBack: 0, readers: undefined, run } as unknown as Reader);
    }
    for (let i = 0; i < 6; i++) readers.run(128, () => {});
    assert.equal(ran.join(''), 'abcabc');
  });

  it('whose selector makes no sense is refused', () => {
    const { primary, client, port } = started();
    subscribe(port, 1, 10, choosing('n ='));
    primary.run();
    assert.match(client.events.join(), /subscribed 1 precondition-failed: the selector/);
  });

  it('is asked for nothing on a queue that has none', () => {
    const { primary, client, port } = started();
    looked = 0;
    subscribe(port, 1, 10, {});
    for (let i = 0; i < 10; i++) send(port, `${i}.x`);
    primary.run();
    assert.equal(client.take().length, 10);
    assert.equal(looked, 0);
  });

  it('gets again what its client gives back at once, as one of the same node may', () => {
    const { primary, client, port } = started();
    const deliver = client.deliver.bind(client);
    let refusals = 2;
    client.deliver = (subscriber, incarnation, position, ...rest) => {
      if (refusals-- > 0) port.requeue(q, position, false);
      else deliver(subscriber, incarnation, position, ...rest);
    };
    send(port, '2.a');
    send(port, '2.b');
    subscribe(port, 1, 4, choosing('n = 2'));
    primary.run();
    assert.deepEqual(client.bodies(), ['2.a', '2.b']);
  });

  it('finds what came back when very much did', () => {
    const { primary, client, port } = started();
    const count = 70_000;
    for (let i = 0; i < count; i++) send(port, i === 10 ? '2.back' : '1.x');
    primary.run();
    subscribe(port, 1, count, {});
    primary.run();
    subscribe(port, 2, 0, choosing('n = 2'));
    send(port, '2.first');
    primary.run();
    const held = client.take();
    port.unsubscribe(1);
    primary.run();
    // It has passed them while they were held.
    port.grant(2, 1);
    primary.run();
    for (const { position } of held) port.requeue(q, position, true);
    primary.run();
    port.grant(2, 2);
    primary.run();
    assert.deepEqual(client.bodies().sort(), ['2.back', '2.first']);
  });
});

describe('a browser', () => {
  it('is shown what is ready, takes nothing, and goes on after a take-over', () => {
    const { primary, client, port } = started();
    for (const name of ['1.a', '1.b', '1.c']) send(port, name);
    subscribe(port, 1, 2, { browses: true });
    primary.run();
    const [a, b] = client.take();
    assert.deepEqual([a!.body, b!.body], ['1.a', '1.b']);
    port.ack(q, a!.position);
    port.reject(q, b!.position);
    primary.run();
    assert.equal(primary.state.queue(q)!.index.ready, 3);
    primary.service.close();
    const next = started({ previous: primary, epoch: 2 });
    subscribe(next.port, 1, 5, { browses: true, after: b!.position });
    next.primary.run();
    assert.deepEqual(next.client.bodies(), ['1.c']);
  });

  it('comes again to what its client could not take', () => {
    const { primary, client, port } = started();
    for (const name of ['1.a', '1.b', '1.c']) send(port, name);
    subscribe(port, 1, 3, { browses: true });
    primary.run();
    const [, b, c] = client.take();
    port.browseFrom(1, b!.position);
    port.browseFrom(1, c!.position);
    port.grant(1, 5);
    primary.run();
    assert.deepEqual(client.bodies(), ['1.b', '1.c']);
  });

  it('is not the one that is given messages where only one is', () => {
    const traits = { version: 1, wiringVersion: 9, of: () => ({ ...noTraits, singleActive: true }) };
    const { primary, client, port } = started({ traits });
    subscribe(port, 1, 5, { browses: true });
    subscribe(port, 2, 5, {});
    primary.run();
    send(port, '1.a');
    primary.run();
    assert.deepEqual(
      client.take().map(({ subscriber, body }) => `${subscriber} ${body}`),
      ['1 1.a', '2 1.a'],
    );
  });
});

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), kind: fc.nat(3), priority: fc.nat(2) }) },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('grant' as const), subscriber: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constantFrom('ack' as const, 'requeue' as const, 'release' as const),
        at: fc.nat(9),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'run' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'leave' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'takeOver' as const }) },
  ),
  { minLength: 5, maxLength: 80 },
);

const wants: Readonly<Record<number, Partial<SubscribeOptions>>> = {
  1: choosing('n = 0'),
  2: choosing('n IN (1, 2)'),
  3: {},
  4: choosing('n >= 2'),
};
const matches = (subscriber: number, kind: number): boolean =>
  subscriber === 3 || [[], [0], [1, 2], [], [2, 3]][subscriber]!.includes(kind);

describe('readers and consumers of one queue', () => {
  for (const priorities of [0, 2])
    it(`give every message to somebody whom it matches, once at a time, and leave none that somebody waits for${priorities > 0 ? ', with priorities' : ''}`, () => {
      fc.assert(
        fc.property(steps, (all) => {
          let { primary, client, port } = started({}, priorities);
          let boot = 1;
          const held = new Map<number, Delivery>();
          const gone = new Set<string>();
          const credit = new Map<number, number>();
          let sent = 0;
          const note = (): void => {
            for (const delivery of client.take()) {
              const { subscriber, position, body } = delivery;
              assert.ok(!held.has(position), `${body} is held`);
              assert.ok(!gone.has(body), `${body} is gone`);
              assert.ok(matches(subscriber, Number(body.split('.')[0])), `${body} for ${subscriber}`);
              credit.set(subscriber, credit.get(subscriber)! - 1);
              assert.ok(credit.get(subscriber)! >= 0, 'beyond credit');
              held.set(position, delivery);
            }
          };
          const subscribeAll = (): void => {
            for (const subscriber of [1, 2, 4]) {
              credit.set(subscriber, credit.get(subscriber) ?? 0);
              subscribe(port, subscriber, credit.get(subscriber)!, wants[subscriber]!);
            }
            credit.set(3, 0);
            subscribe(port, 3, 0, {});
          };
          subscribeAll();
          for (const step of all) {
            if (step.do === 'send') send(port, `${step.kind}.${sent++}`, step.priority);
            else if (step.do === 'grant') {
              credit.set(step.subscriber, credit.get(step.subscriber)! + 1);
              port.grant(step.subscriber, 1);
            } else if (step.do === 'run') primary.run();
            else if (step.do === 'leave') {
              port.unsubscribe(2);
              primary.run();
              note();
              credit.set(2, 0);
              subscribe(port, 2, 0, wants[2]!);
            } else if (step.do === 'takeOver') {
              primary.run();
              note();
              primary.service.close();
              primary = new TestPrimary({ headers, previous: primary, epoch: ++boot });
              client = new TestClient();
              const names = [...held.keys()].map((position) => ({ incarnation: q, position, naming: 0 as const }));
              port = primary.attach(client, 'a', 1, names, sent);
              sequences.set(port, sent);
              subscribeAll();
            } else {
              note();
              const chosen = [...held.values()][step.at];
              if (chosen === undefined) continue;
              held.delete(chosen.position);
              if (step.do === 'ack') {
                gone.add(chosen.body);
                port.ack(q, chosen.position);
              } else port.requeue(q, chosen.position, step.do === 'requeue');
            }
          }
          primary.run();
          note();
          const { index } = primary.state.queue(q)!;
          assert.equal(index.size, sent - gone.size);
          // Whoever has credit left wants nothing of what is ready.
          for (const position of index.positionsAscending(-1, 1000)) {
            if (held.has(position)) continue;
            const entry = index.find(position)!;
            const chunk = primary.state.chunk(entry.chunk);
            const kind = kindAt(chunk.bytes!, entry.offset, entry.length);
            for (const [subscriber, left] of credit) {
              if (left > 0) assert.ok(!matches(subscriber, kind), `${kind} waits, and ${subscriber} too`);
            }
          }
        }),
        { numRuns: 150 },
      );
    });
});

function kindAt(bytes: Uint8Array, offset: number, length: number): number {
  const text = new TextDecoder().decode(bytes.subarray(offset, offset + length));
  return Number(/"n":(\d)/.exec(text)![1]);
}
