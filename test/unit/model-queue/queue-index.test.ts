import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EntryState, PiecePool, QueueIndex } from '../../../src/model/queue/queue-index.js';

interface NaiveEntry {
  position: number;
  state: EntryState;
  holder: number;
  redelivered: boolean;
}

/** The same as an array, searched from the front. */
class NaiveIndex {
  entries: NaiveEntry[] = [];

  add(position: number): boolean {
    let at = this.entries.length;
    while (at > 0 && this.entries[at - 1]!.position >= position) at--;
    if (this.entries[at]?.position === position) return false;
    this.entries.splice(at, 0, { position, state: EntryState.ready, holder: 0, redelivered: false });
    return true;
  }
  find(position: number): NaiveEntry | undefined {
    return this.entries.find((entry) => entry.position === position);
  }
  nextReady(): NaiveEntry | undefined {
    return this.entries.find((entry) => entry.state === EntryState.ready);
  }
  count(state: EntryState): number {
    return this.entries.filter((entry) => entry.state === state).length;
  }
}

/** Runs the same operations on both and compares. Positions are spread, so that there is room in between. */
class Pair {
  readonly naive: NaiveIndex = new NaiveIndex();
  readonly index: QueueIndex;
  private back = 1_000_000;

  constructor(pool: PiecePool) {
    this.index = new QueueIndex(pool);
  }

  add(position: number): void {
    const added = this.index.add(
      position,
      position % 1000,
      position % 777,
      555 + (position % 555),
      position % 555,
      position % 2 === 0,
    );
    assert.equal(added, this.naive.add(position));
    this.back = Math.max(this.back, position);
  }
  append(count: number, step: number): void {
    for (let i = 0; i < count; i++) this.add(this.back + step);
  }
  /** A descending run that ends before the `at`-th entry, as a join inserts it. */
  backfill(at: number, count: number): void {
    const { entries } = this.naive;
    const from = entries.length === 0 ? this.back : entries[at % entries.length]!.position;
    for (let i = 1; i <= count && from - i > 0; i++) this.add(from - i);
  }
  scatter(seed: number, count: number): void {
    const first = this.naive.entries[0]?.position ?? this.back;
    for (let i = 0; i < count; i++) this.add(first + ((seed * (i + 1) * 7919) % (this.back - first + 10)));
  }

  deliver(count: number, holder: number): void {
    for (let i = 0; i < count; i++) {
      const expected = this.naive.nextReady();
      const entry = this.index.nextReady();
      assert.equal(entry?.position, expected?.position);
      if (entry === undefined || expected === undefined) return;
      assert.equal(entry.redelivered, expected.redelivered);
      this.index.deliver(entry, holder);
      expected.state = EntryState.delivered;
      expected.holder = holder;
    }
  }
  /** Does `change` to up to `count` entries in state `state`, every `step`-th, from the `from`-th on. */
  each(
    state: EntryState | undefined,
    from: number,
    step: number,
    count: number,
    change: (entry: NaiveEntry) => void,
  ): void {
    const entries = this.naive.entries.filter((entry) => state === undefined || entry.state === state);
    for (let i = from % (entries.length + 1), n = 0; i < entries.length && n < count; i += step, n++)
      change(entries[i]!);
  }
  hold(naive: NaiveEntry, holder: number): void {
    this.index.deliver(this.index.find(naive.position)!, holder);
    naive.state = EntryState.delivered;
    naive.holder = holder;
  }
  giveBack(naive: NaiveEntry, redelivered: boolean): void {
    this.index.giveBack(this.index.find(naive.position)!, redelivered);
    naive.state = EntryState.ready;
    naive.holder = 0;
    naive.redelivered ||= redelivered;
  }
  settle(naive: NaiveEntry): void {
    this.index.settle(this.index.find(naive.position)!);
    naive.state = EntryState.settling;
  }
  remove(naive: NaiveEntry): void {
    this.index.remove(this.index.find(naive.position)!);
    this.naive.entries.splice(this.naive.entries.indexOf(naive), 1);
    assert.equal(this.index.find(naive.position), undefined);
  }
  giveBackAllOf(holder: number): void {
    const mine = this.naive.entries.filter((e) => e.state === EntryState.delivered && e.holder === holder);
    const before = this.index.ready;
    // One piece at a time.
    for (let from = 0; from !== Number.POSITIVE_INFINITY; ) from = this.index.giveBackOf(holder, true, from, 1);
    assert.equal(this.index.ready - before, mine.length);
    for (const entry of mine) {
      entry.state = EntryState.ready;
      entry.holder = 0;
      entry.redelivered = true;
    }
  }
  reset(): void {
    this.index.resetVolatile();
    for (const entry of this.naive.entries) {
      entry.state = EntryState.ready;
      entry.holder = 0;
    }
  }
  dropFront(count: number): void {
    let dropped = 0;
    this.index.dropFront(count, (chunk) => {
      assert.equal(chunk, this.naive.entries.shift()!.position % 1000);
      dropped++;
    });
    assert.ok(dropped >= count || this.naive.entries.length === 0);
  }

