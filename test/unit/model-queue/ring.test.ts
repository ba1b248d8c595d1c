import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PairRing, Ring } from '../../../src/base/ring.js';

test('rings do what arrays do with push and shift', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 200 }), (steps) => {
      const array: number[] = [];
      const ring = new Ring<number>(2);
      const pairs = new PairRing(2);
      let next = 0;
      for (const step of steps) {
        for (let i = 0; i < step; i++) {
          array.push(++next);
          ring.push(next);
          pairs.push(next, -next);
        }
        for (let i = 0; i > step; i--) {
          assert.equal(ring.length, array.length);
          assert.equal(pairs.length, array.length);
          assert.equal(ring.peek(), array[0]);
          assert.equal(ring.at(array.length - 1), array[array.length - 1]);
          const expected = array.shift();
          if (expected !== undefined) {
            assert.deepEqual([pairs.first, pairs.second], [expected, -expected]);
            pairs.drop();
          }
          assert.equal(ring.shift(), expected);
        }
      }
      ring.filter((item) => item % 2 === 0);
      const even = array.filter((item) => item % 2 === 0);
      assert.deepEqual(
        even.map(() => ring.shift()),
        even,
      );
      assert.equal(ring.shift(), undefined);
      ring.push(1);
      ring.clear();
      pairs.clear();
      assert.deepEqual([ring.length, ring.peek(), pairs.length], [0, undefined, 0]);
    }),
  );
});
