import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Hashing } from '../../../src/model/access/objects.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../../../src/model/broker.js';
import { argumentDepthMax, argumentsEqual, argumentsKey } from '../../../src/model/wiring/arguments.js';
import { decodeObject, encodeObject, objectBytesMax, type WiringObject } from '../../../src/model/wiring/objects.js';
import {
  decodeAnswer,
  decodeOperation,
  encodeAnswer,
  encodeOperation,
  ownerOf,
} from '../../../src/model/wiring/operations.js';
import { bind, bindingObject, declareQueue, exchangeObject, queueObject } from './support.js';

const keys = fc.oneof(fc.string(), fc.constantFrom('$time', '$table', '$', '__proto__', 'constructor'));
const { table } = fc.letrec<{ value: ArgumentValue; table: Arguments }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }),
    fc.nat().map((seconds) => new Timestamp(seconds)),
    fc.tuple(fc.nat(255), fc.integer()).map(([scale, value]) => new Decimal(scale, value)),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('table'),
  ) as fc.Arbitrary<ArgumentValue>,
  table: fc
    .array(fc.tuple(keys, tie('value')), { maxLength: 4 })
    .map((entries) => Object.fromEntries(entries) as Arguments),
}));

test('objects and operations keep arguments of every type', () => {
  fc.assert(
    fc.property(table, (args) => {
      const queue = queueObject('q', { arguments: args });
      const decoded = decodeObject(encodeObject(queue)) as typeof queue;
      assert.ok(sameArguments(decoded.arguments, args));
      const operation = decodeOperation(encodeOperation(declareQueue('q', { arguments: args })));
      assert.ok(operation.op === 'declareQueue' && sameArguments(operation.arguments, args));
    }),
    { numRuns: 500 },
  );
});

/** As argumentsEqual, but NaN is itself and types count. */
function sameArguments(a: Arguments, b: Arguments): boolean {
  try {
    // -0 becomes 0 in JSON.
    assert.deepStrictEqual(zeros(a), zeros(b));
    return true;
  } catch {
    return false;
  }
}

function zeros(value: ArgumentValue): ArgumentValue {
  if (value === 0) return 0;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(zeros);
  if (value instanceof Timestamp || value instanceof Decimal || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, zeros(inner)]));
}

test('every kind of object survives encoding, without its position', () => {
  const objects: WiringObject[] = [
    { kind: 'vhost', position: 0, name: '/a', description: 'of a', tags: ['one'] },
    exchangeObject('e', 'topic', { internal: true, autoDelete: true, arguments: { 'alternate-exchange': 'x' } }),
    queueObject('q', { owner: 'n1/4/7', group: 0x8001, durable: false }),
    bindingObject('e', 'f', 'k.#', { destinationKind: 'exchange', durable: false }),
    { kind: 'vhost', position: 0, name: 'v', description: '', tags: [], defaultQueueType: 'quorum' },
    { kind: 'globalParameter', position: 0, name: 'g', value: { a: [1, null, 'x'] } },
    { kind: 'globalParameter', position: 0, name: 'g', value: null },
    { kind: 'use', position: 0, queue: 7, durable: true },
    { kind: 'user', position: 0, name: 'u', tags: ['one'], hashing: Hashing.md5, hash: 'h', scram: 's' },
    { kind: 'permission', position: 0, user: 'u', vhost: 'v', configure: '', write: 'a', read: 'b' },
    { kind: 'topicPermission', position: 0, user: 'u', vhost: 'v', exchange: 'x', write: 'a', read: 'b' },
    { kind: 'limits', position: 0, of: 'user', name: 'u', limits: { 'max-channels': 1 } },
    { kind: 'founded', position: 0 },
    exchangeObject('e', 'topic', { goesWith: { node: 'n1', boot: 4 } }),
    bindingObject('e', 'q', '', { goesWith: { node: 'rack/n1', boot: 4 } }),
  ];
  for (const object of objects) assert.deepEqual(decodeObject(encodeObject({ ...object, position: 77 })), object);
});

test('what version 1 wrote of exchanges and bindings is what it was', () => {
  const text = (object: WiringObject): string => new TextDecoder().decode(encodeObject(object));
  const exchange = exchangeObject('e', 'topic', { arguments: { a: 1 } });
  const binding = bindingObject('e', 'q', 'k');
  const frozen = [
    '{"v":1,"kind":"exchange","vhost":"/","name":"e","type":"topic","durable":true,"autoDelete":false,"internal":false,"arguments":{"a":1}}',
    '{"v":1,"kind":"binding","vhost":"/","source":"e","destination":"q","routingKey":"k","destinationKind":"queue","arguments":{},"durable":true}',
  ];
  assert.deepEqual(
    [exchange, binding].map(text).map((json) => JSON.parse(json)),
    frozen.map((json) => JSON.parse(json)),
  );
  const read = frozen.map((json) => decodeObject(new TextEncoder().encode(json)));
  assert.deepEqual(read, [exchange, binding]);
});

