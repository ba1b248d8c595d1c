/** Recovery of much: what it costs, in memory and in turns of the event loop. Its order of records: group-state.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { fullSlices } from '../../../src/base/slices.js';
import type { Chunk } from '../../../src/log/chunk.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import { encodeDequeue, encodeEnqueue, dequeueLengthMax, enqueueLength, setLsn } from '../../../src/log/record.js';
import { GroupRecovery } from '../../../src/model/group-recovery.js';
import { GroupState } from '../../../src/model/group-state.js';
import { messageParts, TestChunks } from './support.js';

const queue: Lsn = 10;
const other: Lsn = 11;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function withLsn(record: Uint8Array, lsn: Lsn): Uint8Array {
  setLsn(new DataView(record.buffer), 0, lsn);
  return record;
}

function enqueue(lsn: Lsn, incarnations: Lsn[] = [queue]): Uint8Array {
  const parts = messageParts('');
  const record = new Uint8Array(enqueueLength(parts, incarnations.length));
  encodeEnqueue(record, new DataView(record.buffer), 0, parts, incarnations, true, 0, 0);
  return withLsn(record, lsn);
}

function dequeue(lsn: Lsn, positions: Lsn[], incarnation: Lsn = queue): Uint8Array {
  const record = new Uint8Array(dequeueLengthMax(positions.length));
  const view = new DataView(record.buffer);
  const length = encodeDequeue(record, view, 0, incarnation, positions, positions.length, true);
  return withLsn(record.slice(0, length), lsn);
}

function open(lsn: Lsn, incarnation: Lsn = queue, durable = true): Uint8Array {
  return withLsn(encodeOpen(incarnation, 1, { durable }), lsn);
}

function drop(lsn: Lsn, incarnation: Lsn = queue): Uint8Array {
  return withLsn(encodeDrop(incarnation, 1), lsn);
}

/** A recovery, and what it does in later turns. */
class Bench {
  readonly chunks: TestChunks = new TestChunks();
  readonly later: (() => void)[] = [];
  readonly state: GroupState = new GroupState(
    1,
    this.chunks,
    fullSlices((run) => this.later.push(run)),
  );
  readonly recovery: GroupRecovery = new GroupRecovery(this.state);
  private chunk: Chunk = this.chunks.open(1, 0);
  private offset = 0;

  find(record: Uint8Array, asOf?: Lsn): void {
    const [chunk, offset] = this.write(record);
    const lsn = chunk.view!.getFloat64(offset + 8, true);
    this.recovery.record(chunk, offset, lsn, asOf ?? lsn);
  }

  write(record: Uint8Array): [Chunk, number] {
    if (this.offset + record.length > this.chunk.capacity) {
      this.chunks.unpin(this.chunk);
      this.chunk = this.chunks.open(1, 0);
      this.offset = 0;
    }
    const { chunk, offset } = this;
    chunk.bytes!.set(record, offset);
    this.offset += record.length;
    return [chunk, offset];
  }

  /** Ends the recovery; returns the turns that it took, and the most entries that went in one of them. */
  finish(): { turns: number; removedMax: number } {
    let done = false;
    let turns = 1;
    let removedMax = 0;
    let left = this.size;
    const look = (): void => {
      removedMax = Math.max(removedMax, left - this.size);
      left = this.size;
    };
    this.recovery.finish(() => {
      done = true;
    });
    look();
    for (let run = this.later.shift(); run !== undefined; run = this.later.shift(), turns++) {
      run();
      look();
    }
    assert.ok(done);
    return { turns, removedMax };
  }

  get size(): number {
    let size = 0;
    for (const { index } of this.state.allQueues()) size += index.size;
    return size;
  }

  positions(incarnation: Lsn = queue): Lsn[] {
    return this.state.positionsDescending(incarnation, Number.POSITIVE_INFINITY, 1_000_000).reverse();
  }
}

