/** One replica of a group over a real store, without roles: batches are handed to it as a primary would send them. */
import { silentLogger } from '../../../src/base/logger.js';
import { allRules } from '../../../src/base/rules.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { Turn } from '../../../src/base/turn.js';
import { fullSlices } from '../../../src/base/slices.js';
import { SoloLiveness } from '../../../src/cluster/liveness/solo.js';
import { BackfillPace } from '../../../src/cluster/replication/backfill-pace.js';
import { type ReplicationContext, replicationLimits } from '../../../src/cluster/replication/context.js';
import { GroupReplica } from '../../../src/cluster/replication/group-replica.js';
import { recoverGroups } from '../../../src/cluster/replication/recovered-groups.js';
import { ChunkStore } from '../../../src/log/chunk-store.js';
import { GroupLog, parseBatch } from '../../../src/log/group-log.js';
import type { GroupMeta } from '../../../src/log/journal.js';
import type { Lsn } from '../../../src/log/lsn.js';
import { encodeOpen } from '../../../src/log/open-record.js';
import {
  dequeueLengthMax,
  encodeDequeue,
  encodeEnqueue,
  enqueueLength,
  MessageParts,
} from '../../../src/log/record.js';
import { GroupState } from '../../../src/model/group-state.js';
import { MemoryDisk } from '../../../src/store/memory-disk.js';
import { Store } from '../../../src/store/store.js';
import { seeded, turns, until } from '../store/harness.js';
import { ManualClock } from '../store/manual-clock.js';

export const group = 1;
/** The incarnation of the queue that the tests use. */
export const queue: Lsn = 7;

const durableQueue = { durable: true };

/** A primary's log: makes batches of one record. */
export class TestLog {
  readonly log: GroupLog;

  /** It goes on after `end`, in `epoch`. */
  constructor(epoch: number, end: Lsn) {
    this.log = new GroupLog(group, new ChunkStore(new Turn((run) => setImmediate(run)), silentLogger, 2 ** 30));
    this.log.resetTo(end);
    this.log.beginEpoch(epoch);
  }

  open(incarnation: Lsn = queue): Uint8Array {
    return this.bytes(encodeOpen(incarnation, incarnation, durableQueue));
  }

  enqueue(body: string, boot = 9, sequence = 1): Uint8Array {
    const parts = new MessageParts();
    parts.persistent = true;
    parts.bodyBytes = new TextEncoder().encode(body);
    parts.bodyLength = parts.bodyBytes.length;
    const bytes = new Uint8Array(enqueueLength(parts, 1));
    encodeEnqueue(bytes, new DataView(bytes.buffer), 0, parts, [queue], true, boot, sequence);
    return this.bytes(bytes);
  }

  dequeue(position: Lsn): Uint8Array {
    const bytes = new Uint8Array(dequeueLengthMax(1));
    const length = encodeDequeue(bytes, new DataView(bytes.buffer), 0, queue, [position], 1, true);
    return this.bytes(bytes.subarray(0, length));
  }

  private bytes(record: Uint8Array): Uint8Array {
    this.log.reserve(record.length, () => {});
    this.log.openChunk.bytes!.set(record, this.log.openOffset);
    this.log.append(record.length);
    const batch = this.log.seal(true)!;
    return batch.chunk.bytes!.slice(batch.start, batch.end);
  }
}

/** The replica as one process has it. */
export class TestReplica {
  readonly replica: GroupReplica;
  private readonly disk: MemoryDisk;
  private readonly store: Store;

  private constructor(disk: MemoryDisk, store: Store, replica: GroupReplica) {
    this.disk = disk;
    this.store = store;
    this.replica = replica;
  }

  static async start(disk: MemoryDisk = new MemoryDisk(), number: number = group): Promise<TestReplica> {
    const clock = new ManualClock();
    const turn = new Turn((run) => setImmediate(run));
    const store = await Store.open({ disk, clock, turn, random: seeded(3), logger: silentLogger, lowWaterBytes: 0 });
    const newState = (of: number): GroupState =>
      new GroupState(
        of,
        store.chunks,
        fullSlices((run) => setImmediate(run)),
      );
    const { groups } = await recoverGroups(store, newState);
    const found: { state: GroupState; meta: GroupMeta } | undefined = groups.get(number);
    const context = {
      self: { node: 'a', store: 'a', boot: 1 },
      rules: allRules,
      versions: protocolVersions,
      logger: silentLogger,
      clock,
      turn,
      journal: store.journal,
      chunks: store.chunks,
      liveness: new SoloLiveness({ node: 'a', store: 'a', boot: 1 }),
      map: { confirmedAt: 0, members: new Map(), config: { minInSync: 0 } },
      limits: replicationLimits(2000),
      pace: new BackfillPace(clock, replicationLimits(2000)),
      keeper: { keepPublish() {} },
      link: () => undefined,
      syncsInTime: () => true,
    } as unknown as ReplicationContext;
    const listener = { roleChanged() {}, retired() {} };
    const state = found?.state ?? newState(number);
    return new TestReplica(disk, store, new GroupReplica(number, context, state, found?.meta, listener));
  }

  /** Takes batches as a backup does. */
  receive(...batches: readonly Uint8Array[]): void {
    for (const bytes of batches) {
      const header = parseBatch(bytes, 0, bytes.length);
      this.replica.receive(bytes, 0, bytes.length, header);
    }
  }

  /** Takes batches and applies them. */
  commit(...batches: readonly Uint8Array[]): void {
    this.receive(...batches);
    this.replica.commitTo(this.replica.log.end);
  }

  get positions(): Lsn[] {
    return this.replica.state.positionsDescending(queue, Number.POSITIVE_INFINITY, 1000);
  }

  /** The record names us no longer. */
  retire(): void {
    const primary = { node: 'b', store: 'b', boot: 2 };
    this.replica.recordChanged({ version: 2, value: { group, epoch: 1, primary, inSync: [primary], replicas: ['b'] } });
  }

  /** The group comes back to the process that gave it away. */
  again(): TestReplica {
    const { context } = this.replica;
    const state = new GroupState(
      group,
      this.store.chunks,
      fullSlices((run) => setImmediate(run)),
    );
    const listener = { roleChanged() {}, retired() {} };
    return new TestReplica(this.disk, this.store, new GroupReplica(group, context, state, undefined, listener));
  }

  /** Everything is on disk; the process ends and another one begins. */
  async restart(): Promise<TestReplica> {
    await this.settled();
    await this.store.close();
    return TestReplica.start(this.disk);
  }

  async settled(): Promise<void> {
    let saved = false;
    this.replica.saveMeta(() => {
      saved = true;
    });
    await until(() => saved);
    await turns(2);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
