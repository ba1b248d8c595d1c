import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '../../../src/model/policy/definition.js';
import { mergedDefinition } from '../../../src/model/policy/operator-definition.js';
import type { QueueSettings } from '../../../src/model/policy/queue-settings.js';
import { decodeObject, encodeObject, type PolicyObject } from '../../../src/model/wiring/objects.js';
import type { WiringOperation } from '../../../src/model/wiring/operations.js';
import { declareQueue, InstantWiring } from '../model-wiring/support.js';

type Fields = Partial<Omit<PolicyObject, 'kind' | 'position'>>;

function set(op: 'setPolicy' | 'setOperatorPolicy', name: string, definition: Definition, fields: Fields = {}) {
  const policy = { vhost: '/', name, pattern: '', priority: 0, applyTo: 'queues', definition, ...fields } as const;
  return { op, policy } satisfies WiringOperation;
}

function wiring3(): InstantWiring {
  const wiring = new InstantWiring();
  wiring.version = 3;
  return wiring;
}

function settings(wiring: InstantWiring, queue: string): QueueSettings {
  return wiring.tables.settings.of(wiring.tables.queue('/', queue)!);
}

test('of a limit that both policies set the lower counts, whoever set it; the rest of both is mixed', () => {
  const wiring = wiring3();
  wiring.done(declareQueue('q'));
  const own = { 'max-length': 20, 'message-ttl': 50, overflow: 'reject-publish' };
  wiring.done(set('setPolicy', 'p', own));
  wiring.done(set('setOperatorPolicy', 'p', { 'max-length': 10, 'message-ttl': 5000, expires: 7000 }));
  const { lengthMax, ttlMs, overflow, unusedMs, by } = settings(wiring, 'q');
  assert.deepEqual([lengthMax, ttlMs, overflow, unusedMs], [10, 50, 'reject-publish', 7000]);
  assert.deepEqual([by.policy?.name, by.operatorPolicy?.name], ['p', 'p']);
  assert.deepEqual(by.definition, { ...own, 'max-length': 10, expires: 7000 });
  assert.equal([...wiring.tables.policies.of('policy').all()].length, 1, 'a name of its own');
});

test('it limits what the arguments of a queue say, and a lower argument stays', () => {
  const wiring = wiring3();
  wiring.done(declareQueue('more', { arguments: { 'x-max-length': 100 } }));
  wiring.done(declareQueue('less', { arguments: { 'x-max-length': 5 } }));
  wiring.done(set('setOperatorPolicy', 'o', { 'max-length': 10 }));
  assert.equal(settings(wiring, 'more').lengthMax, 10);
  assert.equal(settings(wiring, 'less').lengthMax, 5);
});

test('queues that are there get it at once, and are free of it when it is cleared', () => {
  const wiring = wiring3();
  wiring.done(declareQueue('q'));
  assert.equal(settings(wiring, 'q').lengthMax, Number.POSITIVE_INFINITY);
  const { version } = wiring.tables.policies;
  wiring.done(set('setOperatorPolicy', 'o', { 'max-length': 10 }));
  assert.notEqual(wiring.tables.policies.version, version);
  assert.equal(settings(wiring, 'q').lengthMax, 10);
  wiring.done(set('setOperatorPolicy', 'first', { 'max-length': 3 }, { priority: 1 }));
  assert.equal(settings(wiring, 'q').lengthMax, 3, 'the one of the highest priority');
  for (const name of ['first', 'o']) wiring.done({ op: 'clearOperatorPolicy', vhost: '/', name });
  wiring.done({ op: 'clearOperatorPolicy', vhost: '/', name: 'o' });
  assert.equal(settings(wiring, 'q').lengthMax, Number.POSITIVE_INFINITY);
  assert.equal(wiring.tables.count('operatorPolicy'), 0);
});

test('clearing one kind leaves the other of that name', () => {
  const wiring = wiring3();
  wiring.done(set('setPolicy', 'p', { 'max-length': 20 }));
  wiring.done(set('setOperatorPolicy', 'p', { 'max-length': 10 }));
  wiring.done({ op: 'clearPolicy', vhost: '/', name: 'p' });
  assert.deepEqual(
    ['policy', 'operatorPolicy'].map((kind) => wiring.tables.count(kind as PolicyObject['kind'])),
    [0, 1],
  );
});

test('queues to which the same policies apply share what comes of them', () => {
  const wiring = wiring3();
  for (const name of ['a1', 'a2', 'b']) wiring.done(declareQueue(name));
  wiring.done(set('setPolicy', 'p', { 'max-length': 20 }));
  wiring.done(set('setOperatorPolicy', 'o', { 'max-length': 10 }, { pattern: '^a' }));
  assert.equal(settings(wiring, 'a1'), settings(wiring, 'a2'));
  assert.notEqual(settings(wiring, 'a1'), settings(wiring, 'b'));
  assert.equal(settings(wiring, 'b').lengthMax, 20);
});

test('only limits can be set, as in RabbitMQ', () => {
  const wiring = wiring3();
  const known = /it may have expires, message-ttl, max-length, max-length-bytes, delivery-limit$/;
  for (const definition of [{ 'dead-letter-exchange': 'x' }, { overflow: 'reject-publish' }, { 'min-in-sync': 2 }]) {
    const refusal = wiring.refused(set('setOperatorPolicy', 'o', definition as Definition));
    assert.match(refusal, /operator policy 'o' cannot be set: '[a-z-]+' is no key of an operator policy's definition/);
    assert.match(refusal, known);
  }
  assert.match(wiring.refused(set('setOperatorPolicy', 'o', {})), known);
  assert.match(wiring.refused(set('setOperatorPolicy', 'o', { 'max-length': -1 })), /an integer of at least 0/);
  const applied = set('setOperatorPolicy', 'o', { 'max-length': 1 }, { applyTo: 'exchanges' });
  assert.match(wiring.refused(applied), /'max-length' is for queues, the policy is applied to exchanges/);
  assert.match(wiring.refused(set('setOperatorPolicy', 'o', { 'max-length': 1 }, { vhost: 'x' })), /no vhost 'x'/);
  assert.equal(wiring.tables.count('operatorPolicy'), 0);
});

test('they are for clusters of which all nodes know them, and go with their vhost', () => {
  const wiring = wiring3();
  wiring.version = 2;
  const operation = set('setOperatorPolicy', 'o', { 'max-length': 10 });
  assert.match(wiring.refused(operation), /while the cluster speaks protocol version 2: it takes 3/);
  wiring.version = 3;
  wiring.done(operation);
  assert.ok([...wiring.tables.contentsOf('/')].some(({ kind }) => kind === 'operatorPolicy'));
});

test('no limit (-1) is more than any', () => {
  const merged = (own: number, operators: number): unknown =>
    mergedDefinition({ 'delivery-limit': own }, { 'delivery-limit': operators })?.['delivery-limit'];
  assert.deepEqual([merged(-1, 5), merged(5, -1), merged(-1, -1), merged(7, 5), merged(5, 7)], [5, 5, -1, 5, 5]);
  assert.equal(mergedDefinition(undefined, undefined), undefined);
});

test('it is what it was after its way through the log', () => {
  const policy: PolicyObject = {
    kind: 'operatorPolicy',
    position: 0,
    vhost: '/',
    name: 'o',
    pattern: '^a\\.',
    priority: -3,
    applyTo: 'queues',
    definition: { 'max-length': 2 },
  };
  assert.deepEqual(decodeObject(encodeObject(policy)), policy);
});
