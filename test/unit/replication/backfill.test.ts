import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { BackfillSender } from '../../../src/cluster/replication/backfill.js';
import { Follower } from '../../../src/cluster/replication/follower.js';
import { type QueuesMessage, readJson } from '../../../src/cluster/replication/frames.js';
import { turns } from '../store/harness.js';
import type { ManualClock } from '../store/manual-clock.js';
import { queue, TestLog, TestReplica } from './bench.js';

/** A link that keeps what is sent. */
class TestLink {
  readonly frames: { type: number; bytes: Uint8Array }[] = [];
  pendingBytes = 0;
  closed = false;

  beginFrame(type: number, _group: number, length: number) {
    const bytes = new Uint8Array(length);
    this.frames.push({ type, bytes });
    return { bytes, view: new DataView(bytes.buffer), offset: 0 };
  }
}

/** A primary's replica with three messages, and somebody who joins it. */
async function joined() {
  const bench = await TestReplica.start();
  const log = new TestLog(1, 0);
  bench.commit(log.open(), log.enqueue('a'), log.enqueue('b', 9, 2), log.enqueue('c', 9, 3));
  const link = new TestLink();
  const other = { node: 'b', store: 'b', boot: 2 };
  const follower = new Follower(other, link as unknown as Link, 1, false, 0, 0);
  const followers = new Map([['b', follower]]);
  bench.replica.primary = { followers, advance() {}, wake() {}, close() {} } as unknown as typeof bench.replica.primary;
  const sender = new BackfillSender(bench.replica, 1);
  return { bench, log, link, follower, followers, sender, clock: bench.replica.context.clock as ManualClock };
}

const all = { incarnation: queue, high: Number.MAX_SAFE_INTEGER - 1, low: 0, positions: [], compared: 0 };

describe('backfill', () => {
  it('names the queues in slices, those too that are opened meanwhile', async () => {
    const { bench, log, link, follower, sender } = await joined();
    for (let i = 0; i < 4999; i++) bench.commit(log.open(100 + i));
    sender.begin(follower);
    assert.ok(link.frames.length <= 1);
    bench.commit(log.open(9999));
    const parts = (): QueuesMessage[] => link.frames.map(({ bytes }) => readJson(bytes, 0, bytes.length));
    let before = link.frames.length;
    for (let turn = 0; parts().at(-1)?.last !== true; turn++) {
      await turns(1);
      assert.ok(link.frames.length - before <= 2, `${link.frames.length - before} frames in a turn`);
      assert.ok(turn < 100, `${link.frames.length} frames`);
      before = link.frames.length;
    }
    const named = parts().flatMap(({ queues }) => queues.map(([incarnation]) => incarnation));
    assert.deepEqual([named.length, new Set(named).size, named.includes(9999)], [5001, 5001, true]);
    assert.equal(
      parts().reduce((sum, part) => sum + part.messages, 0),
      3,
    );
    await bench.close();
  });

  it('waits while much is on its way to the joiner', async () => {
    const { bench, link, follower, sender, clock } = await joined();
    link.pendingBytes = 2 * 1024 * 1024;
    sender.request(follower, all);
    for (let i = 0; i < 10; i++) clock.advance(10);
    assert.equal(link.frames.length, 0);
    link.pendingBytes = 0;
    clock.advance(10);
    assert.deepEqual(
      link.frames.map(({ type }) => type),
      [FrameType.backfill],
    );
    await bench.close();
  });

  it('answers nobody who began anew meanwhile', async () => {
    const { bench, link, follower, followers, sender, clock } = await joined();
    bench.replica.context.pace.now(() => 2 ** 24);
    sender.request(follower, all);
    followers.delete('b');
    clock.advance(60_000);
    assert.equal(link.frames.length, 0);
    await bench.close();
  });
});
