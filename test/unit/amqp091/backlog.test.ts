import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Backlog } from '../../../src/amqp091/backlog.js';

describe('Backlog', () => {
  it('gives back what was pushed, in order, whatever the sizes', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom(1, 2, 3), payload: fc.uint8Array({ maxLength: 3000 }) }),
      fc.constant(null),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const backlog = new Backlog();
        const expected: { type: number; payload: Uint8Array }[] = [];
        const shift = (): void => {
          const { type, payload } = expected.shift()!;
          backlog.shift((gotType, bytes, start, end) => {
            assert.equal(gotType, type);
            assert.deepEqual(Buffer.from(bytes.subarray(start, end)), Buffer.from(payload));
          });
        };
        for (const pushed of steps) {
          if (pushed !== null) {
            const around = Buffer.concat([Buffer.from('xx'), pushed.payload, Buffer.from('y')]);
            backlog.push(pushed.type, around, 2, 2 + pushed.payload.length);
            expected.push(pushed);
          } else if (expected.length > 0) {
            shift();
          }
        }
        while (expected.length > 0) shift();
        assert.ok(backlog.isEmpty);
        assert.equal(backlog.size, 0);
      }),
    );
  });
});
