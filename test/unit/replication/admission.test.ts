import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { type GroupRecord, systemGroup } from '../../../src/cluster/map.js';
import { Follower } from '../../../src/cluster/replication/follower.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { until } from '../store/harness.js';
import type { ManualClock } from '../store/manual-clock.js';
import { TestReplica } from './bench.js';

const self = { node: 'a', store: 'a', boot: 1 };
const other = { node: 'b', store: 'b', boot: 2 };
const nothing = new MessageParts();

/** The system group, led here by one who is alone in its set, and somebody who has joined it. */
async function led() {
  const bench = await TestReplica.start(undefined, systemGroup);
  const { replica } = bench;
  const clock = replica.context.clock as ManualClock;
  const proposed: GroupRecord[] = [];
  const context = replica.context as unknown as Record<string, object>;
  const swapGroup = (value: GroupRecord): Promise<never> => {
    proposed.push(value);
    return new Promise(() => {});
  };
  Object.assign(context['map']!, { groups: new Map(), refreshSoon() {}, swapGroup });
  const alive = { mayDepose: () => false, promisedUntil: () => Number.POSITIVE_INFINITY };
  const liveness = { ...alive, tenure: () => ({ holds: () => true, cover() {}, end() {} }) };
  Object.assign(context, { liveness, leading() {}, released() {}, systemCommitted() {}, systemProgressed() {} });
  const record = { group: systemGroup, epoch: 1, primary: self, inSync: [self], replicas: ['a', 'b'] };
  replica.recordChanged({ version: 1, value: record });
  const primary = replica.primary!;
  const frame = { bytes: new Uint8Array(1024), view: new DataView(new ArrayBuffer(1024)), offset: 0 };
  const link = { peer: { ...other, address: '' }, congested: false, beginFrame: () => frame } as unknown as Link;
  const follow = (): void => {
    primary.followers.set('b', new Follower(other, link, 1, true, replica.disk.value, clock.now()));
  };
  const commit = async (): Promise<Lsn> => {
    // Commits wait a while for who is about to be admitted.
    clock.advance(replica.context.limits.admitWaitMs + 1);
    primary.reserve(enqueueLength(nothing, 0));
    const { bytes, view } = primary.chunk;
    const lsn = primary.append(encodeEnqueue(bytes!, view!, primary.offset, nothing, [], true, 0, 0));
    await until(() => replica.log.committed === lsn);
    return lsn;
  };
  const ack = (durable: Lsn, applied: Lsn): void => {
    const view = new DataView(new ArrayBuffer(32));
    view.setUint32(0, 1, true);
    view.setUint32(4, 1, true);
    view.setFloat64(16, durable, true);
    view.setFloat64(24, applied, true);
    primary.frame(link, FrameType.ack, view, 0, 32);
  };
  return { bench, primary, proposed, commit, follow, ack };
}

it('who joins the system group is in the set, and may route, only with all wiring that was complete without it', async () => {
  const { bench, primary, proposed, commit, follow, ack } = await led();
  const first = await commit();
  follow();
  assert.equal(primary.appliedEverywhere, first, 'complete without it');
  ack(first, 0);
  assert.deepEqual(proposed, []);
  await commit();
  assert.equal(primary.appliedEverywhere, 0, 'what comes now waits for it');
  const last = await commit();
  ack(last, first);
  assert.deepEqual(
    proposed.map(({ inSync }) => inSync),
    [[self, other]],
  );
  assert.equal(primary.appliedEverywhere, first);
  await bench.close();
});
