import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Outcome, Unacked } from '../../../src/model/unacked.js';
import type { Holder, SettlementOwner } from '../../../src/model/broker.js';

/** Notes what it is told. */
class Notes implements Holder {
  readonly acked: number[] = [];
  readonly requeued: number[] = [];
  readonly rejected: number[] = [];
  ack(position: number): void {
    this.acked.push(position);
  }
  requeue(position: number): void {
    this.requeued.push(position);
  }
  reject(position: number): void {
    this.rejected.push(position);
  }
  release(): void {
    assert.fail('a client cannot release');
  }
  readonly putBacks: number[] = [];
  putBack(position: number): void {
    this.putBacks.push(position);
  }
  modify(): void {
    assert.fail('Unacked does not modify');
  }
  settleTold(position: number, rejects: boolean, owner: SettlementOwner, tag: number): void {
    (rejects ? this.rejected : this.acked).push(position);
    owner.settlementSafe(tag);
  }
}

describe('Unacked', () => {
  it('settles one, many and all', () => {
    const notes = new Notes();
    const unacked = new Unacked();
    for (let tag = 1; tag <= 6; tag++) unacked.push(tag, tag * 10, notes, null);
    assert.ok(unacked.settle(4, false, Outcome.ack));
    assert.ok(unacked.settle(3, true, Outcome.requeue));
    assert.ok(unacked.settle(0, true, Outcome.reject));
    assert.deepEqual(notes.acked, [40]);
    assert.deepEqual(notes.requeued, [10, 20, 30]);
    assert.deepEqual(notes.rejected, [50, 60]);
    assert.equal(unacked.size, 0);
  });

  it('knows which tags are not outstanding', () => {
    const unacked = new Unacked();
    assert.ok(!unacked.settle(1, false, Outcome.ack));
    assert.ok(!unacked.settle(0, false, Outcome.ack));
    assert.ok(unacked.settle(0, true, Outcome.ack));
    unacked.push(5, 1, new Notes(), null);
    unacked.push(9, 2, new Notes(), null);
    for (const tag of [0, 4, 6, 8, 10, 2 ** 60]) assert.ok(!unacked.settle(tag, false, Outcome.ack), `${tag}`);
    assert.ok(!unacked.settle(7, true, Outcome.ack));
    assert.ok(unacked.settle(9, false, Outcome.ack));
    assert.ok(!unacked.settle(9, false, Outcome.ack), 'twice');
    assert.equal(unacked.size, 1);
  });

  it('does not grow while one message is held and thousands pass behind it', () => {
    const unacked = new Unacked();
    const notes = new Notes();
    unacked.push(1, 1, notes, null);
    for (let tag = 2; tag < 100_000; tag++) {
      unacked.push(tag, tag, notes, null);
      assert.ok(unacked.settle(tag, false, Outcome.ack));
    }
    assert.ok((unacked as unknown as { mask: number }).mask <= 63);
    assert.ok(unacked.settle(1, false, Outcome.ack));
  });

  it('agrees with a plain list, whatever is settled in whatever order', () => {
    const step = fc.record({
      push: fc.boolean(),
      gap: fc.integer({ min: 1, max: 3 }),
      pick: fc.nat(),
      multiple: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 500 }), (steps) => {
        const unacked = new Unacked();
        const notes = new Notes();
        let expected: number[] = [];
        const settled: number[] = [];
        let tag = 0;
        for (const { push, gap, pick, multiple } of steps) {
          if (push) {
            tag += gap;
            unacked.push(tag, tag, notes, null);
            expected.push(tag);
            continue;
          }
          const wanted = pick % (tag + 2);
          const known = expected.includes(wanted) || (wanted === 0 && multiple);
          assert.equal(unacked.settle(wanted, multiple, Outcome.ack), known);
          if (!known) continue;
          const gone = expected.filter((t) => t === wanted || (multiple && (wanted === 0 || t < wanted)));
          settled.push(...gone);
          expected = expected.filter((t) => !gone.includes(t));
        }
        assert.deepEqual(notes.acked, settled);
        const held: number[] = [];
        unacked.forEach((_holder, position) => held.push(position));
        assert.deepEqual(held, expected);
        assert.equal(unacked.size, expected.length);
      }),
    );
  });

  it("settles ranges, and takes out what is one recipient's, as a plain list does", () => {
    const step = fc.record({
      push: fc.boolean(),
      gap: fc.integer({ min: 1, max: 3 }),
      from: fc.nat(),
      count: fc.nat(20),
      mine: fc.boolean(),
    });
    const recipients = [{ settled(): void {} }, { settled(): void {} }] as const;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const unacked = new Unacked();
        const notes = new Notes();
        let expected: { tag: number; mine: boolean }[] = [];
        const settled: number[] = [];
        let tag = 0;
        for (const { push, gap, from, count, mine } of steps) {
          if (push) {
            tag += gap;
            unacked.push(tag, tag, notes, recipients[mine ? 1 : 0]);
            expected.push({ tag, mine });
            continue;
          }
          const first = from % (tag + 2);
          const isIn = (one: number): boolean => one >= first && one <= first + count;
          const gone = expected.filter((one) => isIn(one.tag));
          assert.equal(unacked.settleRange(first, first + count, Outcome.ack), gone.length);
          settled.push(...gone.map((one) => one.tag));
          expected = expected.filter((one) => !isIn(one.tag));
        }
        assert.deepEqual(notes.acked, settled);
        const taken: number[] = [];
        unacked.takeAllOf(recipients[1], (_holder, position) => taken.push(position));
        assert.deepEqual(
          taken,
          expected.filter(({ mine }) => mine).map((one) => one.tag),
        );
        const held: number[] = [];
        unacked.forEach((_holder, position) => held.push(position));
        assert.deepEqual(
          held,
          expected.filter(({ mine }) => !mine).map((one) => one.tag),
        );
      }),
    );
  });
});
