import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Batch } from '../../../src/log/group-log.js';
import { SyncCounter } from '../../../src/log/sync-counter.js';

interface Known {
  last: number;
  isAwaited: boolean;
  isSynced: boolean;
}

/** The end of the longest prefix in which everything that must be on disk is. */
function longestPrefix(start: number, batches: readonly Known[]): number {
  let end = start;
  for (const { last, isAwaited, isSynced } of batches) {
    if (isAwaited && !isSynced) return end;
    end = last;
  }
  return end;
}

test('the counter is the longest prefix that is synced, whatever counts at receipt in between', () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('add' as const),
        isAwaited: fc.boolean(),
        records: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('durable' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), pick: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const counter = new SyncCounter();
      const start = 100;
      counter.reset(start);
      let batches: Known[] = [];
      let end = start;
      for (const one of steps) {
        if (one.kind === 'add') {
          const previous = end;
          end += one.records;
          counter.added({ previous, last: end } as Batch, one.isAwaited);
          batches.push({ last: end, isAwaited: one.isAwaited, isSynced: false });
        } else if (one.kind === 'durable' && batches.length > 0) {
          // The journal tells of batches that nobody waits for, too.
          const { last } = batches[one.pick % batches.length]!;
          for (const batch of batches) if (batch.last <= last) batch.isSynced = true;
          const before = counter.value;
          assert.equal(counter.durable(last), counter.value !== before);
        } else if (one.kind === 'cut' && batches.length > 0) {
          batches = batches.slice(0, one.pick % (batches.length + 1));
          end = batches.at(-1)?.last ?? start;
          counter.truncateAfter(end);
        }
        assert.equal(counter.value, longestPrefix(start, batches));
      }
    }),
    { numRuns: 2000 },
  );
});
