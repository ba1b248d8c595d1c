import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ConfirmWindow } from '../../../src/cli/bench/confirm-window.js';

it('counts every publish once, however it is confirmed', () => {
  const size = 16;
  const step = fc.oneof(
    fc.record({ publish: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ confirm: fc.nat(20), multiple: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const window = new ConfirmWindow(size);
      const open = new Set<number>();
      let last = 0;
      for (const taken of steps) {
        if ('publish' in taken) {
          const count = Math.min(taken.publish, window.room);
          window.published(count);
          for (let i = 0; i < count; i++) open.add(++last);
        } else {
          const tag = Math.max(0, last - taken.confirm);
          const covered = [...open].filter((one) => (taken.multiple ? one <= tag : one === tag));
          assert.equal(window.confirm(tag, taken.multiple), covered.length);
          for (const one of covered) open.delete(one);
        }
        assert.equal(window.open, open.size);
      }
    }),
  );
});
