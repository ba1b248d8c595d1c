import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { fullSlices } from '../../../src/base/slices.js';
import type { Chunk } from '../../../src/log/chunk.js';
import { epochStart, type Lsn } from '../../../src/log/lsn.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import {
  EnqueueView,
  encodeDequeue,
  encodeEnqueue,
  enqueueLength,
  RecordFlag,
  setLsn,
} from '../../../src/log/record.js';
import { GroupRecovery } from '../../../src/model/group-recovery.js';
import { GroupState } from '../../../src/model/group-state.js';
import { messageParts, TestChunks } from './support.js';

/** Chunks, a state, and a way to write records anywhere. */
class Bench {
  readonly chunks: TestChunks = new TestChunks();
  readonly later: (() => void)[] = [];
  readonly state: GroupState;
  private chunk: Chunk;
  private offset = 0;

  constructor(permanent: number[] = []) {
    this.state = new GroupState(
      1,
      this.chunks,
      fullSlices((run) => this.later.push(run)),
      permanent,
    );
    this.chunk = this.chunks.open(1, 0);
  }

  /** Writes a copy of the record; its chunk stays pinned. */
  write(record: Uint8Array): { chunk: Chunk; offset: number } {
    if (this.offset + record.length > this.chunk.capacity) {
      this.chunk = this.chunks.open(1, 0);
      this.offset = 0;
    }
    const at = { chunk: this.chunk, offset: this.offset };
    this.chunk.bytes!.set(record, this.offset);
    this.offset += record.length;
    return at;
  }

  apply(record: Uint8Array): { chunk: Chunk; offset: number } {
    const at = this.write(record);
    this.state.apply(at.chunk, at.offset);
    return at;
  }

  runLater(): void {
    for (let run = this.later.shift(); run !== undefined; run = this.later.shift()) run();
  }

  /** What the state holds: positions of each queue. */
  content(): [Lsn, Lsn[]][] {
    const content: [Lsn, Lsn[]][] = [];
    for (const { incarnation, index } of this.state.allQueues())
      content.push([incarnation, index.positionsAscending(-1, 1_000_000)]);
    return content.sort((a, b) => a[0] - b[0]);
  }

  /** Entries and open records that ought to be retained. */
  referencesExpected(): number {
    let count = 0;
    for (const { index, openChunk } of this.state.allQueues()) count += index.size + (openChunk >= 0 ? 1 : 0);
    return count;
  }
}

function withLsn(record: Uint8Array, lsn: Lsn): Uint8Array {
  setLsn(new DataView(record.buffer), 0, lsn);
  return record;
}

function enqueue(lsn: Lsn, incarnations: Lsn[], durable = true, boot = 0, sequence = 0): Uint8Array {
  const parts = messageParts(`m${lsn}`);
  const record = new Uint8Array(enqueueLength(parts, incarnations.length));
  encodeEnqueue(record, new DataView(record.buffer), 0, parts, incarnations, durable, boot, sequence);
  return withLsn(record, lsn);
}

function dequeue(lsn: Lsn, incarnation: Lsn, positions: Lsn[], durable = true): Uint8Array {
  const record = new Uint8Array(40 + positions.length * 8);
  const length = encodeDequeue(
    record,
    new DataView(record.buffer),
    0,
    incarnation,
    positions,
    positions.length,
    durable,
  );
  return withLsn(record.slice(0, length), lsn);
}

function open(lsn: Lsn, incarnation: Lsn, durable = true): Uint8Array {
  return withLsn(encodeOpen(incarnation, incarnation, { durable }), lsn);
}

function drop(lsn: Lsn, incarnation: Lsn): Uint8Array {
  return withLsn(encodeDrop(incarnation, lsn), lsn);
}

