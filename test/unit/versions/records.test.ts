import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fullSlices } from '../../../src/base/slices.js';
import { batchVersion } from '../../../src/log/batch.js';
import { parseBatch } from '../../../src/log/group-log.js';
import { Feature } from '../../../src/base/versions.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import { MessageFormat } from '../../../src/log/message-format.js';
import {
  encodeDequeueRange,
  encodeEnqueue,
  enqueueLength,
  EnqueueView,
  forEachDequeued,
  RecordKind,
  versionOf,
} from '../../../src/log/record.js';
import { FrameError } from '../../../src/cluster/link/frame.js';
import { readBatch } from '../../../src/cluster/replication/frames.js';
import { appendDequeues } from '../../../src/model/group-service/settlement-batch.js';
import { GroupState } from '../../../src/model/group-state.js';
import { TestChunks, TestLog } from '../model-queue/support.js';
import { batchOf, dequeue, enqueue, message } from './encodings.js';

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** As a later version may write it: with fields at the end that nobody knows here. */
function withMore(record: Uint8Array, bytes: number): Uint8Array {
  const longer = new Uint8Array(record.length + bytes).fill(0xee);
  longer.set(record);
  viewOf(longer).setUint32(0, longer.length, true);
  return longer;
}

function range(first: number, count: number): Uint8Array {
  const bytes = new Uint8Array(32);
  encodeDequeueRange(bytes, viewOf(bytes), 0, 3, first, count, true);
  return bytes;
}

function positionsOf(record: Uint8Array): number[] {
  const positions: number[] = [];
  forEachDequeued(record, viewOf(record), 0, (position) => positions.push(position));
  return positions;
}

describe('records with unknown fields at their end', () => {
  it('an enqueue is read as if they were not there', () => {
    const { bodyBytes } = message();
    const bytes = withMore(enqueue(), 9);
    const view = new EnqueueView().set(bytes, viewOf(bytes), 0);
    assert.deepEqual(bytes.subarray(view.bodyStart, view.bodyStart + view.bodyLength), bodyBytes);
    assert.equal(view.incarnation(1), 3);
    assert.equal(view.publisherSequence, 9);
  });

  it('dequeues too', () => {
    assert.deepEqual(positionsOf(withMore(dequeue(), 5)), [10, 11, 300, 70_000]);
    assert.deepEqual(positionsOf(withMore(range(7, 3), 5)), [7, 8, 9]);
  });

  it('a batch of them is applied, one record after the other', () => {
    const chunks = new TestChunks();
    const state = new GroupState(
      4,
      chunks,
      fullSlices((run) => run()),
      [3],
    );
    const drop = withMore(encodeDrop(9, 1), 3);
    const records = [encodeOpen(9, 1, { durable: true }), withMore(enqueue(), 9), withMore(enqueue(), 1), drop];
    const bytes = batchOf(records);
    const chunk = chunks.open(4, bytes.length);
    chunk.bytes!.set(bytes);
    for (let at = 40; at < bytes.length; at += viewOf(bytes).getUint32(at, true)) state.apply(chunk, at);
    assert.equal(state.queue(3)!.index.size, 2);
    assert.equal(state.queue(9), undefined);
  });
});

describe('a message of AMQP 1.0', () => {
  it('needs the version that knows it, and says so in its format', () => {
    const parts = message();
    parts.format = MessageFormat.amqp10;
    const bytes = new Uint8Array(enqueueLength(parts, 1));
    encodeEnqueue(bytes, viewOf(bytes), 0, parts, [3], true, 0, 0);
    assert.equal(versionOf(bytes, 0), Feature.amqp10);
    const view = new EnqueueView().set(bytes, viewOf(bytes), 0);
    assert.equal(view.format, MessageFormat.amqp10);
    parts.setFrom(view);
    assert.equal(parts.format, MessageFormat.amqp10);
    assert.equal(versionOf(enqueue(), 0), 1);
  });
});

describe('neighbours that leave a queue together', () => {
  it('are one short record where version 2 is in use, and a list where it is not', () => {
    for (const version of [1, 2]) {
      const log = new TestLog(1, new TestChunks(), 1);
      log.version = version;
      const { offset } = log;
      appendDequeues(log, 3, Float64Array.from([5, 6, 7]), true);
      const record = log.chunk.bytes!.slice(offset, log.offset);
      assert.equal(record[4], version === 1 ? RecordKind.dequeue : RecordKind.dequeueRange);
      assert.deepEqual(positionsOf(record), [5, 6, 7]);
    }
  });

  it('whatever leaves is what the records name', () => {
    const positions = fc.uniqueArray(fc.nat({ max: 12 }), { minLength: 1 });
    fc.assert(
      fc.property(positions, (some) => {
        const ascending = Float64Array.from(some).sort();
        const log = new TestLog(1, new TestChunks(), 1);
        const { offset } = log;
        appendDequeues(log, 3, ascending, true);
        assert.deepEqual(positionsOf(log.chunk.bytes!.slice(offset, log.offset)), [...ascending]);
      }),
    );
  });
});

describe('a batch', () => {
  it('tells the version that its newest kind of record needs', () => {
    assert.equal(batchVersion(batchOf([enqueue(), dequeue()]), 0), 1);
    assert.equal(batchVersion(batchOf([enqueue(), range(1, 2)]), 0), 2);
  });

  it('is refused by who reads less', () => {
    const bytes = batchOf([range(1, 2)]);
    assert.equal(parseBatch(bytes, 0, bytes.length).version, 2);
    assert.equal(readBatch(bytes, 0, bytes.length, 2).count, 1);
    assert.throws(
      () => readBatch(bytes, 0, bytes.length, 1),
      (error) => error instanceof FrameError && /protocol version 2, this node reads up to 1/.test(error.message),
    );
  });
});
