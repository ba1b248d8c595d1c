import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bind, declareExchange, declareQueue, InstantWiring } from './support.js';

function wiringWith(queues: string[], exchanges: [name: string, type: string][]): InstantWiring {
  const wiring = new InstantWiring();
  for (const queue of queues) wiring.done(declareQueue(queue));
  for (const [name, type] of exchanges) wiring.done(declareExchange(name, type));
  return wiring;
}

test('the default exchange leads to the queue of the key', () => {
  const wiring = wiringWith(['q1', 'q2'], []);
  assert.deepEqual(wiring.reaches('', 'q1'), ['q1']);
  assert.deepEqual(wiring.reaches('', 'q3'), []);
});

test('the predeclared exchanges route by their type', () => {
  const wiring = wiringWith(['q'], []);
  wiring.done(bind('amq.direct', 'q', 'k'));
  wiring.done(bind('amq.topic', 'q', '*.k'));
  wiring.done(bind('amq.headers', 'q', '', { arguments: { h: 1 } }));
  wiring.done(bind('amq.match', 'q', '', { arguments: { h: 2 } }));
  assert.deepEqual(wiring.reaches('amq.fanout', ''), []);
  wiring.done(bind('amq.fanout', 'q'));
  assert.deepEqual(wiring.reaches('amq.fanout', 'any'), ['q']);
  assert.deepEqual(wiring.reaches('amq.direct', 'k'), ['q']);
  assert.deepEqual(wiring.reaches('amq.direct', 'x'), []);
  assert.deepEqual(wiring.reaches('amq.topic', 'a.k'), ['q']);
  assert.deepEqual(wiring.reaches('amq.headers', '', { h: 1 }), ['q']);
  assert.deepEqual(wiring.reaches('amq.match', '', { h: 1 }), []);
});

test('a queue that is reached several times is named once', () => {
  const wiring = wiringWith(['q'], [['t', 'topic']]);
  for (const key of ['a.b', 'a.*', '#', '*.b']) wiring.done(bind('t', 'q', key));
  assert.deepEqual(wiring.reaches('t', 'a.b'), ['q']);
});

test('exchanges lead to exchanges, in circles too', () => {
  const exchanges: [string, string][] = [
    ['a', 'fanout'],
    ['b', 'topic'],
    ['c', 'direct'],
  ];
  const wiring = wiringWith(['q', 'r'], exchanges);
  const between = { destinationKind: 'exchange' } as const;
  wiring.done(bind('a', 'b', '', between));
  wiring.done(bind('b', 'c', '#', between));
  wiring.done(bind('c', 'a', 'k', between));
  wiring.done(bind('c', 'q', 'k'));
  wiring.done(bind('a', 'r'));
  for (const start of ['a', 'b', 'c']) assert.deepEqual(wiring.reaches(start, 'k'), ['q', 'r'], start);
  assert.deepEqual(wiring.reaches('c', 'other'), []);
});

test('what an exchange leads nowhere goes to its alternate exchange', () => {
  const wiring = wiringWith(['q', 'lost'], []);
  wiring.done(declareExchange('main', 'direct', { arguments: { 'alternate-exchange': 'spare' } }));
  wiring.done(bind('main', 'q', 'k'));
  assert.deepEqual(wiring.reaches('main', 'x'), [], 'the alternate does not exist yet');
  wiring.done(declareExchange('spare', 'fanout'));
  wiring.done(bind('spare', 'lost'));
  assert.deepEqual(wiring.reaches('main', 'x'), ['lost']);
  assert.deepEqual(wiring.reaches('main', 'k'), ['q']);
});

test('only headers exchanges make a route depend on headers', () => {
  const wiring = wiringWith(
    ['q'],
    [
      ['h', 'headers'],
      ['d', 'direct'],
    ],
  );
  wiring.done(bind('d', 'q', 'k'));
  const fail = (): never => assert.fail('headers are not needed');
  assert.equal(wiring.tables.route('/', 'd', 'k', fail).keyed, true);
  assert.equal(wiring.tables.route('/', 'h', 'k', fail).keyed, true, 'without bindings there is nothing to compare');
  wiring.done(bind('h', 'q', '', { arguments: { a: 1 } }));
  let asked = 0;
  const headers = (): { a: number } => {
    asked++;
    return { a: 1 };
  };
  assert.equal(wiring.tables.route('/', 'h', 'k', headers).keyed, false);
  assert.equal(asked, 1);
});

test('publishing to no exchange, or an internal one, is refused', () => {
  const wiring = wiringWith([], []);
  wiring.done(declareExchange('in', 'fanout', { internal: true }));
  const headers = (): Record<string, never> => ({});
  assert.throws(() => wiring.tables.route('/', 'x', '', headers), {
    kind: 'not-found',
    message: "no exchange 'x' in vhost '/'",
  });
  assert.throws(() => wiring.tables.route('/', 'in', '', headers), {
    kind: 'access-refused',
    message: "cannot publish to internal exchange 'in' in vhost '/'",
  });
});

test('bindings that differ only in arguments count one by one', () => {
  const wiring = wiringWith(['q'], [['d', 'direct']]);
  const plain = bind('d', 'q', 'k');
  const other = bind('d', 'q', 'k', { arguments: { note: 1 } });
  wiring.done(plain);
  wiring.done(other);
  wiring.done({ ...plain, op: 'unbind' });
  assert.deepEqual(wiring.reaches('d', 'k'), ['q']);
  wiring.done({ ...other, op: 'unbind' });
  assert.deepEqual(wiring.reaches('d', 'k'), []);
});

test('large fanout exchanges lose and gain queues', () => {
  const wiring = wiringWith([], [['f', 'fanout']]);
  const names = Array.from({ length: 50 }, (_, i) => `q${String(i).padStart(2, '0')}`);
  for (const name of names) {
    wiring.done(declareQueue(name));
    wiring.done(bind('f', name));
  }
  assert.deepEqual(wiring.reaches('f', ''), names);
  const kept = names.filter((_, i) => i % 3 === 0);
  for (const name of names) if (!kept.includes(name)) wiring.done({ ...bind('f', name), op: 'unbind' });
  assert.deepEqual(wiring.reaches('f', ''), kept);
});
