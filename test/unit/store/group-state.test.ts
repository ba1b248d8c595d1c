/** Compaction with the real group state: messages in several queues, queues that are dropped. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fullSlices } from '../../../src/base/slices.js';
import type { Chunk } from '../../../src/log/chunk.js';
import { type Batch, GroupLog } from '../../../src/log/group-log.js';
import type { GroupMeta, JournalOwner } from '../../../src/log/journal.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeDrop, encodeOpen } from '../../../src/log/open-record.js';
import {
  dequeueLengthMax,
  encodeDequeue,
  encodeEnqueue,
  enqueueLength,
  MessageParts,
} from '../../../src/log/record.js';
import { GroupRecovery } from '../../../src/model/group-recovery.js';
import { GroupState } from '../../../src/model/group-state.js';
import type { Store } from '../../../src/store/store.js';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, until } from './harness.js';
import { bodyOf, emptyMeta } from './test-group.js';

const groupNumber = 20;
const options = { segmentBytes: 32 * 1024 };

class StateOwner implements JournalOwner {
  readonly group = groupNumber;
  readonly state: GroupState;
  private readonly store: Store;
  private readonly log: GroupLog;

  constructor(store: Store) {
    this.store = store;
    this.state = new GroupState(
      groupNumber,
      store.chunks,
      fullSlices((run) => setImmediate(run)),
    );
    this.log = new GroupLog(groupNumber, store.chunks);
  }

  join(epoch: number): void {
    this.log.resetTo(this.state.applied);
    this.log.beginEpoch(epoch);
    this.store.journal.register(this);
  }

  durable(lsn: Lsn): void {
    this.log.commitTo(lsn, (chunk, offset) => this.state.apply(chunk, offset));
    this.log.release(this.log.numberAfter(lsn));
  }
  meta(): GroupMeta {
    return { ...emptyMeta, applied: this.log.committed };
  }
  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined {
    return this.state.copyRecord(chunk, offset);
  }
  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean {
    return this.state.moved(from, fromOffset, to, toOffset);
  }
  closeChunk(chunk: Chunk): void {
    this.log.letGoOf(chunk);
  }

  open(incarnation: Lsn): void {
    this.bytes(encodeOpen(incarnation, 1, { durable: true }));
  }
  drop(incarnation: Lsn): void {
    this.bytes(encodeDrop(incarnation, 1));
  }

  enqueue(incarnations: readonly Lsn[]): Lsn {
    const parts = new MessageParts();
    parts.bodyBytes = bodyOf(1, 500);
    parts.bodyLength = 500;
    this.log.reserve(enqueueLength(parts, incarnations.length), this.journal);
    const chunk = this.log.openChunk;
    return this.log.append(
      encodeEnqueue(chunk.bytes!, chunk.view!, this.log.openOffset, parts, incarnations, true, 0, 0),
    );
  }

  dequeue(incarnation: Lsn, positions: readonly Lsn[]): void {
    this.log.reserve(dequeueLengthMax(positions.length), this.journal);
    const chunk = this.log.openChunk;
    const at = this.log.openOffset;
    this.log.append(encodeDequeue(chunk.bytes!, chunk.view!, at, incarnation, positions, positions.length, true));
  }

  /** Ends the batch and waits for the disk. */
  async settle(): Promise<void> {
    const batch = this.log.seal(true);
    if (batch !== undefined) this.journal(batch);
    await until(() => this.log.committed === this.log.end);
  }

  positions(incarnation: Lsn): Lsn[] {
    return this.state.positionsDescending(incarnation, Number.POSITIVE_INFINITY, 100_000).reverse();
  }

  private readonly journal = (batch: Batch): void => {
    this.store.journal.append(this, batch.chunk, batch.start, batch.end, batch.last);
  };

  private bytes(record: Uint8Array): void {
    this.log.reserve(record.length, this.journal);
    this.log.openChunk.bytes!.set(record, this.log.openOffset);
    this.log.append(record.length);
  }
}

async function start(disk: FaultyDisk, epoch: number): Promise<{ harness: Harness; owner: StateOwner }> {
  let recovery: GroupRecovery | undefined;
  let owner: StateOwner | undefined;
  const harness = await Harness.open(disk, options, (store) => {
    owner = new StateOwner(store);
    recovery = new GroupRecovery(owner.state);
    return {
      meta: (_group, meta) => recovery!.meta(meta),
      record: (_group, chunk, offset, lsn, asOf) => recovery!.record(chunk, offset, lsn, asOf),
      done: () => undefined,
    };
  });
  await new Promise<void>((resolve) => recovery!.finish(resolve));
  owner!.join(epoch);
  return { harness, owner: owner! };
}

/** Lower ones are groups' own. */
const firstQueue = 100;

describe('compaction of a group state', () => {
  it('brings no message back to a queue that has consumed it', async () => {
    let disk = new FaultyDisk();
    let { harness, owner } = await start(disk, 1);
    owner.open(1);
    owner.open(2);
    const positions: Lsn[] = [];
    for (let i = 0; i < 600; i++) {
      positions.push(owner.enqueue([1, 2]));
      if (i % 20 === 19) await owner.settle();
    }
    const kept = positions.filter((_, i) => i % 9 === 0);
    for (let i = 0; i < positions.length; i += 20) {
      const some = positions.slice(i, i + 20);
      owner.dequeue(1, some);
      owner.dequeue(
        2,
        some.filter((position) => !kept.includes(position)),
      );
      await owner.settle();
    }
    for (let life = 2; life < 5; life++) {
      await harness.compact(40);
      assert.ok(harness.store.diskBytes < 200_000, `${harness.store.diskBytes} bytes`);
      assert.deepEqual(owner.positions(1), []);
      assert.deepEqual(owner.positions(2), kept);
      harness.abandoned = true;
      disk = disk.kill();
      ({ harness, owner } = await start(disk, life));
      assert.deepEqual(harness.report.damaged, []);
      assert.deepEqual(owner.positions(1), []);
      assert.deepEqual(owner.positions(2), kept);
      // Something to compact again.
      const more = Array.from({ length: 100 }, () => owner.enqueue([1, 2]));
      await owner.settle();
      owner.dequeue(1, more);
      owner.dequeue(2, [kept.shift()!, ...more]);
      await owner.settle();
    }
  });

  it('keeps open queues, and what tells that others are gone', async () => {
    let disk = new FaultyDisk();
    let { harness, owner } = await start(disk, 1);
    for (let incarnation = firstQueue; incarnation < firstQueue + 40; incarnation++) {
      owner.open(incarnation);
      for (let i = 0; i < 10; i++) owner.enqueue([incarnation]);
      await owner.settle();
    }
    for (let incarnation = firstQueue; incarnation < firstQueue + 40; incarnation++)
      if (incarnation % 8 !== 0) owner.drop(incarnation);
    await owner.settle();
    for (let life = 2; life < 4; life++) {
      await harness.compact(40);
      harness.abandoned = true;
      disk = disk.kill();
      ({ harness, owner } = await start(disk, life));
      const queues = [...owner.state.allQueues()].map((queue) => queue.incarnation);
      assert.deepEqual(
        queues.sort((a, b) => a - b),
        [104, 112, 120, 128, 136],
      );
      for (const queue of queues) assert.equal(owner.positions(queue).length, 10);
    }
    assert.ok(harness.store.diskBytes < 150_000, `${harness.store.diskBytes} bytes`);
  });
});