/** A log such as a primary writes: incarnations 10, 20, 30 come and go; some messages go to several queues. */
const randomLog: fc.Arbitrary<Uint8Array[]> = fc
  .array(fc.tuple(fc.nat(9), fc.nat(), fc.boolean()), { maxLength: 120 })
  .map((steps) => {
    const records: Uint8Array[] = [];
    const queues = new Map<Lsn, Lsn[]>();
    const gone = new Set<Lsn>();
    let lsn = epochStart(3);
    for (const [kind, value, durable] of steps) {
      const incarnation = [10, 20, 30, 40][value % 4]!;
      const messages = queues.get(incarnation);
      lsn++;
      if (messages === undefined) {
        if (gone.has(incarnation)) continue;
        // Queue 40 is not durable.
        queues.set(incarnation, []);
        records.push(open(lsn, incarnation, incarnation !== 40));
      } else if (kind < 5) {
        const targets = [
          incarnation,
          ...[...queues.keys()].filter((other, i) => other !== incarnation && (value >> i) % 3 === 0),
        ];
        if (value % 7 === 0) targets.push(0);
        for (const target of targets) queues.get(target)?.push(lsn);
        records.push(enqueue(lsn, targets, durable, 5 + (value % 2), lsn - epochStart(3)));
      } else if (kind < 9 && messages.length > 0) {
        const taken = messages.splice(value % messages.length, 1 + (value % 3));
        records.push(dequeue(lsn, incarnation, taken, durable || value % 2 === 0));
      } else if (kind === 9 && value % 3 === 0) {
        queues.delete(incarnation);
        gone.add(incarnation);
        records.push(drop(lsn, incarnation));
      }
    }
    return records;
  });

/** What of a log must be there after a restart: durable records only, in durable queues. */
function durableContent(records: Uint8Array[]): [Lsn, Lsn[]][] {
  const bench = new Bench();
  for (const record of records) if ((record[5]! & RecordFlag.durable) !== 0) bench.apply(record);
  // A queue that is not durable comes back empty.
  return bench
    .content()
    .map(([queue, positions]) => [queue, bench.state.queue(queue)!.options.durable ? positions : []]);
}

describe('GroupState', () => {
  test('applies enqueue, dequeue, open and drop, and keeps as many references as it has entries', () => {
    const bench = new Bench();
    const { state } = bench;
    bench.apply(open(1, 10));
    bench.apply(open(2, 20));
    bench.apply(enqueue(3, [10, 20], true, 7, 1));
    bench.apply(enqueue(4, [20, 0, 99], true, 7, 2));
    assert.deepEqual(bench.content(), [
      [10, [3]],
      [20, [3, 4]],
    ]);
    assert.equal(state.chunks.byId(1).live, bench.referencesExpected());
    assert.deepEqual(state.publishers.list(), [[7, 2]]);
    assert.equal(state.applied, 4);
    assert.equal(state.wiringVersion, 20);
    bench.apply(dequeue(5, 20, [3, 4]));
    bench.apply(dequeue(6, 20, [3, 4]));
    bench.apply(drop(7, 10));
    assert.deepEqual(bench.content(), [[20, []]]);
    assert.equal(state.wiringVersion, 20);
    bench.apply(drop(30, 20));
    assert.equal(state.wiringVersion, 30);
    assert.equal(bench.chunks.live, 0);
  });

  test('tells observers of every change, in order', () => {
    const bench = new Bench();
    const seen: string[] = [];
    const view = new EnqueueView();
    bench.state.observers.push({
      opened: (queue) => seen.push(`opened ${queue.incarnation}`),
      enqueued: (queue, position, chunk, offset) =>
        seen.push(
          `enqueued ${queue.incarnation} ${position} ${view.set(chunk.bytes!, chunk.view!, offset).bodyLength}`,
        ),
      dequeued: (queue, position) => seen.push(`dequeued ${queue.incarnation} ${position}`),
      dropped: (queue) => seen.push(`dropped ${queue.incarnation}`),
    });
    bench.apply(open(1, 10));
    bench.apply(enqueue(2, [10]));
    bench.apply(enqueue(3, [10]));
    bench.apply(dequeue(4, 10, [2]));
    bench.apply(drop(5, 10));
    assert.deepEqual(seen, ['opened 10', 'enqueued 10 2 2', 'enqueued 10 3 2', 'dequeued 10 2', 'dropped 10']);
  });

  test('a permanent queue needs no open', () => {
    const bench = new Bench([1]);
    bench.apply(enqueue(5, [1]));
    assert.deepEqual(bench.content(), [[1, [5]]]);
    const restarted = new Bench([1]);
    const recovery = new GroupRecovery(restarted.state);
    const at = restarted.write(enqueue(5, [1]));
    recovery.record(at.chunk, at.offset, 5);
    recovery.finish(() => {});
    assert.deepEqual(restarted.content(), [[1, [5]]]);
  });

  test('a dequeue is durable only where message and queue are', () => {
    const bench = new Bench();
    bench.apply(open(1, 10, true));
    bench.apply(open(2, 20, false));
    bench.apply(enqueue(3, [10, 20], true));
    bench.apply(enqueue(4, [10, 20], false));
    const durable = (incarnation: Lsn, position: Lsn) => bench.state.queue(incarnation)!.index.find(position)!.durable;
    assert.deepEqual([durable(10, 3), durable(20, 3), durable(10, 4), durable(20, 4)], [true, false, false, false]);
  });

  test('a queue of a million messages is dropped in slices', () => {
    const bench = new Bench();
    const { state } = bench;
    const at = bench.apply(open(1, 10));
    const { index } = state.queue(10)!;
    for (let i = 0; i < 1_000_000; i++) index.add(i + 2, at.chunk.id, 0, 100, 50, true, 0);
    at.chunk.live += 1_000_000;
    at.chunk.liveBytes += 100_000_000;
    let turns = 0;
    let most = 0;
    const step = (run: () => void): void => {
      const before = at.chunk.live;
      run();
      most = Math.max(most, before - at.chunk.live);
      turns++;
    };
    step(() => bench.apply(drop(2, 10)));
    assert.equal(state.queue(10), undefined);
    while (bench.later.length > 0) step(bench.later.shift()!);
    assert.equal(at.chunk.live, 0);
    assert.ok(most <= 17_000, `${most} in one turn`);
    assert.ok(turns > 50);
  });
});

