import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DueHeap } from '../../../src/model/delay/due-heap.js';

test('comes out by time and then by position, however it went in', () => {
  const push = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 1_000_000 }));
  fc.assert(
    fc.property(fc.array(fc.oneof(push, fc.constant('pop' as const)), { maxLength: 200 }), (steps) => {
      const heap = new DueHeap();
      const model: [number, number][] = [];
      for (const step of steps) {
        if (step === 'pop') {
          heap.pop();
          model.shift();
        } else {
          heap.push(...step);
          model.push(step);
          model.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
        }
        const [due, position] = model[0] ?? [Number.POSITIVE_INFINITY, Number.NaN];
        assert.deepEqual([heap.size, heap.firstDue, heap.first], [model.length, due, position]);
      }
    }),
  );
});

test('grows and shrinks over many pages', () => {
  const heap = new DueHeap();
  const count = 100_000;
  for (let i = 0; i < count; i++) heap.push((i * 7919) % count, i);
  for (let due = 0; due < count; due++) {
    assert.equal(heap.firstDue, due);
    heap.pop();
  }
  assert.equal(heap.size, 0);
});
