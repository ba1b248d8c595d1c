import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunkBytes } from '../../../src/log/chunk.js';
import { type Batch, forEachRecord, GroupLog, parseBatch } from '../../../src/log/group-log.js';
import { encodeEnqueue, enqueueLength, EnqueueView, MessageParts } from '../../../src/log/record.js';
import { TestChunks } from '../model-queue/support.js';

interface Setup {
  log: GroupLog;
  sealed: Batch[];
  /** Appends a message of so many bytes, whose publisher's number it is told by. */
  append(bodyBytes: number, number: number): void;
}

function setUp(): Setup {
  const chunks = new TestChunks();
  const log = new GroupLog(1, chunks);
  log.beginEpoch(1);
  const sealed: Batch[] = [];
  const append = (bodyBytes: number, number: number): void => {
    const parts = new MessageParts();
    parts.bodyBytes = new Uint8Array(bodyBytes).fill(number);
    parts.bodyLength = bodyBytes;
    log.reserve(enqueueLength(parts, 1), (batch) => sealed.push(batch));
    const { openChunk: chunk, openOffset } = log;
    log.append(encodeEnqueue(chunk.bytes!, chunk.view!, openOffset, parts, [9], true, 5, number));
  };
  return { log, sealed, append };
}

/** Numbers of the messages of a batch, each checked. */
function numbersIn(batch: Batch): number[] {
  const { bytes } = batch.chunk;
  assert.equal(parseBatch(bytes!, batch.start, batch.end).count, batch.last - batch.first + 1);
  const numbers: number[] = [];
  forEachRecord(batch, (chunk, offset) => {
    const view = new EnqueueView().set(chunk.bytes!, chunk.view!, offset);
    if (view.bodyLength > 0)
      for (const at of [view.bodyStart, view.bodyStart + view.bodyLength - 1])
        assert.equal(chunk.bytes![at], view.publisherSequence);
    numbers.push(view.publisherSequence);
  });
  return numbers;
}

describe('what is appended together', () => {
  it('is one batch, with what was before it in the turn, though its chunk has no room', () => {
    const { log, sealed, append } = setUp();
    append(1000, 1);
    log.together(() => {
      for (let number = 2; number <= 9; number++) append(chunkBytes / 4, number);
    });
    sealed.push(log.seal(true)!);
    assert.deepEqual(sealed.map(numbersIn), [[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it('may be apart from what is not, and goes on in a chunk of the usual size', () => {
    const { log, sealed, append } = setUp();
    append(chunkBytes / 2, 1);
    sealed.push(log.seal(true)!);
    log.together(() => {
      append(chunkBytes / 4, 2);
      append(chunkBytes, 3);
    });
    sealed.push(log.seal(true)!);
    append(10, 4);
    assert.equal(log.openChunk.capacity, chunkBytes);
    sealed.push(log.seal(true)!);
    assert.deepEqual(sealed.map(numbersIn), [[1], [2, 3], [4]]);
  });

  it('is never parted, whatever the sizes; lsns are consecutive', () => {
    const sizes = fc.array(fc.nat(chunkBytes / 2), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.record({ sizes, together: fc.boolean() }), { maxLength: 8 }), (steps) => {
        const { log, sealed, append } = setUp();
        let number = 0;
        const units: number[][] = [];
        for (const { sizes: some, together } of steps) {
          const unit: number[] = [];
          const appendAll = (): void => {
            for (const size of some) {
              unit.push((number = (number + 1) % 256));
              append(size, number);
            }
          };
          if (together) {
            log.together(appendAll);
            units.push(unit);
          } else appendAll();
        }
        const last = log.seal(true);
        if (last !== undefined) sealed.push(last);
        const batches = sealed.map((batch) => numbersIn(batch).join(' '));
        for (const unit of units) assert.ok(batches.some((batch) => ` ${batch} `.includes(` ${unit.join(' ')} `)));
        assert.equal(batches.join(' ').split(' ').filter(Boolean).length, steps.flatMap((one) => one.sizes).length);
        sealed.slice(1).forEach((batch, i) => assert.equal(batch.first, sealed[i]!.last + 1));
      }),
      { numRuns: 30 },
    );
  });
});
