/**
 * This node's part in one group: state, log, disk, and the role it has now, primary, backup or none. It owns what
 * outlives a change of roles; the roles own what does not.
 *
 * It is the group's JournalOwner: what it must remember besides records is in `meta()`.
 */
import type { Logger } from '../../base/logger.js';
import type { Chunk } from '../../log/chunk.js';
import { type Batch, type BatchHeader, encodeCopyBatch, forEachRecord, GroupLog } from '../../log/group-log.js';
import type { GroupMeta, JournalOwner } from '../../log/journal.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeDrop, encodeOpen } from '../../log/open-record.js';
import {
  encodeDequeue,
  dequeueLengthMax,
  dequeuePositionsMax,
  forEachDequeued,
  RecordKind,
  setLsn,
} from '../../log/record.js';
import type { ReplicaOptions } from '../../log/replica-options.js';
import { SyncCounter } from '../../log/sync-counter.js';
import { GroupState } from '../../model/group-state.js';
import type { OriginList } from '../../model/origins.js';
import type { ReturnList } from '../../model/returns.js';
import { batchHeaderBytes } from '../../log/batch.js';
import { type GroupRecord, isLocalGroup, sameReplica, systemGroup, type Versioned } from '../map.js';
import { Backup } from './backup.js';
import type { ReplicationContext } from './context.js';
import { readBatch } from './frames.js';
import { PassedOn } from './inheritance.js';
import { Primary } from './primary.js';

/** What a node's replication wants to know of its groups. */
export interface RoleListener {
  /** The role, the epoch or the primary changed. */
  roleChanged(replica: GroupReplica): void;
  /** This node holds no replica of the group any more. */
  retired(replica: GroupReplica): void;
}

export class GroupReplica implements JournalOwner {
  readonly group: number;
  readonly context: ReplicationContext;
  readonly state: GroupState;
  readonly log: GroupLog;
  readonly disk: SyncCounter = new SyncCounter();
  readonly logger: Logger;
  /** False for the local group: it lives in memory. */
  readonly journaled: boolean;
  /** The newest record known. */
  record: Versioned<GroupRecord> | undefined;
  /** Highest epoch we acted in (rule 2). */
  epoch = 0;
  /** A set difference has begun and is not finished: no log matching, not electable, acks do not count (rule 9). */
  joining = false;
  /** Our log's end may differ from the cluster's in a way that batches do not show: we were deposed, or restarted. */
  mustJoin: boolean;
  /** Everything that we hold has come from primaries since this process began, and is on disk. */
  rejoined = false;
  primary: Primary | undefined;
  backup: Backup | undefined;
  /** What the primary before us passes on, if it gives the group to us (rule 20). */
  passedOn: PassedOn | undefined;
  private voids: [Lsn, Lsn][] = [];
  /** The end of what the last join cut of its own epoch. */
  private comesAgain: Lsn = 0;
  private readonly listener: RoleListener;

  constructor(
    group: number,
    context: ReplicationContext,
    state: GroupState,
    meta: GroupMeta | undefined,
    listener: RoleListener,
  ) {
    this.group = group;
    this.context = context;
    this.state = state;
    this.listener = listener;
    this.logger = context.logger.child({ group });
    this.log = new GroupLog(group, context.chunks);
    this.journaled = !isLocalGroup(group);
    // What was recovered has no batches any more that could be matched: whoever restarts joins, unless it is elected.
    this.mustJoin = meta !== undefined && context.rules.bootId;
    if (meta !== undefined) {
      this.epoch = meta.epoch;
      this.joining = meta.joining;
      this.voids = meta.voids;
    }
    this.log.resetTo(state.applied);
    this.disk.reset(state.applied);
    if (this.journaled) context.journal.register(this);
  }

  /** Applies one committed record. */
  readonly apply = (chunk: Chunk, offset: number): void => {
    this.state.apply(chunk, offset);
  };

  /** Our primary's service takes attachments from now on. */
  serving(): void {
    this.listener.roleChanged(this);
  }

  /** Applies all batches up to `lsn`, and tells the wiring if it is its group. */
  commitTo(lsn: Lsn): void {
    this.log.commitTo(lsn, this.apply);
    if (this.group === systemGroup) this.context.systemCommitted(this);
  }

  // ---- journal ----

  durable(lsn: Lsn): void {
    if (!this.disk.durable(lsn)) return;
    this.primary?.advance();
    this.backup?.diskAdvanced();
  }

