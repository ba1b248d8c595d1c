import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RouteMemo } from '../../../src/amqp091/route-memo.js';
import type { Route } from '../../../src/model/broker.js';

function routeOf(version: number): Route {
  return { version, keyed: true, queueCount: 1, isKnown: true };
}

const meta = fc.uint8Array({ minLength: 2, maxLength: 70 });

test('finds for the same bytes the route that was kept last, or none; never another one', () => {
  const step = fc.record({ meta, scope: fc.nat(2), version: fc.constantFrom(1, 1, 1, 2) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(5), (steps, start) => {
      const memo = new RouteMemo();
      const kept = new Map<string, Route>();
      let version = 0;
      for (const { meta: bytes, scope, version: next } of steps) {
        const key = `${scope} ${bytes.join()}`;
        if (next !== version) kept.clear();
        version = next;
        const buffer = new Uint8Array(start + bytes.length + 3);
        buffer.set(bytes, start);
        const found = memo.find(buffer, start, bytes.length, scope, version);
        if (found !== undefined) assert.equal(found, kept.get(key));
        const route = routeOf(version);
        memo.add(buffer, start, bytes.length, scope, route);
        kept.set(key, route);
        const again = memo.find(buffer, start, bytes.length, scope, version);
        assert.equal(again, bytes.length > 63 ? undefined : route);
      }
    }),
  );
});

test('keeps nearly all of ten thousand keys', () => {
  const memo = new RouteMemo();
  const keys = Array.from({ length: 10_000 }, (_, i) => Buffer.from(`\x08exchange\x10key${i}.part.end`));
  for (const key of keys) memo.add(key, 0, key.length, 0, routeOf(1));
  const found = keys.filter((key) => memo.find(key, 0, key.length, 0, 1) !== undefined);
  assert.ok(found.length > 9_500, String(found.length));
  assert.equal(memo.find(keys[0]!, 0, keys[0]!.length, 1, 1), undefined, "another user's");
  assert.equal(memo.find(keys[0]!, 0, keys[0]!.length, 0, 2), undefined, 'the wiring has changed');
});

test('says the same number for the same vhost and user, and another for others', () => {
  const memo = new RouteMemo();
  const numbers = [memo.scope('/', 'a'), memo.scope('/', 'b'), memo.scope('v', 'a')];
  assert.equal(new Set(numbers).size, 3);
  assert.deepEqual(numbers, [memo.scope('/', 'a'), memo.scope('/', 'b'), memo.scope('v', 'a')]);
});
