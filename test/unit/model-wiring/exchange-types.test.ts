import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Arguments, Decimal, type Properties } from '../../../src/model/broker.js';
import type { PolicyObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import {
  bind,
  bindingObject,
  declareExchange,
  declareQueue,
  exchangeObject,
  InstantWiring,
  queueObject,
} from './support.js';

function wiringWith(...queues: string[]): InstantWiring {
  const wiring = new InstantWiring();
  wiring.version = 3;
  for (const queue of queues) wiring.done(declareQueue(queue));
  return wiring;
}

/** Tables with an exchange 'x' of the type, and queues bound to it in that order. */
function tablesWith(
  type: 'x-consistent-hash' | 'x-modulus-hash' | 'x-random',
  bindings: [queue: string, key: string][],
  random?: { int(below: number): number },
): WiringTables {
  const tables = new WiringTables(random);
  let lsn = 0;
  tables.appeared(++lsn, exchangeObject('x', type));
  for (const [queue, key] of bindings) {
    if (tables.queue('/', queue) === undefined) tables.appeared(++lsn, queueObject(queue));
    tables.appeared(++lsn, bindingObject('x', queue, key));
  }
  return tables;
}

const noHeaders = (): Arguments => ({});

function queueFor(tables: WiringTables, key: string): string {
  const { queues } = tables.route('/', 'x', key, noHeaders);
  assert.equal(queues.length, 1, key);
  return queues[0]!.name;
}

const keys = Array.from({ length: 20_000 }, (_, i) => `key.${i}`);

function shares(tables: WiringTables): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const queue = queueFor(tables, key);
    counts.set(queue, (counts.get(queue) ?? 0) + 1);
  }
  return counts;
}

const weights = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), fc.integer({ min: 1, max: 50 })), {
  selector: ([name]) => name,
  minLength: 2,
  maxLength: 8,
});

