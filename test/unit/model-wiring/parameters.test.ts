import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/model/wiring/arguments.js';
import type { WiringOperation } from '../../../src/model/wiring/operations.js';
import { declareQueue, InstantWiring } from './support.js';

function wiring3(): InstantWiring {
  const wiring = new InstantWiring();
  wiring.version = 3;
  return wiring;
}

function set(name: string, value: Json): WiringOperation {
  return { op: 'setGlobalParameter', name, value };
}

test('a global parameter is set, replaced and cleared; the same again changes nothing', () => {
  const wiring = wiring3();
  const first = wiring.done(set('g', { a: [1, null] }));
  assert.equal(wiring.done(set('g', { a: [1, null] })).position, first.position);
  wiring.done(set('g', null));
  assert.equal(wiring.tables.globalParameter('g')?.value, null);
  assert.equal(wiring.tables.count('globalParameter'), 1);
  wiring.done({ op: 'clearGlobalParameter', name: 'g' });
  wiring.done({ op: 'clearGlobalParameter', name: 'g' });
  assert.equal(wiring.tables.count('globalParameter'), 0);
});

test('global parameters are bounded, and for clusters of which all nodes know them', () => {
  const wiring = wiring3();
  assert.match(wiring.refused(set('', 1)), /the name of a global parameter is missing/);
  assert.match(wiring.refused(set('é'.repeat(200), 1)), /longer than 255 bytes/);
  assert.match(wiring.refused(set('g', 'x'.repeat(300_000))), /262144 are allowed/);
  for (let i = 0; i < 1000; i++) wiring.done(set(`g${i}`, i));
  assert.match(wiring.refused(set('one more', 1)), /the limit of 1000 is reached/);
  wiring.version = 2;
  assert.match(wiring.refused(set('g1', 2)), /while the cluster speaks protocol version 2: it takes 3/);
});

test('a queue without a type has the default of its vhost, and one that is there stays what it is', () => {
  const wiring = wiring3();
  wiring.tables.appeared(900, { kind: 'founded', position: 900 });
  const vhost = { name: '/', description: '', tags: [] };
  wiring.done({ op: 'setVhost', vhost });
  wiring.done(declareQueue('before'));
  wiring.done({ op: 'setVhost', vhost: { ...vhost, defaultQueueType: 'quorum' } });
  const typeOf = (name: string): unknown => wiring.tables.queue('/', name)?.arguments['x-queue-type'];
  wiring.done(declareQueue('before'));
  wiring.done(declareQueue('after'));
  wiring.done(declareQueue('after'));
  wiring.done(declareQueue('after', { arguments: { 'x-queue-type': 'quorum' } }));
  wiring.done(declareQueue('short-lived', { durable: false }));
  wiring.done(declareQueue('own', { exclusive: true }));
  assert.deepEqual(['before', 'after', 'short-lived', 'own'].map(typeOf), [undefined, 'quorum', undefined, undefined]);
  const other = declareQueue('after', { arguments: { 'x-queue-type': 'classic' } });
  assert.match(wiring.refused(other), /inequivalent arg 'x-queue-type' for queue 'after'/);
  assert.match(
    wiring.refused({ op: 'setVhost', vhost: { ...vhost, defaultQueueType: 'stream' as never } }),
    /its default queue type is 'stream': there are classic, quorum/,
  );
  wiring.done({ op: 'setVhost', vhost });
  wiring.done(declareQueue('later'));
  assert.equal(typeOf('later'), undefined);
});
