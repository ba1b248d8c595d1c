import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { type FollowMessage, readJson } from '../../../src/cluster/replication/frames.js';
import type { Primary } from '../../../src/cluster/replication/primary.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeOpen } from '../../../src/log/open-record.js';
import { encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { turns, until } from '../store/harness.js';
import type { ManualClock } from '../store/manual-clock.js';
import { group, TestReplica } from './bench.js';

const a = { node: 'a', store: 'a', boot: 1 };
const b = { node: 'b', store: 'b', boot: 2 };

type Receive = (type: number, bytes: Uint8Array) => void;

/** One end of a link between two replicas of this process: frames arrive in the next turn, in order. */
function linkTo(peer: typeof a, receive: Receive): Link {
  let frames: { type: number; bytes: Uint8Array }[] = [];
  const arrive = (): void => {
    const arrived = frames;
    frames = [];
    for (const { type, bytes } of arrived) receive(type, bytes);
  };
  const beginFrame = (type: number, _group: number, length: number) => {
    const bytes = new Uint8Array(length);
    if (frames.push({ type, bytes }) === 1) setImmediate(arrive);
    return { bytes, view: new DataView(bytes.buffer), offset: 0 };
  };
  return {
    peer: { ...peer, address: '' },
    congested: false,
    closed: false,
    pendingBytes: 0,
    beginFrame,
  } as unknown as Link;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** `a` leads the group, alone in its set; `b` has nothing of it and joins. */
async function pair(queues: readonly Lsn[]) {
  const [benchA, benchB] = [await TestReplica.start(), await TestReplica.start()];
  const map = { groups: new Map(), refreshSoon() {}, swapGroup: () => new Promise(() => {}) };
  const alive = { mayDepose: () => false, promisedUntil: () => Number.POSITIVE_INFINITY };
  const liveness = { ...alive, tenure: () => ({ holds: () => true, cover() {}, end() {} }) };
  for (const bench of [benchA, benchB]) {
    const context = bench.replica.context as unknown as Record<string, object>;
    Object.assign(context['map']!, map);
    Object.assign(context, { liveness, leading() {}, released() {}, queueUse() {}, makesProgress: () => true });
  }
  const record = { group, epoch: 1, primary: a, inSync: [a], replicas: ['a', 'b'] };
  benchA.replica.recordChanged({ version: 1, value: record });
  const primary = benchA.replica.primary!;
  for (const incarnation of queues) append(primary, encodeOpen(incarnation, incarnation, { durable: true }));
  await until(() => benchA.replica.state.queueCount === queues.length);
  const toB = linkTo(b, (type, bytes) =>
    benchB.replica.backup!.frame(toA, type, bytes, viewOf(bytes), 0, bytes.length),
  );
  const toA: Link = linkTo(a, (type, bytes) => {
    if (type !== FrameType.follow) return primary.frame(toB, type, viewOf(bytes), 0, bytes.length);
    primary.follow(toB, readJson<FollowMessage>(bytes, 0, bytes.length));
  });
  Object.assign(benchB.replica.context, { self: b, link: () => toA });
  const join = (): void => {
    benchB.replica.mustJoin = true;
    benchB.replica.recordChanged({ version: 1, value: record });
  };
  return { benchA, benchB, primary, join };
}

function append(primary: Primary, record: Uint8Array): void {
  primary.reserve(record.length);
  primary.chunk.bytes!.set(record, primary.offset);
  primary.append(record.length);
}

function publish(primary: Primary, incarnation: Lsn): void {
  const parts = new MessageParts();
  const record = new Uint8Array(enqueueLength(parts, 1));
  encodeEnqueue(record, viewOf(record), 0, parts, [incarnation], true, 0, 0);
  append(primary, record);
}

it('what is published while the queues are named to a joiner is not lost to it', async () => {
  const queues = Array.from({ length: 6000 }, (_, i) => i + 1);
  const last = queues.at(-1)!;
  const { benchA, benchB, primary, join } = await pair(queues);
  join();
  const clocks = [benchA, benchB].map(({ replica }) => replica.context.clock as ManualClock);
  const { replica } = benchB;
  for (let turn = 0; replica.backup?.joiner !== undefined || replica.joining || turn < 100; turn++) {
    if (turn < 40) publish(primary, last);
    await turns(1);
    for (const clock of clocks) clock.advance(1);
    for (const { replica: any } of [benchA, benchB]) any.backup?.tick(clocks[0]!.now());
    assert.ok(turn < 100_000, 'it ends');
  }
  await until(() => replica.log.committed === benchA.replica.log.committed);
  const positions = ({ replica: { state } }: TestReplica): Lsn[] => state.positionsDescending(last, Infinity, 1000);
  assert.equal(positions(benchA).length, 40);
  assert.deepEqual(positions(benchB), positions(benchA));
  await Promise.all([benchA.close(), benchB.close()]);
});