  meta(): GroupMeta {
    return {
      record: this.record === undefined ? '' : JSON.stringify(this.record),
      epoch: this.context.rules.epochPersist ? this.epoch : 0,
      joining: this.joining,
      voids: this.voids.filter(([from, to]) => this.context.journal.mayHold(this.group, from, to)),
      publishers: this.context.rules.publishersKept ? this.state.publishers.list() : [],
      origins: this.context.rules.publishersKept ? this.state.origins.list() : [],
      returns: this.state.returns.list(),
      wiringVersion: this.state.wiringVersion,
      applied: this.log.committed,
    };
  }

  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined {
    return this.state.copyRecord(chunk, offset);
  }

  /** What a restart found may not be committed: a copy would say that it is. */
  mayCopy(): boolean {
    return !this.mustJoin;
  }

  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean {
    return this.state.moved(from, fromOffset, to, toOffset);
  }

  saveMeta(done: () => void): void {
    this.context.journal.saveMeta(this, done);
  }

  /** Takes a batch of the primary's log after our log's end. */
  receive(bytes: Uint8Array, start: number, end: number, header: BatchHeader): Batch {
    const batch = this.log.receive(bytes, start, end, header);
    if (this.voids.length > 0) this.unvoid(batch.first, batch.last);
    this.journalBatch(batch);
    return batch;
  }

  /**
   * A later primary may have what an earlier one lacked and we cut: then it comes again with its numbers. That it is not void is
   * on disk with it.
   */
  private unvoid(first: Lsn, last: Lsn): void {
    if (!this.voids.some(([from, to]) => from <= last && to >= first)) return;
    const voids: [Lsn, Lsn][] = [];
    for (const [from, to] of this.voids) {
      if (from < first) voids.push([from, Math.min(to, first - 1)]);
      if (to > last) voids.push([Math.max(from, last + 1), to]);
    }
    this.voids = voids;
    this.saveMeta(() => {});
  }

  /** A batch was added to the log: to the disk with it if it must go there. */
  journalBatch(batch: Batch): void {
    const toDisk = batch.durable && this.journaled;
    // What may count before it is on disk does so only while the disk keeps up: then it is there soon.
    const isAwaited = toDisk && !(batch.relaxed && this.context.syncsInTime());
    this.disk.added(batch, isAwaited);
    if (toDisk) this.context.journal.append(this, batch.chunk, batch.start, batch.end, batch.last);
  }

  // ---- roles ----

  /** The record changed, or is known for the first time. */
  recordChanged(record: Versioned<GroupRecord>): void {
    if (this.record !== undefined && record.version <= this.record.version) return;
    this.record = record;
    const { value } = record;
    if (this.passedOn !== undefined && this.passedOn.epoch < value.epoch) this.passedOn = undefined;
    if (value.epoch < this.epoch && this.context.rules.noLowerEpoch) return;
    const self = this.context.self;
    const resumes = !this.context.rules.noResume && value.primary.node === self.node;
    if (sameReplica(value.primary, self) || resumes) {
      if (this.primary?.epoch === value.epoch) this.primary.recordChanged(record);
      else this.lead(record);
    } else if (value.replicas.includes(self.node) || value.inSync.some(({ node }) => node === self.node)) {
      // As long as the set names an older boot of ours, the last copy of all may be what we have.
      this.followRecord(value);
    } else if (this.group !== systemGroup) {
      // The system group's record will name every node.
      this.retire();
    }
  }

  /** True if the record names another primary or epoch than our role as primary. */
  isDeposedBy(record: Versioned<GroupRecord>): boolean {
    const primary = this.primary;
    if (primary === undefined) return true;
    if (record.value.epoch === primary.epoch && sameReplica(record.value.primary, this.context.self)) return false;
    this.recordChanged(record);
    return true;
  }

  private lead(record: Versioned<GroupRecord>): void {
    this.depose(record.value);
    this.backup?.close();
    this.backup = undefined;
    this.epoch = record.value.epoch;
    const tookOver = !this.mustJoin;
    this.mustJoin = false;
    this.joining = false;
    this.state.isFilling = false;
    // The operator has accepted what is missing here.
    if (record.value.overridden === this.epoch) this.rejoined = true;
    this.logger.info('primary', { epoch: this.epoch, inSync: record.value.inSync.map((member) => member.node) });
    this.primary = new Primary(this, record, tookOver);
    this.listener.roleChanged(this);
    this.primary.start();
    // What a restart left us is the wiring now, though nothing may be committed for long.
    if (this.group === systemGroup) this.context.systemCommitted(this);
  }

  private followRecord(value: GroupRecord): void {
    if (
      this.backup !== undefined &&
      this.backup.epoch === value.epoch &&
      sameReplica(this.backup.primary, value.primary)
    )
      return;
    this.depose(value);
    this.backup?.close();
    this.backup = new Backup(this, value.epoch, value.primary);
    this.listener.roleChanged(this);
  }