describe('GroupState for the journal', () => {
  test('a record is live while a queue refers to it, and moves with all that do', () => {
    const bench = new Bench();
    const { state } = bench;
    const opened = bench.apply(open(1, 10));
    bench.apply(open(2, 20));
    const message = bench.apply(enqueue(3, [10, 20]));
    const copy = bench.write(enqueue(3, [10, 20]));
    const openCopy = bench.write(open(1, 10));
    assert.equal(state.isLive(message.chunk, message.offset), true);
    assert.equal(state.isLive(copy.chunk, copy.offset), false);
    assert.equal(state.moved(message.chunk, message.offset, copy.chunk, copy.offset), true);
    assert.equal(state.isLive(message.chunk, message.offset), false);
    assert.equal(state.isLive(copy.chunk, copy.offset), true);
    assert.equal(state.queue(20)!.index.find(3)!.offset, copy.offset);
    assert.equal(state.moved(opened.chunk, opened.offset, openCopy.chunk, openCopy.offset), true);
    assert.equal(state.isLive(opened.chunk, opened.offset), false);
    assert.equal(state.isLive(openCopy.chunk, openCopy.offset), true);
    assert.equal(bench.chunks.live, bench.referencesExpected());
    bench.apply(dequeue(4, 10, [3]));
    assert.equal(state.isLive(copy.chunk, copy.offset), true);
    bench.apply(dequeue(5, 20, [3]));
    assert.equal(state.isLive(copy.chunk, copy.offset), false);
    assert.equal(state.moved(copy.chunk, copy.offset, message.chunk, message.offset), false);
    bench.apply(drop(6, 10));
    assert.equal(state.isLive(openCopy.chunk, openCopy.offset), false);
  });
});

describe('GroupState for joins', () => {
  test('a copy names only the queues that still have the message, and brings a joiner what it lacks', () => {
    const primary = new Bench();
    const joiner = new Bench();
    for (const bench of [primary, joiner]) {
      bench.apply(open(1, 10));
      bench.apply(open(2, 20));
    }
    const places = new Map<Lsn, { chunk: Chunk; offset: number }>();
    for (let lsn = 3; lsn < 3000; lsn++) places.set(lsn, primary.apply(enqueue(lsn, lsn % 2 === 0 ? [10, 20] : [20])));
    for (let lsn = 4; lsn < 3000; lsn += 4) primary.apply(dequeue(3000 + lsn, 10, [lsn]));
    const seen: Lsn[] = [];
    for (let below = Infinity; ; ) {
      const slice = primary.state.positionsDescending(20, below, 100);
      if (slice.length === 0) break;
      below = slice[slice.length - 1]!;
      seen.push(...slice);
      for (const position of slice) {
        const place = places.get(position)!;
        const copy = joiner.write(primary.state.copyRecord(place.chunk, place.offset)!);
        joiner.state.insertCopy(copy.chunk, copy.offset);
        joiner.state.insertCopy(copy.chunk, copy.offset);
      }
    }
    assert.equal(seen.length, 2997);
    assert.deepEqual(joiner.content(), primary.content());
    assert.equal(joiner.chunks.live, joiner.referencesExpected());
    joiner.state.remove(20, [3, 4, 5, 77_777]);
    assert.equal(joiner.state.queue(20)!.index.size, 2994);
    joiner.state.dropQueue(10);
    joiner.state.dropQueue(20);
    joiner.runLater();
    assert.equal(joiner.chunks.live, 0);
  });

  test('nothing is copied that nobody has any more', () => {
    const bench = new Bench();
    bench.apply(open(1, 10));
    const message = bench.apply(enqueue(2, [10]));
    bench.apply(dequeue(3, 10, [2]));
    assert.equal(bench.state.copyRecord(message.chunk, message.offset), undefined);
  });

  test('a joiner that gets an open copy has the queue, once', () => {
    const bench = new Bench();
    const copy = bench.write(open(5, 10));
    bench.state.insertCopy(copy.chunk, copy.offset);
    bench.state.insertCopy(copy.chunk, copy.offset);
    assert.equal(bench.state.wiringVersion, 10);
    assert.equal(bench.chunks.live, 1);
  });
});