describe('a big recovery', () => {
  test('remembers of a copied message nothing but its index entry', () => {
    const bench = new Bench();
    const count = 200_000;
    const record = enqueue(0);
    bench.find(open(1));
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < count; i++) bench.find(withLsn(record, i + 2), count + 1000 + Math.floor(i / 1000));
    collectGarbage();
    const bytes = (process.memoryUsage().heapUsed - before) / count;
    assert.ok(bytes < 10, `${bytes} bytes of heap for each message`);
    assert.equal(bench.positions().length, count);
  });

  test('takes what is older than a drop out of a queue that was opened again, in slices', () => {
    const bench = new Bench();
    const count = 100_000;
    bench.find(open(count + 10));
    for (let i = 0; i < count; i++) bench.find(enqueue(i + 2));
    bench.find(enqueue(count + 11));
    bench.find(enqueue(1), count + 12);
    bench.find(drop(count + 5));
    assert.equal(bench.size, count + 2, 'the drop itself looks at no message');
    const { removedMax } = bench.finish();
    assert.ok(removedMax <= 20_000, `${removedMax} messages in one turn`);
    assert.deepEqual(bench.positions(), [1, count + 11]);
    assert.equal(bench.chunks.live, 3);
  });

  test('empties a queue that is not durable in slices', () => {
    const bench = new Bench();
    const count = 100_000;
    bench.find(open(1));
    bench.find(open(2, other, false));
    for (let i = 0; i < count; i++) bench.find(enqueue(i + 3, [queue, other]));
    const { removedMax } = bench.finish();
    assert.ok(removedMax <= 20_000, `${removedMax} messages in one turn`);
    assert.equal(bench.positions().length, count);
    assert.deepEqual(bench.positions(other), []);
  });

  test('drops many queues without an open in slices', () => {
    const bench = new Bench();
    for (let i = 0; i < 50_000; i++) bench.find(enqueue(i + 1, [100 + i]));
    const { removedMax } = bench.finish();
    assert.ok(removedMax <= 20_000, `${removedMax} messages in one turn`);
    assert.equal(bench.state.queueCount, 0);
    assert.equal(bench.chunks.live, 0);
  });
});

test('a state that goes away lets go of its queues in slices', () => {
  const bench = new Bench();
  for (let i = 0; i < 300; i++) {
    bench.state.apply(...bench.write(open(1 + i * 200, 100 + i)));
    for (let j = 1; j < 200; j++) bench.state.apply(...bench.write(enqueue(1 + i * 200 + j, [100 + i])));
  }
  const before = bench.size;
  bench.state.dropAll();
  assert.ok(before - bench.size <= 20_000, `${before - bench.size} messages in one turn`);
  for (let run = bench.later.shift(); run !== undefined; run = bench.later.shift()) run();
  assert.equal(bench.state.queueCount, 0);
  assert.equal(bench.chunks.live, 0);
});

/** What is found of three messages: enqueues, copies as of some moment, dequeues at some lsn. */
const findings = fc.array(
  fc.record({
    message: fc.integer({ min: 2, max: 4 }),
    kind: fc.constantFrom('enqueue', 'copy', 'dequeue'),
    moment: fc.integer({ min: 10, max: 16 }),
  }),
  { maxLength: 14 },
);

test('the newest copy of a message outweighs older dequeues, and no others, in whatever order they are found', () => {
  fc.assert(
    fc.property(findings, (found) => {
      const bench = new Bench();
      const newest = new Map<number, number>();
      const dequeued = new Map<number, number>();
      bench.find(open(1));
      for (const { message, kind, moment } of found) {
        if (kind === 'dequeue') {
          dequeued.set(message, Math.max(moment, dequeued.get(message) ?? 0));
          bench.find(dequeue(moment, [message]));
        } else {
          const asOf = kind === 'copy' ? moment : message;
          newest.set(message, Math.max(asOf, newest.get(message) ?? 0));
          bench.find(enqueue(message), asOf);
        }
      }
      bench.finish();
      const live = [...newest].filter(([message, asOf]) => asOf > (dequeued.get(message) ?? 0));
      assert.deepEqual(
        bench.positions(),
        live.map(([message]) => message).sort((a, b) => a - b),
      );
      assert.equal(bench.chunks.live, live.length + 1);
    }),
    { numRuns: 1000 },
  );
});