test('what version 3 wrote of users, permissions and vhosts is what it was', () => {
  const frozen = [
    '{"v":1,"kind":"vhost","name":"v","description":"d","tags":["t"]}',
    '{"v":1,"kind":"user","name":"u","tags":["t"],"hashing":"rabbit_password_hashing_md5","hash":"h","scram":"s"}',
    '{"v":1,"kind":"permission","user":"u","vhost":"v","configure":"c","write":"w","read":"r"}',
    '{"v":1,"kind":"topicPermission","user":"u","vhost":"v","exchange":"x","write":"w","read":"r"}',
    '{"v":1,"kind":"limits","of":"user","name":"u","limits":{"max-channels":1}}',
    '{"v":1,"kind":"founded"}',
    '{"v":1,"kind":"vhost","name":"v","description":"d","tags":[],"defaultQueueType":"quorum"}',
    '{"v":1,"kind":"globalParameter","name":"g","value":{"a":[1,null]}}',
    '{"v":1,"kind":"operatorPolicy","vhost":"v","name":"p","pattern":"^a","priority":1,"applyTo":"queues","definition":{"max-length":2}}',
  ];
  const read = frozen.map((json) => decodeObject(new TextEncoder().encode(json))!);
  assert.deepEqual(
    read.map((object) => new TextDecoder().decode(encodeObject(object))),
    frozen,
  );
  const older = decodeObject(new TextEncoder().encode('{"v":1,"kind":"vhost","name":"v"}'));
  assert.deepEqual(older, { kind: 'vhost', position: 0, name: 'v', description: '', tags: [] });
});

test('fields and kinds of later versions are passed over', () => {
  const bytes = (json: object): Uint8Array => new TextEncoder().encode(JSON.stringify(json));
  const queue = queueObject('q');
  assert.deepEqual(decodeObject(bytes({ ...queue, v: 2, shiny: true })), queue);
  assert.equal(decodeObject(bytes({ kind: 'quark', v: 2, name: 'x' })), undefined);
});

test('arguments are bounded in depth and size', () => {
  let deep: ArgumentValue = 1;
  for (let i = 0; i < argumentDepthMax + 1; i++) deep = [deep];
  assert.throws(() => encodeObject(queueObject('q', { arguments: { deep } })), /nested deeper than 32/);
  const many = (count: number): Arguments => ({ list: Array.from({ length: count }, () => 1) });
  encodeObject(queueObject('q', { arguments: many(1024) }));
  assert.throws(() => encodeObject(queueObject('q', { arguments: many(1025) })), /more than 1024 values/);
  const big = 'x'.repeat(objectBytesMax);
  assert.throws(() => encodeObject(queueObject('q', { arguments: { big } })), /262144 are allowed/);
});

test('equal arguments have equal keys, in whatever order and width', () => {
  fc.assert(
    fc.property(table, (args) => {
      const reversed = Object.fromEntries(Object.entries(args).reverse());
      assert.equal(argumentsKey(reversed), argumentsKey(args));
    }),
  );
  assert.equal(argumentsKey({ a: 1n, b: {} }), argumentsKey({ b: {}, a: 1 }));
  assert.notEqual(argumentsKey({ a: { b: 1 } }), argumentsKey({ a: [['b', 1]] }));
  assert.notEqual(argumentsKey({ a: '1' }), argumentsKey({ a: 1 }));
  assert.equal(argumentsKey({}), '');
  assert.ok(argumentsEqual({ a: 1n }, { a: 1 }));
});

test('answers survive encoding; owners are read from connection ids', () => {
  const answer = { result: 'done', version: 2 ** 33 + 5, position: 4, group: 3 } as const;
  assert.deepEqual(decodeAnswer(encodeAnswer(answer)), answer);
  assert.deepEqual(decodeOperation(encodeOperation(bind('e', 'q', 'k'))), bind('e', 'q', 'k'));
  assert.deepEqual(ownerOf('n1/12/3'), { node: 'n1', boot: 12 });
  assert.deepEqual(ownerOf('rack/n1/12/3'), { node: 'rack/n1', boot: 12 });
  assert.equal(ownerOf('n1'), undefined);
});
