import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfirmRing } from '../../../src/cluster/client/confirm-ring.js';
import { HeldConfirms } from '../../../src/cluster/client/held-confirms.js';
import { ManualClock } from '../../fakes/manual-clock.js';
import { Settlement, SettlementRing } from '../../../src/cluster/client/settlement-ring.js';

class Owner {
  readonly tags: number[] = [];
  completed(tag: number): void {
    this.tags.push(tag);
  }
  refused(tag: number): void {
    this.tags.push(-tag);
  }
}

function entries(ring: SettlementRing): [Settlement, number, number][] {
  const list: [Settlement, number, number][] = [];
  for (let n = ring.sent; n < ring.end; n++) list.push([ring.kind(n), ring.incarnation(n), ring.position(n)]);
  return list;
}

describe('confirm ring', () => {
  it('tells owners in order, also when it grew and when they publish from within', () => {
    const ring = new ConfirmRing(new HeldConfirms(new ManualClock()), 4);
    const first = new Owner();
    const second = {
      told: 0,
      completed(): void {
        this.told++;
        ring.push(first, 100, undefined);
      },
      refused(): void {},
    };
    for (let tag = 0; tag < 10; tag++) ring.push(first, tag, undefined);
    ring.push(second, 0, undefined);
    ring.confirmTo(3, 1);
    assert.deepEqual(first.tags, [0, 1, 2]);
    ring.confirmTo(11, 1);
    assert.deepEqual(first.tags, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(second.told, 1);
    assert.equal(ring.outstanding, 1);
    ring.confirmTo(50, 1);
    assert.deepEqual(first.tags.slice(10), [100]);
    assert.equal(ring.confirmed, 12);
  });

  it('tells nobody of the publishes of an owner that is gone', () => {
    const ring = new ConfirmRing(new HeldConfirms(new ManualClock()));
    const [gone, stays] = [new Owner(), new Owner()];
    ring.push(gone, 1, undefined);
    ring.push(stays, 2, undefined);
    ring.forget(gone);
    ring.confirmTo(2, 1);
    assert.deepEqual([gone.tags, stays.tags], [[], [2]]);
  });
});

describe('settlement ring', () => {
  it('keeps what is not answered and tells it again, in order', () => {
    const ring = new SettlementRing(4);
    for (let position = 1; position <= 9; position++) ring.push(Settlement.ack, 3, position);
    ring.sent = 7;
    ring.settled(4);
    ring.restart(
      ring.end,
      () => {},
      () => true,
    );
    assert.deepEqual(
      entries(ring).map(([, , position]) => position),
      [5, 6, 7, 8, 9],
    );
    ring.sent = ring.end;
    ring.settled(2);
    ring.restart(
      ring.end,
      () => {},
      () => true,
    );
    assert.deepEqual(
      entries(ring).map(([, , position]) => position),
      [7, 8, 9],
    );
  });

  it('leaves out what goes back to its queue, of which it tells, newest first', () => {
    const ring = new SettlementRing();
    ring.push(Settlement.requeue, 3, 1);
    ring.push(Settlement.ack, 3, 2);
    ring.push(Settlement.release, 3, 1);
    ring.push(Settlement.reject, 3, 4);
    const returned: number[][] = [];
    ring.restart(
      ring.end,
      () => {},
      (...what) => returned.push(what) > 0,
    );
    assert.deepEqual(returned, [
      [Settlement.release, 3, 1],
      [Settlement.requeue, 3, 1],
    ]);
    assert.deepEqual(entries(ring), [
      [Settlement.ack, 3, 2],
      [Settlement.reject, 3, 4],
    ]);
  });

  it('keeps what a client has noted with what goes back, unless it has that again', () => {
    const ring = new SettlementRing(4);
    const notes = [1, 2, 3].map((n) => ({ isCounted: n === 2, annotations: Uint8Array.of(n) }));
    ring.push(Settlement.putBack, 3, 9);
    for (const [i, modification] of notes.entries()) ring.pushModify(3, i + 1, modification);
    ring.restart(
      ring.end,
      () => {},
      (kind, _, position) => kind === Settlement.putBack || position === 2,
    );
    assert.deepEqual(entries(ring), [
      [Settlement.modify, 3, 1],
      [Settlement.modify, 3, 3],
    ]);
    assert.deepEqual([ring.modification(ring.answered), ring.modification(ring.answered + 1)], [notes[0], notes[2]]);
  });

  it('tells owners what is answered, once, however often it is told again', () => {
    const ring = new SettlementRing(4);
    const told: number[] = [];
    const owner = { settlementSafe: (tag: number) => void told.push(tag) };
    ring.push(Settlement.requeue, 3, 1);
    for (let tag = 10; tag < 20; tag++) ring.push(Settlement.ack, 3, tag, tag % 2 === 0 ? owner : undefined, tag);
    ring.sent = ring.end;
    ring.settled(2);
    assert.deepEqual(told, [10]);
    ring.push(Settlement.release, 3, 1);
    ring.push(Settlement.reject, 3, 20, owner, 20);
    ring.restart(
      ring.end,
      () => {},
      () => true,
    );
    ring.sent = ring.end;
    ring.settled(9);
    assert.deepEqual(told, [10, 12, 14, 16, 18]);
    ring.settled(10);
    assert.deepEqual(told, [10, 12, 14, 16, 18, 20]);
    ring.push(Settlement.ack, 3, 21, owner, 21);
    ring.clear();
    assert.equal(told.at(-1), 21);
  });

  it('counts no more answers than it has told', () => {
    const ring = new SettlementRing();
    ring.push(Settlement.ack, 3, 1);
    ring.settled(5);
    assert.equal(ring.answered, 0);
  });
});