describe('x-consistent-hash', () => {
  it('gives each queue keys by its weight', () => {
    const counts = shares(
      tablesWith('x-consistent-hash', [
        ['a', '1'],
        ['b', '2'],
        ['c', '5'],
      ]),
    );
    for (const [queue, part] of [
      ['a', 1 / 8],
      ['b', 2 / 8],
      ['c', 5 / 8],
    ] as const)
      assert.ok(Math.abs(counts.get(queue)! / keys.length / part - 1) < 0.06, `${queue}: ${counts.get(queue)}`);
  });

  it('moves keys to a queue that comes, and from one that goes, and no others; the order of bindings does not matter', () => {
    fc.assert(
      fc.property(weights, (list) => {
        const bindings = list.map(([name, weight]): [string, string] => [name, String(weight)]);
        const [last] = bindings.at(-1)!;
        const all = tablesWith('x-consistent-hash', bindings);
        const fewer = tablesWith('x-consistent-hash', bindings.slice(0, -1));
        const turned = tablesWith('x-consistent-hash', bindings.toReversed());
        for (const key of keys.slice(0, 300)) {
          const queue = queueFor(all, key);
          assert.equal(queueFor(turned, key), queue);
          if (queue !== last) assert.equal(queueFor(fewer, key), queue);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('keeps to the oldest binding of a queue, and goes over to the next when that goes', () => {
    const wiring = wiringWith('a', 'b');
    wiring.done(declareExchange('x', 'x-consistent-hash'));
    wiring.done(bind('x', 'a', '1'));
    wiring.done(bind('x', 'b', '1'));
    wiring.done(bind('x', 'b', '9'));
    const ofB = (): number => shares(wiring.tables).get('b')! / keys.length;
    assert.ok(Math.abs(ofB() - 0.5) < 0.03, String(ofB()));
    wiring.done(bind('x', 'b', '1', { op: 'unbind' }));
    assert.ok(Math.abs(ofB() - 0.9) < 0.03, String(ofB()));
  });

  it('hashes a header or a property, if it is told to; messages without go together', () => {
    const wiring = wiringWith('a', 'b', 'c');
    wiring.done(declareExchange('h', 'x-consistent-hash', { arguments: { 'hash-header': 'id' } }));
    wiring.done(declareExchange('p', 'x-consistent-hash', { arguments: { 'hash-property': 'message_id' } }));
    for (const source of ['h', 'p']) for (const queue of ['a', 'b', 'c']) wiring.done(bind(source, queue, '1'));
    const byHeader = (key: string, headers: Arguments): string => wiring.reaches('h', key, headers).join();
    const byProperty = (key: string, id: string): string => {
      const properties: Properties = (name) => (name === 'message_id' ? id : 'no');
      const { keyed, queues } = wiring.tables.route('/', 'p', key, noHeaders, [], properties);
      assert.equal(keyed, false);
      return queues.map(({ name }) => name).join();
    };
    const ids = Array.from({ length: 100 }, (_, i) => `id${i}`);
    assert.equal(new Set(ids.map((id) => byHeader('k', { id }))).size, 3);
    assert.equal(new Set(ids.map((id) => byProperty('k', id))).size, 3);
    assert.equal(new Set(ids.map((key) => byHeader(key, { id: 7 }))).size, 1);
    assert.equal(new Set(ids.map((key) => byHeader(key, {}))).size, 1);
    assert.equal(new Set(ids.map((key) => byProperty(key, 'same'))).size, 1);
  });

  it('says what is wrong with its arguments and bindings', () => {
    const wiring = wiringWith('q');
    const refused = (table: Arguments): string =>
      wiring.refused(declareExchange('x', 'x-consistent-hash', { arguments: table }));
    assert.equal(
      refused({ 'hash-header': 'a', 'hash-property': 'message_id' }),
      'precondition-failed: hash-header and hash-property are mutually exclusive',
    );
    assert.match(refused({ 'hash-property': 'user_id' }), /^precondition-failed: Unsupported property: user_id/);
    assert.match(refused({ 'hash-header': 7 }), /invalid arg 'hash-header' .* a string is expected/);
    wiring.done(declareExchange('x', 'x-consistent-hash'));
    assert.equal(
      wiring.refused(bind('x', 'q', 'abc')),
      "precondition-failed: The binding key must be an integer: 'abc'",
    );
    for (const key of ['0', '-3'])
      assert.equal(wiring.refused(bind('x', 'q', key)), 'precondition-failed: The binding key must be greater than 0');
  });
});

describe('x-modulus-hash', () => {
  it('spreads keys evenly, the same one always to the same queue', () => {
    const bindings: [string, string][] = ['a', 'b', 'c', 'd'].map((name) => [name, '']);
    const tables = tablesWith('x-modulus-hash', bindings);
    for (const [queue, count] of shares(tables)) assert.ok(Math.abs(count / keys.length - 0.25) < 0.02, queue);
    const turned = tablesWith('x-modulus-hash', bindings.toReversed());
    for (const key of keys.slice(0, 100)) assert.equal(queueFor(turned, key), queueFor(tables, key));
    assert.equal(tables.route('/', 'x', 'k', noHeaders).keyed, true);
  });
});

describe('x-random', () => {
  it('takes one queue for each message, by chance', () => {
    const drawn = [2, 0, 1];
    const tables = tablesWith(
      'x-random',
      [
        ['a', ''],
        ['b', ''],
        ['c', ''],
      ],
      { int: () => drawn.shift()! },
    );
    assert.equal(tables.route('/', 'amq.fanout', 'k', noHeaders).keyed, true);
    const { keyed, queues } = tables.route('/', 'x', 'k', noHeaders);
    assert.deepEqual([keyed, queues.map(({ name }) => name)], [false, ['c']]);
    assert.deepEqual([queueFor(tables, 'k'), queueFor(tables, 'k')], ['a', 'b']);
    drawn.push(0, 1, 2);
    const more = tables.route('/', 'x', 'k', noHeaders, ['other', 'third']);
    assert.deepEqual(
      more.queues.map(({ name }) => name),
      ['a'],
      'with CC too',
    );
  });
});

describe('x-delayed-message', () => {
  function delayed(inner: string, more: Arguments = {}): InstantWiring {
    const wiring = wiringWith('q', 'spare');
    wiring.done(declareExchange('d', 'x-delayed-message', { arguments: { 'x-delayed-type': inner, ...more } }));
    return wiring;
  }
  const delaysOf = (wiring: InstantWiring, headers: Arguments, from = 'd'): [string, number][] =>
    wiring.tables
      .route('/', from, 'a.b', () => headers)
      .delays.map(({ exchange, delayMs }) => [exchange.name, delayMs]);

  it('routes by its type what need not wait', () => {
    const wiring = delayed('topic');
    wiring.done(bind('d', 'q', 'a.*'));
    for (const value of [undefined, 0, -5, 'soon', true, 0x1_0000_0000, ''] as const) {
      const headers = value === undefined ? {} : { 'x-delay': value };
      assert.deepEqual([wiring.reaches('d', 'a.b', headers), delaysOf(wiring, headers)], [['q'], []], String(value));
    }
  });

  it('keeps what is to wait, for as long as the header says, and sends nothing of it to an alternate exchange', () => {
    const wiring = delayed('direct', { 'alternate-exchange': 'amq.fanout' });
    wiring.done(bind('amq.fanout', 'spare'));
    const values = [1, 1500n, '20', 7.9, new Decimal(1, 55), 0xffff_ffff];
    for (const [i, ms] of [1, 1500, 20, 7, 5, 0xffff_ffff].entries()) {
      const headers = { 'x-delay': values[i]! };
      assert.deepEqual([wiring.reaches('d', 'a.b', headers), delaysOf(wiring, headers)], [[], [['d', ms]]]);
    }
    assert.deepEqual(wiring.reaches('d', 'a.b'), ['spare']);
  });

  it('keeps what comes from another exchange as well, which goes on to its other queues at once', () => {
    const wiring = delayed('fanout');
    wiring.done(declareExchange('all', 'fanout'));
    wiring.done(bind('all', 'q'));
    wiring.done(bind('all', 'd', '', { destinationKind: 'exchange' }));
    const headers = { 'x-delay': 10 };
    assert.deepEqual([wiring.reaches('all', 'k', headers), delaysOf(wiring, headers, 'all')], [['q'], [['d', 10]]]);
  });

  it('must say by which type it routes, and minds what that wants', () => {
    const wiring = wiringWith('q');
    const refused = (table: Arguments): string =>
      wiring.refused(declareExchange('d', 'x-delayed-message', { arguments: table }));
    for (const value of [undefined, 'x-none', 7, 'x-delayed-message', 'constructor'])
      assert.match(
        refused(value === undefined ? {} : { 'x-delayed-type': value }),
        /^precondition-failed: Invalid argument, 'x-delayed-type' must be an existing exchange type/,
      );
    wiring.done(declareExchange('d', 'x-delayed-message', { arguments: { 'x-delayed-type': 'x-consistent-hash' } }));
    assert.match(wiring.refused(bind('d', 'q', 'heavy')), /The binding key must be an integer/);
  });
});

describe('exchange types of protocol version 3', () => {
  it('wait until all nodes know them', () => {
    const wiring = wiringWith('q');
    wiring.version = 2;
    for (const type of ['x-consistent-hash', 'x-random', 'x-modulus-hash', 'x-delayed-message'])
      assert.match(
        wiring.refused(declareExchange('x', type, { arguments: { 'x-delayed-type': 'direct' } })),
        /^not-implemented: .* cannot be of type 'x-.*' while the cluster speaks protocol version 2: it takes 3/,
      );
  });
});

describe('an alternate exchange by policy', () => {
  const policy: Omit<PolicyObject, 'kind' | 'position'> = {
    vhost: '/',
    name: 'spares',
    pattern: '^main',
    priority: 0,
    applyTo: 'exchanges',
    definition: { 'alternate-exchange': 'spare' },
  };

  it('counts where the exchange has none of its own, from now on and until it is cleared', () => {
    const wiring = wiringWith('lost', 'own');
    for (const name of ['main', 'other', 'spare', 'mine']) wiring.done(declareExchange(name, 'fanout'));
    wiring.done(declareExchange('main2', 'fanout', { arguments: { 'alternate-exchange': 'mine' } }));
    wiring.done(bind('spare', 'lost'));
    wiring.done(bind('mine', 'own'));
    assert.deepEqual(wiring.reaches('main', 'k'), []);
    wiring.done({ op: 'setPolicy', policy });
    assert.deepEqual(wiring.reaches('main', 'k'), ['lost']);
    assert.deepEqual(wiring.reaches('main2', 'k'), ['own']);
    assert.deepEqual(wiring.reaches('other', 'k'), []);
    wiring.done({ op: 'clearPolicy', vhost: '/', name: 'spares' });
    assert.deepEqual(wiring.reaches('main', 'k'), []);
  });

  it('is for exchanges only, and for version 3', () => {
    const wiring = wiringWith();
    assert.match(
      wiring.refused({ op: 'setPolicy', policy: { ...policy, applyTo: 'queues' } }),
      /'alternate-exchange' is for exchanges, the policy is applied to queues/,
    );
    wiring.version = 2;
    assert.match(wiring.refused({ op: 'setPolicy', policy }), /cannot set 'alternate-exchange' while .* it takes 3/);
  });
});