  /** Our place was given to another node: what we have of the group is of no use any more. */
  private retire(): void {
    this.depose(this.record!.value);
    this.logger.info('no replica of this group any more', { replicas: this.record!.value.replicas });
    this.backup?.close();
    this.backup = undefined;
    this.state.dropAll();
    this.close();
    // Should the group come back, it begins with nothing: what was consumed meanwhile must not return, by a later restart.
    if (this.journaled) this.context.journal.unregister(this);
    this.listener.retired(this);
  }

  /** The node stops. */
  close(): void {
    this.primary?.close();
    this.backup?.close();
    this.log.close();
  }

  /**
   * No longer primary: what did not commit is given back to our own clients. Whoever was taken out of the set joins: what it
   * has and its successor lacks is void (rule 6). Who gave its group away is a member like any other: its log is matched.
   */
  private depose(record: GroupRecord): void {
    const primary = this.primary;
    if (primary === undefined) return;
    const { epoch, inSync } = record;
    primary.handOver?.deposedBy(record);
    const sealedEnd = this.log.end;
    const open = this.log.seal(false);
    if (open !== undefined) this.disk.added(open, false);
    this.keepPublishes();
    primary.close();
    this.primary = undefined;
    this.logger.info('deposed', { epoch: primary.epoch, by: epoch });
    this.mustJoin = !inSync.some((member) => sameReplica(member, this.context.self));
    // What was still open is in no journal and at no follower.
    this.cut(this.mustJoin ? this.log.committed : sealedEnd);
  }

  /** A piece of what the primary before us knows; it may come before the record that makes us primary does. */
  handedOver(epoch: number, isLast: boolean, piece: Uint8Array): void {
    const known = Math.max(this.epoch, this.record?.value.epoch ?? 0);
    if (epoch < known || (epoch === known && this.primary?.service !== undefined)) return;
    if (this.passedOn?.epoch !== epoch) this.passedOn = new PassedOn(epoch);
    this.passedOn.add(piece, isLast);
    if (this.primary?.epoch === epoch) this.primary.advance();
    else this.context.map.refreshSoon();
  }

  private keepPublishes(): void {
    const { keeper, self } = this.context;
    const keep = (bytes: Uint8Array, view: DataView, start: number): void =>
      keeper.keepPublish(this.group, bytes, view, start);
    for (let number = this.log.numberAfter(this.log.committed); number < this.log.endNumber; number++)
      forEachRecord(this.log.batch(number)!, (chunk, offset) => {
        const view = chunk.view!;
        if (chunk.bytes![offset + 4] === RecordKind.enqueue && view.getUint32(offset + 16, true) === self.boot)
          keep(chunk.bytes!, view, offset);
      });
    this.primary?.service?.forEachWaitingPublish(self.node, keep);
  }

  /** Cuts the log after `lsn`; what was journaled there is void for ever (rules 6, 19). */
  cut(lsn: Lsn): void {
    const ranges = this.log.truncateAfter(lsn);
    if (ranges.length === 0) return;
    this.disk.truncateAfter(lsn);
    this.addVoids(ranges);
  }

  private addVoids(ranges: readonly [Lsn, Lsn][]): void {
    const voids = [...this.voids];
    for (const [first, last] of [...ranges].reverse()) {
      const before = voids[voids.length - 1];
      if (before !== undefined && before[0] <= first && before[1] + 1 >= first)
        voids[voids.length - 1] = [before[0], Math.max(before[1], last)];
      else voids.push([first, last]);
    }
    this.voids = voids;
    if (this.journaled) this.saveMeta(() => {});
  }

  // ---- joining: what a Joiner does to us ----

  /**
   * Before the first change: the mark. `base` is at or after the end of all older epochs in the primary's log, so the batches
   * that follow are of this epoch only:
   * - what our tail has of this epoch is right, as far as it goes; what it has of older ones beyond what we know committed is
   *   void, and comes again as copies if it was committed after all;
   * - what lies between base and this epoch's beginning was cut by somebody: it is void, and its messages are dropped;
   * - what our tail has of this epoch after base comes again. Should the epoch end before it did, our journal has it, and our
   *   log has not: then the next join makes it void.
   * What a restarted replica knows of publishers may be from records that never committed: only the primary's numbers count.
   */
  beginJoin(
    base: Lsn,
    epochBegin: Lsn,
    publishers: [number, number][],
    wiringVersion: number,
    origins: OriginList = [],
    returns: ReturnList = [],
  ): void {
    this.joining = true;
    this.state.isFilling = true;
    if (this.comesAgain > this.log.end && this.comesAgain <= epochBegin)
      this.addVoids([[this.log.end + 1, this.comesAgain]]);
    if (this.log.committed >= epochBegin) this.commitTo(base);
    const cut = this.log.truncateAfter(this.log.committed);
    this.addVoids(cut.filter(([first]) => first <= epochBegin));
    if (base < epochBegin) this.addVoids([[base + 1, epochBegin]]);
    this.comesAgain = Math.max(this.comesAgain, cut[0]?.[1] ?? 0);
    this.log.resetTo(base);
    this.disk.reset(base);
    this.state.applied = base;
    this.state.wiringVersion = wiringVersion;
    this.state.publishers.replace(publishers);
    this.state.origins.replace(origins);
    this.state.returns.replace(returns);
    for (const [incarnation] of this.queueList()) this.dropBetween(incarnation, base, epochBegin);
    this.saveMeta(() => {});
  }

