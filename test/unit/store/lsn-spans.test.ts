import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LsnSpans } from '../../../src/store/lsn-spans.js';

const lsn = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 2 ** 40 }));
const range = fc.tuple(lsn, fc.integer({ min: 0, max: 3000 })).map(([from, length]) => [from, from + length] as const);

describe('lsn spans', () => {
  it('never say no to what was added', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 120 }), lsn, (ranges, probe) => {
        const spans = new LsnSpans();
        for (const [from, to] of ranges) spans.add(from, to);
        for (const [from, to] of ranges) {
          assert.ok(spans.has(from) && spans.has(to) && spans.has(Math.floor((from + to) / 2)));
          assert.ok(spans.touches(from - 5, from) && spans.touches(to, to + 5));
        }
        const other = new LsnSpans();
        other.add(probe, probe);
        if (ranges.some(([from, to]) => probe >= from && probe <= to)) {
          assert.ok(spans.overlaps(other) && other.overlaps(spans));
        }
        assert.equal(spans.empty, ranges.length === 0);
      }),
    );
  });

  it('say no to what is far from everything', () => {
    const spans = new LsnSpans();
    for (let i = 0; i < 20; i++) spans.add(i * 100_000, i * 100_000 + 10);
    assert.equal(spans.has(50_000), false);
    assert.equal(spans.touches(1_000_000 + 2000, 1_000_000 + 90_000), false);
    const between = new LsnSpans();
    between.add(30_000, 60_000);
    assert.equal(spans.overlaps(between), false);
  });
});
