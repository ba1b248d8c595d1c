import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeCopyBatch } from '../../../src/log/group-log.js';
import { epochStart, type Lsn } from '../../../src/log/lsn.js';
import { batchHeaderBytes } from '../../../src/log/batch.js';
import { group, queue, TestLog, TestReplica } from './bench.js';

const first = epochStart(1) + 1;

/** The record of a batch as a backfill sends it, known to be there as of `asOf`. */
function copyOf(batch: Uint8Array, asOf: Lsn): Uint8Array {
  return encodeCopyBatch(group, [batch.slice(batchHeaderBytes)], asOf);
}

describe('a joiner', () => {
  it('does not know publishes that it had on disk and that never committed', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    before.commit(log.open(), log.enqueue('a', 9, 1));
    before.receive(log.enqueue('b', 9, 2));
    const joiner = await before.restart();
    assert.deepEqual(joiner.replica.state.publishers.list(), [[9, 2]]);
    joiner.replica.beginJoin(first + 1, epochStart(2), [[9, 1]], queue);
    assert.deepEqual(joiner.replica.state.publishers.list(), [[9, 1]]);
    await joiner.close();
  });

  it('does not know them after another restart either, should it be elected then', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    before.commit(log.open(), log.enqueue('a', 9, 1));
    before.receive(log.enqueue('b', 9, 2));
    let joiner = await before.restart();
    // The next primary has gone on since.
    joiner.replica.beginJoin(epochStart(2) + 3, epochStart(2), [[9, 1]], queue);
    joiner.replica.dropPositions(queue, [first + 2]);
    joiner.replica.endJoin(() => {});
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [first + 1]);
    assert.deepEqual(joiner.replica.state.publishers.list(), [[9, 1]]);
    await joiner.close();
  });

  it('has the same after another restart: dequeues that never committed stay void', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    const message = log.enqueue.bind(log, 'a');
    const [open, enqueue] = [log.open(), message()];
    before.commit(open, enqueue);
    before.receive(log.dequeue(first + 1));
    let joiner = await before.restart();
    assert.deepEqual(joiner.positions, []);
    // The next primary's log ends before the dequeue, and has nothing of its own yet.
    joiner.replica.beginJoin(first + 1, epochStart(2), [], queue);
    const copy = copyOf(enqueue, first + 1);
    joiner.replica.insertCopies(copy, 0, copy.length);
    joiner.replica.endJoin(() => {});
    assert.deepEqual(joiner.positions, [first + 1]);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [first + 1]);
    await joiner.close();
  });

  it('has the same after a restart: what was cut for a join that was broken off stays away', async () => {
    const log = new TestLog(1, 0);
    let joiner = await TestReplica.start();
    joiner.commit(log.open());
    const end = log.log.end;
    joiner.receive(log.enqueue('a'), log.enqueue('b'));
    // Both come again, but the primary dies before they do. The next one has the first of them, and went on.
    joiner.replica.beginJoin(end, epochStart(1), [], queue);
    const next = new TestLog(2, end + 1);
    next.enqueue('c');
    joiner.replica.beginJoin(next.log.end, epochStart(2), [], queue);
    joiner.replica.endJoin(() => {});
    assert.deepEqual(joiner.positions, []);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, []);
    await joiner.close();
  });

  it('that had the group before has nothing of that time, after a restart either', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    before.commit(log.open(), log.enqueue('a'), log.enqueue('b'), log.dequeue(first + 2));
    before.retire();
    // The message is consumed elsewhere, another one comes, then the group comes back here.
    let joiner = before.again();
    log.dequeue(first + 1);
    const enqueue = log.enqueue('c');
    const base = log.log.end;
    joiner.replica.beginJoin(base, epochStart(1), [], queue);
    joiner.replica.openCopy(queue, { durable: true });
    const copy = copyOf(enqueue, base);
    joiner.replica.insertCopies(copy, 0, copy.length);
    joiner.replica.endJoin(() => {});
    assert.deepEqual(joiner.positions, [base]);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [base]);
    await joiner.close();
  });

  it('has a queue that it dropped because its primary had not opened it yet', async () => {
    const log = new TestLog(1, 0);
    let joiner = await TestReplica.start();
    joiner.commit(log.open(), log.enqueue('a'));
    // Both were never committed; the queue is declared all the same, and the next primary opens it.
    joiner.replica.beginJoin(0, epochStart(2), [], queue);
    joiner.replica.dropCopy(queue);
    const next = new TestLog(2, 0);
    joiner.commit(next.open(), next.enqueue('b'));
    joiner.replica.endJoin(() => {});
    const positions = [epochStart(2) + 2];
    assert.deepEqual(joiner.positions, positions);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, positions);
    await joiner.close();
  });

  it('that had the group before has all of it when nothing happened meanwhile', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    const [open, enqueue] = [log.open(), log.enqueue('a')];
    before.commit(open, enqueue);
    before.retire();
    let joiner = before.again();
    const base = log.log.end;
    joiner.replica.beginJoin(base, epochStart(1), [], queue);
    joiner.replica.openCopy(queue, { durable: true });
    const copy = copyOf(enqueue, base);
    joiner.replica.insertCopies(copy, 0, copy.length);
    joiner.replica.endJoin(() => {});
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [base]);
    await joiner.close();
  });

  it('that had the group before has nothing of its tail, and of the very commit point, after a restart either', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    before.commit(log.open(), log.enqueue('last committed'));
    before.receive(log.enqueue('commits later'), log.enqueue('so does this'));
    const consumed = [first + 1, first + 2, first + 3];
    before.retire();
    let joiner = before.again();
    for (const position of consumed) log.dequeue(position);
    const enqueue = log.enqueue('b');
    const base = log.log.end;
    joiner.replica.beginJoin(base, epochStart(1), [], queue);
    joiner.replica.openCopy(queue, { durable: true });
    const copy = copyOf(enqueue, base);
    joiner.replica.insertCopies(copy, 0, copy.length);
    joiner.replica.endJoin(() => {});
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [base]);
    await joiner.close();
  });

  it('drops for good what compaction has copied at the same commit point', async () => {
    const log = new TestLog(1, 0);
    let joiner = await TestReplica.start();
    const [open, enqueue] = [log.open(), log.enqueue('a')];
    joiner.commit(open, enqueue);
    const base = log.log.end + 5;
    joiner.replica.beginJoin(base, epochStart(1), [], queue);
    const copy = copyOf(enqueue, base);
    joiner.replica.insertCopies(copy, 0, copy.length);
    joiner.replica.dropPositions(queue, [first + 1]);
    joiner.replica.endJoin(() => {});
    assert.deepEqual(joiner.positions, []);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, []);
    await joiner.close();
  });

  it('that had cut something has it again, after a restart too, if a later primary had it', async () => {
    const log = new TestLog(1, 0);
    let backup = await TestReplica.start();
    const batches = [log.open(), log.enqueue('a'), log.enqueue('b'), log.enqueue('c')];
    backup.receive(...batches);
    // The next primary has the queue and the first message only; the one after it has two, and goes on.
    backup.replica.cut(first + 1);
    await backup.settled();
    backup.commit(batches[2]!, new TestLog(3, first + 2).enqueue('d'));
    const positions = [epochStart(3) + 1, first + 2, first + 1];
    assert.deepEqual(backup.positions, positions);
    backup = await backup.restart();
    assert.deepEqual(backup.positions, positions);
    await backup.close();
  });

  it('that had dropped something of older epochs has it again if a later primary had it', async () => {
    const log = new TestLog(1, 0);
    const before = await TestReplica.start();
    before.commit(log.open());
    const base = log.log.end;
    const enqueue = log.enqueue('a');
    before.receive(enqueue);
    let joiner = await before.restart();
    joiner.replica.beginJoin(base, epochStart(2), [], queue);
    joiner.replica.endJoin(() => {});
    assert.deepEqual(joiner.positions, []);
    await joiner.settled();
    joiner.commit(enqueue);
    assert.deepEqual(joiner.positions, [first + 1]);
    joiner = await joiner.restart();
    assert.deepEqual(joiner.positions, [first + 1]);
    await joiner.close();
  });
});
