import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LaneIndex } from '../../../src/model/queue/lane-index.js';
import { EntryState, PiecePool, QueueIndex } from '../../../src/model/queue/queue-index.js';

interface Message {
  position: number;
  priority: number;
  state: EntryState;
  flagged: boolean;
}

const top = 4;

/** The same operations on lanes and on an array. */
class Pair {
  readonly index = new LaneIndex(new PiecePool(2), top);
  readonly messages: Message[] = [];
  private last = 0;

  add(priority: number, step: number): void {
    const position = (this.last += step);
    assert.ok(this.index.add(position, 1, position, 100 + priority, priority, true, priority));
    assert.ok(!this.index.add(position, 1, position, 100 + priority, priority, true, priority));
    this.messages.push({ position, priority: Math.min(priority, top), state: EntryState.ready, flagged: false });
  }

  next(until = Number.POSITIVE_INFINITY, from = top): Message | undefined {
    const ready = this.messages.filter(
      ({ state, position, priority }) => state === EntryState.ready && position <= until && priority <= from,
    );
    return ready.sort((a, b) => b.priority - a.priority || a.position - b.position)[0];
  }

  deliver(): void {
    const entry = this.index.nextReady();
    const message = this.next();
    assert.equal(entry?.position, message?.position);
    if (message === undefined) return;
    this.index.deliver(entry!, 7);
    message.state = EntryState.delivered;
  }

  giveBack(which: number): void {
    const held = this.messages.filter(({ state }) => state === EntryState.delivered);
    const message = held[which % (held.length || 1)];
    if (message === undefined) return;
    this.index.giveBack(this.index.find(message.position)!, true);
    message.state = EntryState.ready;
    message.flagged = true;
  }

  giveBackAll(): void {
    for (let from = 0; from !== Number.POSITIVE_INFINITY; ) from = this.index.giveBackOf(7, true, from, 1);
    for (const message of this.messages) {
      if (message.state !== EntryState.delivered) continue;
      message.state = EntryState.ready;
      message.flagged = true;
    }
  }

  remove(which: number): void {
    const message = this.messages.splice(which % (this.messages.length || 1), 1)[0];
    if (message === undefined) return;
    this.index.remove(this.index.find(message.position)!);
    assert.equal(this.index.find(message.position), undefined);
  }

  check(): void {
    const { index, messages } = this;
    const of = (state: EntryState): Message[] => messages.filter((message) => message.state === state);
    assert.equal(index.size, messages.length);
    assert.equal(index.ready, of(EntryState.ready).length);
    assert.equal(index.delivered, of(EntryState.delivered).length);
    const positions = messages.map(({ position }) => position).sort((a, b) => a - b);
    assert.deepEqual([index.first, index.last], [positions[0] ?? Number.NaN, positions.at(-1) ?? Number.NaN]);
    assert.deepEqual(index.positionsAscending(-1, 1e6), positions);
    assert.deepEqual(index.positionsDescending(this.last + 1, 3), positions.toReversed().slice(0, 3));
    const until = positions[Math.floor(positions.length / 2)] ?? 0;
    assert.equal(index.nextReady(until)?.position, this.next(until)?.position);
    const ready = of(EntryState.ready).sort((a, b) => a.priority - b.priority || a.position - b.position);
    assert.equal(index.leastReady()?.position, ready[0]?.position);
    for (let level = -1; level <= top + 1; level++) {
      const below = this.next(Number.POSITIVE_INFINITY, level) ?? this.next();
      assert.equal(index.nextReadyFrom(level)?.position, below?.position);
    }
    const seen: number[] = [];
    for (let from = 0; from !== Number.POSITIVE_INFINITY; )
      from = index.handled(from, until, 1, (position, held, flagged) => {
        const message = messages.find((one) => one.position === position)!;
        assert.deepEqual([held, flagged], [message.state === EntryState.delivered, message.flagged]);
        seen.push(position);
      });
    const handled = messages.filter(({ state, flagged }) => state === EntryState.delivered || flagged);
    assert.deepEqual(
      seen.sort((a, b) => a - b),
      handled
        .map(({ position }) => position)
        .filter((position) => position <= until)
        .sort((a, b) => a - b),
    );
  }
}

const operation: fc.Arbitrary<(pair: Pair) => void> = fc.oneof(
  fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 3 })).map(
    ([priority, step]) =>
      (pair: Pair) =>
        pair.add(priority, step),
  ),
  fc.constant((pair: Pair) => pair.deliver()),
  fc.nat(50).map((which) => (pair: Pair) => pair.giveBack(which)),
  fc.nat(50).map((which) => (pair: Pair) => pair.remove(which)),
  fc.constant((pair: Pair) => pair.giveBackAll()),
);

describe('an index with priorities', () => {
  test('does what an array does that is sorted by priority, then by position', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
        const pair = new Pair();
        for (const run of operations) run(pair);
        pair.check();
      }),
      { numRuns: 300 },
    );
  });

  test('becomes one by position alone, or with fewer lanes, in steps', () => {
    for (const [into, order] of [
      [new QueueIndex(), [1, 2, 3, 4, 5, 6]],
      [new LaneIndex(new PiecePool(), 1), [2, 3, 5, 6, 1, 4]],
    ] as const) {
      const index = new LaneIndex(new PiecePool(), 255);
      for (const [i, priority] of [0, 9, 1, 0, 200, 9].entries()) index.add(i + 1, 3, i, 90, 50, true, priority);
      while (index.moveTo(into, 1));
      assert.equal(index.size, 0);
      assert.equal(into.bodyBytes, 300);
      const positions: number[] = [];
      for (let entry = into.nextReady(); entry !== undefined; entry = into.nextReady()) {
        positions.push(entry.position);
        into.settle(entry);
      }
      assert.deepEqual(positions, order);
    }
  });
});