  check(): void {
    const { index, naive } = this;
    assert.equal(index.size, naive.entries.length);
    assert.equal(index.ready, naive.count(EntryState.ready));
    assert.equal(index.delivered, naive.count(EntryState.delivered));
    const bytes = (of: NaiveEntry[]): number => of.reduce((sum, { position }) => sum + (position % 555), 0);
    assert.equal(index.bodyBytes, bytes(naive.entries));
    assert.equal(index.readyBytes, bytes(naive.entries.filter(({ state }) => state === EntryState.ready)));
    assert.equal(index.nextReady()?.position, naive.nextReady()?.position);
    for (const expected of naive.entries) {
      const entry = index.find(expected.position)!;
      assert.equal(entry.position, expected.position);
      assert.equal(entry.state, expected.state);
      assert.equal(entry.redelivered, expected.redelivered);
      assert.equal(entry.chunk, expected.position % 1000);
      assert.equal(entry.offset, expected.position % 777);
      assert.equal(entry.length, 555 + (expected.position % 555));
      assert.equal(entry.durable, expected.position % 2 === 0);
      if (expected.state === EntryState.delivered) assert.equal(entry.holder, expected.holder);
    }
    const positions = naive.entries.map((entry) => entry.position);
    assert.deepEqual(
      sliced(97, -1, (above, max) => index.positionsAscending(above, max)),
      positions,
    );
    assert.deepEqual(
      sliced(89, Infinity, (below, max) => index.positionsDescending(below, max)),
      positions.reverse(),
    );
  }
}

function sliced(max: number, start: number, next: (from: number, max: number) => number[]): number[] {
  const all: number[] = [];
  for (let from = start; ; from = all[all.length - 1]!) {
    const slice = next(from, max);
    if (slice.length === 0) return all;
    assert.ok(slice.length <= max);
    all.push(...slice);
  }
}

const small = fc.nat(2000);
const count = fc.oneof(fc.nat(5), fc.nat(60), fc.nat(700));
const step = fc.integer({ min: 1, max: 5 });
const holder = fc.integer({ min: 1, max: 3 });
const operation: fc.Arbitrary<(pair: Pair) => void> = fc.oneof(
  fc.tuple(count, step).map(
    ([n, s]) =>
      (pair: Pair) =>
        pair.append(n, s * 3),
  ),
  fc.tuple(small, count).map(
    ([at, n]) =>
      (pair: Pair) =>
        pair.backfill(at, n),
  ),
  fc.tuple(small, fc.nat(40)).map(
    ([seed, n]) =>
      (pair: Pair) =>
        pair.scatter(seed + 1, n),
  ),
  fc.tuple(count, holder).map(
    ([n, h]) =>
      (pair: Pair) =>
        pair.deliver(n, h),
  ),
  fc.tuple(small, step, fc.nat(20), holder).map(
    ([from, s, n, h]) =>
      (pair: Pair) =>
        pair.each(EntryState.ready, from, s, n, (e) => pair.hold(e, h)),
  ),
  fc.tuple(small, step, count, fc.boolean()).map(
    ([from, s, n, f]) =>
      (pair: Pair) =>
        pair.each(EntryState.delivered, from, s, n, (e) => pair.giveBack(e, f)),
  ),
  fc.tuple(small, step, count).map(
    ([from, s, n]) =>
      (pair: Pair) =>
        pair.each(EntryState.delivered, from, s, n, (e) => pair.settle(e)),
  ),
  fc.tuple(small, step, fc.nat(20)).map(
    ([from, s, n]) =>
      (pair: Pair) =>
        pair.each(EntryState.ready, from, s, n, (e) => pair.settle(e)),
  ),
  fc.tuple(small, step, count).map(
    ([from, s, n]) =>
      (pair: Pair) =>
        pair.each(EntryState.settling, from, s, n, (e) => pair.remove(e)),
  ),
  fc.tuple(fc.oneof(fc.constant(0), small), step, count).map(
    ([from, s, n]) =>
      (pair: Pair) =>
        pair.each(undefined, from, s, n, (e) => pair.remove(e)),
  ),
  holder.map((h) => (pair: Pair) => pair.giveBackAllOf(h)),
  fc.constant((pair: Pair) => pair.reset()),
  fc.nat(30).map((n) => (pair: Pair) => pair.dropFront(n)),
);