  private dropBetween(incarnation: Lsn, base: Lsn, epochBegin: Lsn): void {
    for (let below = epochBegin; below > base; ) {
      const slice = this.state.positionsDescending(incarnation, below, dequeuePositionsMax);
      const stale = slice.filter((position) => position > base);
      if (stale.length === 0) return;
      // Without a record: they are void, and that can be taken back.
      this.state.remove(incarnation, stale);
      below = stale[stale.length - 1]!;
    }
  }

  /** The queues, with the options that every replica knows. */
  queueList(): [incarnation: Lsn, options: ReplicaOptions][] {
    const list: [Lsn, ReplicaOptions][] = [];
    for (const queue of this.state.allQueues()) list.push([queue.incarnation, queue.options]);
    return list;
  }

  /** Clears the mark; `done` when that is on disk. */
  endJoin(done: () => void): void {
    this.joining = false;
    this.state.isFilling = false;
    this.mustJoin = false;
    this.saveMeta(done);
    if (this.group === systemGroup) this.context.systemCommitted(this);
  }

  openCopy(incarnation: number, options: ReplicaOptions): void {
    const known = this.context.rules.lanesJoined ? options : { durable: options.durable };
    this.copy([encodeOpen(incarnation, this.state.wiringVersion, known)], this.log.committed);
  }

  dropCopy(incarnation: number): void {
    this.copy([encodeDrop(incarnation, this.state.wiringVersion)], this.log.committed);
  }

  /** Drops messages that the primary does not have. Positions descend. */
  dropPositions(incarnation: number, positions: readonly Lsn[]): void {
    const ascending = [...positions].reverse();
    for (let i = 0; i < ascending.length; i += dequeuePositionsMax) {
      const some = ascending.slice(i, i + dequeuePositionsMax);
      const bytes = new Uint8Array(dequeueLengthMax(some.length));
      const length = encodeDequeue(bytes, new DataView(bytes.buffer), 0, incarnation, some, some.length, true);
      this.copy([bytes.subarray(0, length)], this.log.committed);
    }
  }

  /** A copy batch of our own making: journaled and applied. */
  private copy(records: Uint8Array[], asOf: Lsn): void {
    for (const record of records) setLsn(new DataView(record.buffer, record.byteOffset), 0, asOf);
    const batch = encodeCopyBatch(this.group, records, asOf);
    this.insertCopies(batch, 0, batch.length);
  }

  /** A copy batch, received or made: journaled, applied at once. Returns the number of its records. */
  insertCopies(bytes: Uint8Array, start: number, end: number): number {
    const header = readBatch(bytes, start, end, this.context.versions.max);
    const { chunk, offset } = this.log.store(bytes, start, end);
    this.context.journal.append(this, chunk, offset, offset + end - start, 0);
    const view = chunk.view!;
    const stop = offset + end - start;
    for (let at = offset + batchHeaderBytes; at < stop; at += view.getUint32(at, true)) this.applyCopy(chunk, at);
    this.log.letGoOfLarge();
    return header.count;
  }

  private applyCopy(chunk: Chunk, at: number): void {
    const bytes = chunk.bytes!;
    const view = chunk.view!;
    const incarnation = view.getFloat64(at + 16, true);
    switch (bytes[at + 4]) {
      case RecordKind.drop:
        this.state.dropQueue(incarnation);
        return;
      case RecordKind.dequeue:
      case RecordKind.dequeueRange: {
        const positions: Lsn[] = [];
        forEachDequeued(bytes, view, at, (position) => positions.push(position));
        this.state.remove(incarnation, positions);
        return;
      }
      default:
        this.state.insertCopy(chunk, at);
    }
  }

  closeChunk(chunk: Chunk): void {
    this.log.letGoOf(chunk);
  }
}
