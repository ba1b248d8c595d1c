import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GroupLog, parseBatch } from '../../../src/log/group-log.js';
import { encodeEnqueue, enqueueLength, MessageParts, RecordFlag } from '../../../src/log/record.js';
import { TestReplica } from './bench.js';

const nothing = new MessageParts();

/** A sealed batch of an epoch's log, of records with these flags. */
function batchOf(log: GroupLog, flags: readonly number[]): Uint8Array {
  for (const flag of flags) {
    log.reserve(enqueueLength(nothing, 0), () => {});
    const { bytes, view } = log.openChunk;
    const at = log.openOffset;
    const length = encodeEnqueue(bytes!, view!, at, nothing, [], false, 0, 0);
    bytes![at + 5] = flag;
    log.append(length);
  }
  const batch = log.seal(true)!;
  return batch.chunk.bytes!.slice(batch.start, batch.end);
}

const synced = RecordFlag.durable;
const relaxed = RecordFlag.durable | RecordFlag.relaxed;

async function setUp() {
  const bench = await TestReplica.start();
  const log = new GroupLog(bench.replica.group, bench.replica.context.chunks);
  log.beginEpoch(1);
  const disk = { inTime: true };
  Object.assign(bench.replica.context, { syncsInTime: () => disk.inTime });
  return { bench, log, disk, counter: bench.replica.disk };
}

describe('confirm: replicated', () => {
  it('a batch may count before it is on disk if none of its durable records must be there', async () => {
    const { log } = await setUp();
    for (const [flags, isRelaxed] of [
      [[relaxed], true],
      [[relaxed, 0], true],
      [[relaxed, synced], false],
      [[synced], false],
    ] as const) {
      const bytes = batchOf(log, flags);
      const header = parseBatch(bytes, 0, bytes.length);
      assert.deepEqual([header.durable, header.relaxed], [true, isRelaxed]);
    }
  });

  it('counts at receipt, what must be synced when it is, and what comes after that not before it', async () => {
    const { bench, log, counter } = await setUp();
    const [first, second, third] = [[relaxed], [synced], [relaxed]].map((flags) => batchOf(log, flags));
    bench.receive(first!);
    const begin = bench.replica.log.end;
    assert.equal(counter.value, begin);
    bench.receive(second!, third!);
    assert.equal(counter.value, begin);
    await bench.settled();
    assert.equal(counter.value, bench.replica.log.end);
  });

  it('waits for the disk while that is slow, full or has failed', async () => {
    const { bench, log, disk, counter } = await setUp();
    disk.inTime = false;
    bench.receive(batchOf(log, [relaxed]));
    assert.notEqual(counter.value, bench.replica.log.end);
    await bench.settled();
    assert.equal(counter.value, bench.replica.log.end);
  });

  it('is there after a restart', async () => {
    const { bench, log } = await setUp();
    bench.receive(batchOf(log, [relaxed, relaxed]));
    const { end } = bench.replica.log;
    const again = await bench.restart();
    assert.equal(again.replica.log.end, end);
    await again.close();
  });
});
