import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ConfirmLedger } from '../../../src/amqp091/confirm-ledger.js';

function flushed(ledger: ConfirmLedger): [number, boolean][] {
  const acks: [number, boolean][] = [];
  ledger.flush(
    (tag, multiple) => acks.push([tag, multiple]),
    (tag) => assert.fail(`${tag} is nacked`),
  );
  return acks;
}

describe('ConfirmLedger', () => {
  it('nacks a publish of which a part was refused, when all its parts are answered, and acks the others', () => {
    const ledger = new ConfirmLedger(() => {});
    for (const parts of [1, 2, 1]) ledger.opened(parts);
    ledger.refused(2);
    ledger.completed(3);
    assert.deepEqual(flushed(ledger), [[3, false]]);
    ledger.completed(2);
    const nacks: number[] = [];
    ledger.flush(
      () => assert.fail('an ack'),
      (tag) => nacks.push(tag),
    );
    assert.deepEqual(nacks, [2]);
    ledger.completed(1);
    assert.deepEqual(flushed(ledger), [[3, true]]);
    assert.equal(ledger.outstanding, 0);
  });

  it('confirms a contiguous prefix with one ack', () => {
    const ledger = new ConfirmLedger(() => {});
    for (let i = 0; i < 5; i++) ledger.opened(1);
    for (const tag of [1, 2, 3]) ledger.completed(tag);
    assert.deepEqual(flushed(ledger), [[3, true]]);
    assert.equal(ledger.outstanding, 2);
  });

  it('confirms a single publish without multiple', () => {
    const ledger = new ConfirmLedger(() => {});
    ledger.opened(1);
    ledger.completed(1);
    assert.deepEqual(flushed(ledger), [[1, false]]);
    assert.deepEqual(flushed(ledger), []);
  });

  it('confirms what lies behind a gap one by one, and the gap later', () => {
    const ledger = new ConfirmLedger(() => {});
    for (let i = 0; i < 5; i++) ledger.opened(1);
    for (const tag of [1, 4, 3]) ledger.completed(tag);
    assert.deepEqual(flushed(ledger), [
      [1, false],
      [4, false],
      [3, false],
    ]);
    ledger.completed(2);
    assert.deepEqual(flushed(ledger), [[4, true]]);
  });

  it('waits for every part, and for none of an unroutable message', () => {
    const ledger = new ConfirmLedger(() => {});
    ledger.opened(2);
    ledger.opened(0);
    assert.deepEqual(flushed(ledger), [[2, false]]);
    ledger.completed(1);
    assert.deepEqual(flushed(ledger), []);
    ledger.completed(1);
    assert.deepEqual(flushed(ledger), [[2, true]]);
  });

  it('reports once that something is due, until it is flushed', () => {
    let due = 0;
    const ledger = new ConfirmLedger(() => due++);
    for (let i = 0; i < 3; i++) ledger.opened(1);
    ledger.completed(1);
    ledger.completed(2);
    assert.equal(due, 1);
    flushed(ledger);
    ledger.completed(3);
    assert.equal(due, 2);
  });

  it('confirms every publish, none early, in whatever order they complete', () => {
    const steps = fc.array(fc.record({ parts: fc.integer({ min: 0, max: 3 }), flush: fc.boolean(), pick: fc.nat() }), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const ledger = new ConfirmLedger(() => {});
        const missing = new Map<number, number>();
        const confirmed = new Set<number>();
        const refused = new Set<number>();
        const nacked = new Set<number>();
        let next = 1;
        const check = (): void => {
          ledger.flush(
            (tag, multiple) => {
              for (let t = multiple ? 1 : tag; t <= tag; t++) {
                assert.ok(!missing.has(t), `${t} was confirmed before it was complete`);
                assert.ok(!refused.has(t) || nacked.has(t), `${t} was confirmed though a part was refused`);
                confirmed.add(t);
              }
            },
            (tag) => {
              assert.ok(
                refused.has(tag) && !missing.has(tag) && !confirmed.has(tag) && !nacked.has(tag),
                `nack of ${tag}`,
              );
              nacked.add(tag);
            },
          );
        };
        for (const { parts, flush, pick } of list) {
          assert.equal(ledger.nextTag, next);
          if (parts > 0) missing.set(next, parts);
          ledger.opened(parts);
          next++;
          const open = [...missing.keys()];
          if (open.length > 0 && pick % 3 > 0) {
            const tag = open[pick % open.length]!;
            const left = missing.get(tag)! - 1;
            if (left === 0) missing.delete(tag);
            else missing.set(tag, left);
            if (pick % 5 === 0) {
              refused.add(tag);
              ledger.refused(tag);
            } else ledger.completed(tag);
          }
          if (flush) check();
        }
        for (const [tag, parts] of [...missing]) {
          missing.delete(tag);
          for (let i = 0; i < parts; i++) ledger.completed(tag);
        }
        check();
        assert.deepEqual(nacked, refused);
        assert.equal(new Set([...confirmed, ...nacked]).size, next - 1);
        assert.equal(ledger.outstanding, 0);
      }),
    );
  });
});
