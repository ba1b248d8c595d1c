/**
 * A group with UNDERSTUDY_MESSAGES messages (default 17 million, more than a Map can hold) comes back from copies that compaction
 * made; half a minute, 1 GB of memory.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullSlices } from '../../src/base/slices.js';
import { Chunk, chunkBytes } from '../../src/log/chunk.js';
import type { Lsn } from '../../src/log/lsn.js';
import { encodeOpen } from '../../src/log/open-record.js';
import { encodeDequeue, encodeEnqueue, dequeueLengthMax, enqueueLength, setLsn } from '../../src/log/record.js';
import { GroupRecovery } from '../../src/model/group-recovery.js';
import { GroupState } from '../../src/model/group-state.js';
import { messageParts, TestChunks } from '../unit/model-queue/support.js';

const messages = Number(process.env['UNDERSTUDY_MESSAGES'] ?? 17_000_000);
const queue: Lsn = 1;
const batchMessages = 2000;
/** So many dequeues were never committed: the copies are newer. As many others are newer than the copies. */
const dequeued = Math.min(2_000_000, messages / 4);
const heapBytesMax = 100 * 1024 * 1024;
const turnMsMax = 30;

test(`${messages} copied messages come back, in bounded memory and short turns`, async (t) => {
  const chunks = new TestChunks();
  const state = new GroupState(
    1,
    chunks,
    fullSlices((run) => setImmediate(run)),
  );
  const recovery = new GroupRecovery(state);
  const buffer = new Uint8Array(chunkBytes);
  const view = new DataView(buffer.buffer);
  const find = (chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void => {
    setLsn(view, offset, lsn);
    recovery.record(chunk, offset, lsn, asOf);
  };
  /** All chunks share one buffer: recovery looks at a record once. */
  const newChunk = (id: number): Chunk => {
    const chunk = new Chunk(id, 1, buffer);
    chunk.pins = 1;
    chunks.all.set(id, chunk);
    return chunk;
  };
  const first = newChunk(0);
  buffer.set(encodeOpen(queue, 1, { durable: true }));
  find(first, 0, 1, 1);
  const parts = messageParts('');
  const length = enqueueLength(parts, 1);
  const begin = 2;
  const copiedAt = begin + 2 * messages;
  for (let at = 0, id = 1; at < messages; at += batchMessages, id++) {
    const chunk = newChunk(id);
    for (let i = 0; i < batchMessages; i++) encodeEnqueue(buffer, view, i * length, parts, [queue], true, 0, 0);
    for (let i = 0; i < batchMessages && at + i < messages; i++) find(chunk, i * length, begin + at + i, copiedAt + at);
  }
  const positions = new Array<Lsn>(batchMessages);
  for (let at = 0; at < 2 * dequeued; at += batchMessages) {
    for (let i = 0; i < batchMessages; i++) positions[i] = begin + at + i;
    assert.ok(dequeueLengthMax(batchMessages) <= chunkBytes);
    encodeDequeue(buffer, view, 0, queue, positions, batchMessages, true);
    const lsn = at < dequeued ? copiedAt - 1 : copiedAt + messages;
    find(first, 0, lsn, lsn);
  }
  const turns = await turnsOf((done) => recovery.finish(done));
  const { heapUsed } = process.memoryUsage();
  t.diagnostic(
    `longest turn of ${turns.count}: ${turns.longestMs.toFixed(1)} ms; ${Math.round(heapUsed / 1e6)} MB of heap`,
  );
  assert.equal(state.queue(queue)!.index.size, messages - dequeued);
  assert.ok(heapUsed < heapBytesMax, `${heapUsed} bytes of heap`);
  assert.ok(turns.longestMs < turnMsMax, `a turn of ${turns.longestMs} ms`);
});

/** Milliseconds that this process has worked, whatever else the machine does. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs something that works in turns of the event loop, and measures them. */
async function turnsOf(run: (done: () => void) => void): Promise<{ count: number; longestMs: number }> {
  let isDone = false;
  let count = 0;
  let longestMs = 0;
  let before = workedMs();
  const look = (): void => {
    const now = workedMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    count++;
  };
  run(() => {
    isDone = true;
  });
  look();
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    look();
  }
  return { count, longestMs };
}