describe('GroupRecovery', () => {
  test('gives the same state from records in any order, copies included', () => {
    fc.assert(
      fc.property(randomLog, fc.infiniteStream(fc.nat(1_000_000)), (records, random) => {
        const numbers = random[Symbol.iterator]();
        const next = (below: number): number => (numbers.next().value as number) % below;
        const found = [...records, ...records.filter(() => next(4) === 0)];
        for (let i = found.length - 1; i > 0; i--) {
          const j = next(i + 1);
          [found[i], found[j]] = [found[j]!, found[i]!];
        }
        const bench = new Bench();
        const recovery = new GroupRecovery(bench.state);
        for (const record of found) {
          const at = bench.write(record);
          recovery.record(at.chunk, at.offset, at.chunk.view!.getFloat64(at.offset + 8, true));
        }
        let done = 0;
        recovery.finish(() => done++);
        bench.runLater();
        assert.equal(done, 1);
        assert.deepEqual(bench.content(), durableContent(records));
        assert.equal(bench.chunks.live, bench.referencesExpected());
      }),
      { numRuns: 300 },
    );
  });

  test('a queue that was dropped and opened again has what came after, in whatever order it is found', () => {
    const records = [open(1, 10), enqueue(2, [10]), drop(5, 10), open(6, 10), enqueue(7, [10]), enqueue(3, [10])];
    // The last one is a copy that was there as of 8.
    const asOfs = [1, 2, 5, 6, 7, 8];
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), (order) => {
        const bench = new Bench();
        const recovery = new GroupRecovery(bench.state);
        for (const i of order) {
          const at = bench.write(records[i]!);
          recovery.record(at.chunk, at.offset, at.chunk.view!.getFloat64(at.offset + 8, true), asOfs[i]);
        }
        recovery.finish(() => {});
        bench.runLater();
        assert.deepEqual(bench.state.positionsDescending(10, 100, 10), [7, 3]);
        assert.equal(bench.chunks.live, bench.referencesExpected());
      }),
      { numRuns: 720 },
    );
  });

  test('takes publishers, wiring version and applied lsn from meta data and records', () => {
    const bench = new Bench();
    const recovery = new GroupRecovery(bench.state);
    recovery.meta({
      record: '',
      epoch: 2,
      joining: false,
      voids: [],
      publishers: [
        [4, 100],
        [5, 7],
      ],
      wiringVersion: 50,
      applied: 30,
    });
    for (const record of [open(40, 60), enqueue(41, [60], true, 5, 9)]) {
      const at = bench.write(record);
      recovery.record(at.chunk, at.offset, at.chunk.view!.getFloat64(at.offset + 8, true));
    }
    recovery.finish(() => {});
    assert.deepEqual(bench.state.publishers.list(), [
      [4, 100],
      [5, 9],
    ]);
    assert.equal(bench.state.wiringVersion, 60);
    assert.equal(bench.state.applied, 41);
  });

  test('the end is worked off in slices', () => {
    const bench = new Bench();
    const recovery = new GroupRecovery(bench.state);
    const opened = bench.write(open(1, 10));
    recovery.record(opened.chunk, opened.offset, 1);
    for (let first = 0; first < 100_000; first += 4000) {
      const at = bench.write(
        dequeue(
          200_000 + first,
          10,
          Array.from({ length: 4000 }, (_, i) => first + i + 2),
        ),
      );
      recovery.record(at.chunk, at.offset, 200_000 + first);
    }
    let done = false;
    recovery.finish(() => {
      done = true;
    });
    let turns = 0;
    for (let run = bench.later.shift(); run !== undefined; run = bench.later.shift(), turns++) run();
    assert.ok(done);
    assert.ok(turns >= 5);
  });
});