describe('QueueIndex', () => {
  test('does what an array of entries does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1), operation), { maxLength: 25 }), (operations) => {
        // Two queues that share a pool: pieces go from one to the other.
        const pool = new PiecePool(2);
        const pairs = [new Pair(pool), new Pair(pool)];
        for (const [which, run] of operations) {
          run(pairs[which]!);
          assert.equal(pairs[which]!.index.nextReady()?.position, pairs[which]!.naive.nextReady()?.position);
        }
        for (const pair of pairs) pair.check();
      }),
      { numRuns: 150 },
    );
  });

  test('costs less than 40 bytes a message, consumed halfway or backfilled from the back', () => {
    const index = new QueueIndex();
    for (let i = 0; i < 200_000; i++) index.add(i, 1, i, 100, 50, true);
    assert.ok(index.allocatedBytes / index.size < 26, 'appended');
    for (let i = 0; i < 100_000; i++) index.remove(index.find(i)!);
    assert.ok(index.allocatedBytes / index.size < 26, 'front consumed');
    const filled = new QueueIndex();
    for (let i = 200_000; i > 0; i--) filled.add(i, 1, i, 100, 50, true);
    assert.ok(filled.allocatedBytes / filled.size < 26, 'backfilled');
  });

  test('pieces that empty in the middle are merged', () => {
    const index = new QueueIndex();
    for (let i = 0; i < 100_000; i++) index.add(i, 1, i, 100, 50, true);
    for (let i = 0; i < 100_000; i++) if (i % 50 !== 0) index.remove(index.find(i)!);
    assert.equal(index.size, 2000);
    assert.ok(index.allocatedBytes < 2000 * 76 + 3 * 512 * 25);
    assert.deepEqual(index.positionsAscending(-1, 3), [0, 50, 100]);
  });

  test('100,000 queues that are empty or hold a message are small', () => {
    const index = new QueueIndex();
    for (let i = 0; i < 3000; i++) index.add(i, 1, i, 100, 50, true);
    for (let i = 0; i < 3000; i++) index.remove(index.find(i)!);
    assert.equal(index.allocatedBytes, 0);
    for (let i = 0; i < 5000; i++) {
      index.add(i, 1, i, 100, 50, true);
      index.remove(index.find(i)!);
    }
    assert.ok(index.allocatedBytes <= 32 * 25);
  });

  test('what is given back goes out before what was never delivered, smallest position first', () => {
    const index = new QueueIndex();
    for (let i = 1; i <= 10; i++) index.add(i, 1, i, 100, 50, true);
    for (let i = 1; i <= 6; i++) index.deliver(index.nextReady()!, 1);
    for (const position of [5, 2, 4]) index.giveBack(index.find(position)!, true);
    const order: number[] = [];
    for (let entry = index.nextReady(); entry !== undefined; entry = index.nextReady()) {
      order.push(entry.position);
      index.deliver(entry, 2);
    }
    assert.deepEqual(order, [2, 4, 5, 7, 8, 9, 10]);
  });

  test('positions up to 2^53 keep their order', () => {
    const index = new QueueIndex();
    const base = 2 ** 53 - 10;
    for (let i = 0; i < 8; i++) index.add(base + i, 1, i, 100, 50, true);
    index.deliver(index.nextReady()!, 1);
    assert.equal(index.nextReady()!.position, base + 1);
    assert.equal(index.find(base + 7)!.offset, 7);
  });
});
