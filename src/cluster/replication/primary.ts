/**
 * The primary of one group, for one epoch.
 *
 *   service ─append→ GroupLog ─seal (end of turn)─┬→ journal ──────── durable ─┐
 *                                                 └→ followers ────── acks ────┤
 *   service ←committed─ GroupState ←apply─ advance: the least of all required ─┘
 *
 * Invariants: nothing commits that a required member (InSyncSet) lacks on its disk, our own disk included (rule 3), nor
 * before our epoch is on our disk (rule 2); acks count for one epoch, one boot, one session (rules 1, 4); what older epochs
 * left uncommitted commits only with acks of this one (rule 4).
 */
import { type Flushable, Phase } from '../../base/turn.js';
import { Feature } from '../../base/versions.js';
import type { Chunk } from '../../log/chunk.js';
import { type Batch, ensureChecksum } from '../../log/group-log.js';
import { eventsBetween, type Lsn } from '../../log/lsn.js';
import type { GroupAppender } from '../../model/group-port.js';
import { GroupService } from '../../model/group-service/group-service.js';
import type { Link } from '../link/link.js';
import { FrameType } from '../link/frame-types.js';
import { type GroupRecord, isLocalGroup, type Replica, sameReplica, systemGroup, type Versioned } from '../map.js';
import { BackfillSender } from './backfill.js';
import { DeliveryGate } from './delivery-gate.js';
import { Demand } from './demand.js';
import { Follower } from './follower.js';
import {
  AckFlag,
  type FollowMessage,
  type JoinMessage,
  type RefuseMessage,
  readSlice,
  sendBatch,
  sendJson,
  sendPoint,
  type StartMessage,
} from './frames.js';
import type { GroupReplica } from './group-replica.js';
import { versionInUse } from './context.js';
import { HandOver } from './hand-over.js';
import { Inheritance } from './inheritance.js';
import { InSyncSet } from './in-sync-set.js';
import { SetKeeper } from './set-keeper.js';

/** While the set is short, nodes are told so again after so many ticks: a fifth of a second. */
const inSyncTicks = 4;
/** Who has missed no more events of a group was away briefly: some tens of seconds of its load. */
const briefEvents = 1_000_000;

export class Primary implements GroupAppender, Flushable {
  readonly epoch: number;
  /** Defined once everything that the log had at the takeover is committed (rule 4). */
  service: GroupService | undefined;
  readonly set: InSyncSet;
  readonly followers: Map<string, Follower> = new Map();
  readonly gate: DeliveryGate;
  readonly demand: Demand = new Demand();
  /** The log's end when this epoch began (rule 5). */
  readonly takeoverEnd: Lsn;
  /** The log's end when we began to serve, or went on after a hand-over that was not made: nobody knows what became of that. */
  servesFrom: Lsn;
  /** Defined while the primary gives its group away. */
  handOver: HandOver | undefined;
  readonly replica: GroupReplica;
  private readonly tookOver: boolean;
  private readonly keeper: SetKeeper;
  private readonly backfill: BackfillSender;
  private readonly inheritance: Inheritance;
  private epochOnDisk = false;
  private inTurn = false;
  private ticks = 0;
  private closed = false;
  private readonly since: number;
  /** When each member was last seen following, or when we began to wait for it. */
  private readonly unfollowed: Map<string, number> = new Map();

  /** @param tookOver we have been up since an older primary led; false after a restart, when all clients come anew. */
  constructor(replica: GroupReplica, record: Versioned<GroupRecord>, tookOver: boolean) {
    const context = replica.context;
    this.replica = replica;
    this.tookOver = tookOver;
    this.since = context.clock.now();
    this.epoch = record.value.epoch;
    this.takeoverEnd = replica.log.end;
    this.servesFrom = this.takeoverEnd;
    this.set = new InSyncSet(record.value.inSync, context.rules);
    replica.log.beginEpoch(this.epoch);
    this.gate = new DeliveryGate(
      context,
      () => this.service !== undefined,
      () => this.openDeliveries(),
      record.value.movedFrom,
    );
    this.keeper = new SetKeeper(this, record);
    this.backfill = new BackfillSender(replica, this.epoch);
    this.inheritance = new Inheritance(replica, record.value);
    if (isLocalGroup(replica.group)) this.epochOnDisk = true;
    else
      replica.saveMeta(() => {
        this.epochOnDisk = true;
        this.advance();
      });
    if (!context.rules.epochPersist) this.epochOnDisk = true;
  }

  /** Goes on with what may be committed already. */
  start(): void {
    this.advance();
  }

  private serve(): void {
    const { context } = this.replica;
    this.service = new GroupService({
      state: this.replica.state,
      appender: this,
      epoch: this.epoch,
      turn: context.turn,
      clock: context.clock,
      logger: this.replica.logger,
      rules: context.rules,
      traits: context.traits,
      headers: context.headers,
      tookOver: this.tookOver,
      handedOver: this.inheritance.handOver,
      queueUse: (incarnation, use) => context.queueUse(incarnation, use),
      broken: (node, boot, reason) => context.attachmentBroken(this.replica.group, node, boot, reason),
    });
    this.keeper.updateMinInSync();
    this.replica.serving();
    this.gate.check();
  }

  // ---- GroupAppender: what the service writes with ----

  get chunk(): Chunk {
    return this.replica.log.openChunk;
  }
  get offset(): number {
    return this.replica.log.openOffset;
  }
  get replicated(): boolean {
    return this.followers.size > 0 || this.set.required.length > 1;
  }

  get version(): number {
    return versionInUse(this.replica.context);
  }

  reserve(bytes: number): void {
    this.replica.log.reserve(bytes, this.sealed);
    this.wake();
  }

  append(length: number): Lsn {
    return this.replica.log.append(length);
  }

  together(run: () => void): void {
    this.replica.log.together(run);
  }

  mayRelax(): boolean {
    return this.version >= Feature.relaxed && this.keeper.mayRelax();
  }

  mayAct(): boolean {
    return !this.closed && (isLocalGroup(this.replica.group) || this.keeper.leaseValid());
  }

  /** Puts the primary into this turn: batches are sealed, sent and, where nobody must be waited for, committed at its end. */
  wake(): void {
    if (this.inTurn || this.closed) return;
    this.inTurn = true;
    this.replica.context.turn.add(Phase.log, this);
  }

  flush(): void {
    this.inTurn = false;
    if (this.closed) return;
    const batch = this.replica.log.seal(this.leavesMemory);
    if (batch !== undefined) this.sealed(batch);
    for (const follower of this.followers.values()) this.send(follower);
    this.advance();
  }

  /** The batch's bytes will be written or sent: it needs its checksum. */
  private get leavesMemory(): boolean {
    return this.followers.size > 0 || this.replica.journaled;
  }

  private readonly sealed = (batch: Batch): void => {
    this.replica.journalBatch(batch);
  };

  // ---- commit ----

  /** Commits what all required members have, applies it, and tells service and followers. */
  advance(): void {
    if (this.closed) return;
    const log = this.replica.log;
    const point = this.commitPoint();
    if (point > log.committed) {
      this.replica.commitTo(point);
      this.service?.committed(log.committed);
      this.releaseTail();
      for (const follower of this.followers.values()) this.wakeIfBehind(follower);
    }
    if (this.service === undefined && this.isUpToDate && this.inheritance.isSettled(this.inherited)) this.serve();
    this.keeper.considerAdmissions();
    if (this.replica.group === systemGroup) this.replica.context.systemProgressed();
  }

  /** Everything that older epochs left is committed. */
  private get isUpToDate(): boolean {
    return this.epochOnDisk && this.replica.log.committed >= this.takeoverEnd;
  }

  private readonly inherited = (): void => this.advance();

  private commitPoint(): Lsn {
    const { log, disk, context } = this.replica;
    const rules = context.rules;
    if (!this.epochOnDisk) return log.committed;
    let point = rules.ownSync ? disk.value : log.end;
    if (!rules.backupsBeforeConfirm) return point;
    for (const member of this.set.required) {
      if (member.node === context.self.node) continue;
      point = Math.min(point, this.ackOf(member));
    }
    const now = context.clock.now();
    for (const follower of this.followers.values())
      if (follower.candidateUntil > now) point = Math.min(point, Math.max(follower.durable, log.committed));
    if (!rules.tailNotCommitted) point = Math.max(point, Math.min(this.takeoverEnd, disk.value));
    return point;
  }

  private ackOf(member: Replica): Lsn {
    const follower = this.followers.get(member.node);
    const rules = this.replica.context.rules;
    // Planted fault: what it acked to an older primary counts.
    if (!rules.ackEpoch) return Math.max(this.takeoverEnd, follower?.durable ?? 0);
    if (follower === undefined || !follower.matched) return 0;
    return sameReplica(follower.replica, member) || !rules.bootId ? follower.durable : 0;
  }

  /** What every in-sync member, and who is about to be one, has committed AND applied: wiring is complete only then (rule 15). */
  get appliedEverywhere(): Lsn {
    let lsn = this.replica.log.committed;
    for (const member of this.set.required) {
      if (member.node === this.replica.context.self.node) continue;
      const follower = this.followers.get(member.node);
      lsn = Math.min(lsn, follower?.matched === true ? follower.applied : 0);
    }
    for (const { routesFrom, applied } of this.followers.values())
      if (routesFrom !== undefined) lsn = Math.min(lsn, applied);
    return this.keeper.strangersMayRoute() && this.replica.context.rules.wiringWaitsForAll ? 0 : lsn;
  }

  private wakeIfBehind(follower: Follower): void {
    if (follower.isStreaming && follower.toldCommit < this.replica.log.committed) this.wake();
  }

  private releaseTail(): void {
    let keep = this.replica.log.endNumber;
    for (const follower of this.followers.values()) keep = Math.min(keep, follower.nextNumber);
    this.replica.log.release(keep);
  }

  // ---- followers ----

  /** Sends what the follower has not been sent, and the commit point. Stops when the link is full; `linkDrained` goes on. */
  private send(follower: Follower): void {
    const { log, group, context } = this.replica;
    const { link, session, isStreaming } = follower;
    while (isStreaming && follower.nextNumber < log.endNumber && !link.congested) {
      const batch = log.batch(follower.nextNumber);
      if (batch === undefined) {
        this.dropFollower(follower, 'it fell behind what is kept of the log');
        return;
      }
      ensureChecksum(batch);
      sendBatch(link, group, this.epoch, session, log.committed, batch.chunk.bytes!, batch.start, batch.end);
      follower.toldCommit = log.committed;
      follower.nextNumber++;
    }
    const outside = !follower.matched || !this.set.includes(follower.replica);
    if (follower.nextNumber < log.endNumber && outside && log.tailBytes > context.limits.tailBytesMax)
      this.dropFollower(follower, 'it fell behind, and is not in sync');
    else if (isStreaming && follower.toldCommit < log.committed && follower.nextNumber === log.endNumber) {
      sendPoint(link, FrameType.commit, group, this.epoch, session, log.committed);
      follower.toldCommit = log.committed;
    }
  }

  linkDrained(link: Link): void {
    const follower = this.followers.get(link.peer.node);
    if (follower?.link === link) this.wake();
    // After the batches: deliveries must not keep replication waiting.
    this.service?.drained(link.peer.node);
  }

  linkDown(link: Link): void {
    if (this.service === undefined) this.advance();
    const follower = this.followers.get(link.peer.node);
    if (follower?.link !== link) return;
    this.followers.delete(link.peer.node);
    this.unfollowed.set(link.peer.node, this.replica.context.clock.now());
    this.releaseTail();
  }

  private dropFollower(follower: Follower, why: string): void {
    this.replica.logger.info('a follower must start again', { node: follower.replica.node, why });
    this.followers.delete(follower.replica.node);
    const message: RefuseMessage = { epoch: this.epoch, session: follower.session };
    sendJson(follower.link, FrameType.refuse, this.replica.group, message);
    this.releaseTail();
  }

  /** A replica wants to follow (again). */
  follow(link: Link, message: FollowMessage): void {
    const { context, group } = this.replica;
    if (message.epoch !== this.epoch) {
      if (message.epoch > this.epoch) context.map.refreshSoon();
      sendJson(link, FrameType.refuse, group, { epoch: this.epoch, session: message.session } satisfies RefuseMessage);
      return;
    }
    const replica: Replica = { node: link.peer.node, store: message.store, boot: message.boot };
    this.followers.delete(link.peer.node);
    const member = this.set.includes(replica) || (!context.rules.bootId && this.set.includesNode(link.peer.node));
    if (member && !message.joining && context.rules.outFirst && this.match(link, replica, message)) return;
    if (this.set.includesNode(link.peer.node) && context.rules.outFirst) {
      this.keeper.takeOut(link.peer.node, 'it must join');
      sendJson(link, FrameType.refuse, group, { epoch: this.epoch, session: message.session } satisfies RefuseMessage);
      return;
    }
    // A joiner's base is after all older epochs: what follows it in the log is of this epoch only.
    if (this.replica.log.committed < this.takeoverEnd)
      sendJson(link, FrameType.refuse, group, { epoch: this.epoch, session: message.session } satisfies RefuseMessage);
    else this.join(link, replica, message);
  }

  /** Finds the common point with an intact member's log (rule 6). */
  private match(link: Link, replica: Replica, message: FollowMessage): boolean {
    const { log, group, context } = this.replica;
    if (message.end < log.committed && context.rules.refuseGaps) return false;
    let common = Math.max(log.committed, message.committed);
    if (common > log.end) return false;
    let number = log.numberAfter(common);
    const theirs = new Map(message.tail);
    for (; number < log.endNumber; number++) {
      const batch = log.batch(number)!;
      if (theirs.get(batch.first) !== batch.last) break;
      common = batch.last;
    }
    const follower = new Follower(replica, link, message.session, true, this.replica.disk.value, context.clock.now());
    follower.nextNumber = number;
    this.followers.set(link.peer.node, follower);
    const start: StartMessage = { epoch: this.epoch, session: message.session, match: common, commit: log.committed };
    sendJson(link, FrameType.start, group, start);
    this.wake();
    return true;
  }

  /** Set difference: the follower says what it has, is told what to drop, and is sent what it lacks (rules 8, 9). */
  private join(link: Link, replica: Replica, message: FollowMessage): void {
    const { log, group, state, context } = this.replica;
    const follower = new Follower(replica, link, message.session, false, this.replica.disk.value, context.clock.now());
    follower.nextNumber = log.numberAfter(log.committed);
    follower.wasBrieflyAway = message.partial === false && eventsBetween(message.end, log.committed) <= briefEvents;
    this.followers.set(link.peer.node, follower);
    const join: JoinMessage = {
      epoch: this.epoch,
      session: message.session,
      base: log.committed,
      publishers: context.rules.publishersKept ? state.publishers.list() : [],
      origins: context.rules.publishersKept ? state.origins.list() : [],
      returns: context.rules.returnsJoined ? state.returns.list() : [],
      wiringVersion: state.wiringVersion,
    };
    sendJson(link, FrameType.join, group, join);
    this.backfill.begin(follower);
    this.wake();
  }

  /** Frames from replicas; the payload's epoch and session are checked here. */
  frame(link: Link, type: number, view: DataView, start: number, end: number): void {
    const follower = this.followers.get(link.peer.node);
    if (follower === undefined || follower.link !== link) return;
    if (view.getUint32(start, true) !== this.epoch && this.replica.context.rules.ackEpoch) return;
    if (view.getUint32(start + 4, true) !== follower.session) return;
    if (type === FrameType.ack) this.acked(follower, view, start);
    else if (type === FrameType.have) this.backfill.request(follower, readSlice(view, start, end).slice);
    else if (type === FrameType.haveEnd) this.backfill.end(follower);
  }

  private acked(follower: Follower, view: DataView, start: number): void {
    const joined = (view.getUint32(start + 8, true) & AckFlag.joined) !== 0;
    if (joined || !this.replica.context.rules.joinerAcksNot) follower.matched = true;
    if (!follower.matched) return;
    const durable = view.getFloat64(start + 16, true);
    follower.durable = Math.max(follower.durable, durable);
    follower.measure(this.replica.disk.value, this.replica.context.clock.now());
    follower.applied = Math.max(follower.applied, view.getFloat64(start + 24, true));
    this.advance();
  }

  // ---- time, gate, end ----

  /** Called some times a heartbeat: shrinks, admits, gives lost places away, wakes what waited for a lease. */
  tick(): void {
    if (this.closed) return;
    if (this.service === undefined) this.advance();
    this.measureFollowers();
    this.keeper.tick();
    this.gate.check();
    if (!this.mayAct()) return;
    if (this.keeper.isShort && ++this.ticks % inSyncTicks === 0) this.service?.sayInSync();
    this.service?.touch();
    // Wiring may have waited for the lease, or for strangers to stop routing.
    if (this.replica.group === systemGroup) this.replica.context.systemProgressed();
  }

  /** Who has everything is not slow, for however long nothing was to be had. */
  private measureFollowers(): void {
    const now = this.replica.context.clock.now();
    for (const follower of this.followers.values()) follower.measure(this.replica.disk.value, now);
  }

  recordChanged(record: Versioned<GroupRecord>): void {
    this.keeper.recordChanged(record);
  }

  /** It is being given away: nothing is accepted any more. */
  get paused(): boolean {
    return this.handOver !== undefined;
  }

  /** The record as it was known last. */
  get record(): Versioned<GroupRecord> {
    return this.keeper.current;
  }

  /** Gives the group to another in-sync member (rule 20). False: not now. `kept` is called if it stays here after all. */
  giveAway(to: Replica, kept: () => void): boolean {
    const isServing =
      this.replica.group === systemGroup ? this.service !== undefined : this.service?.isServing === true;
    if (this.closed || this.paused || !isServing || !this.keeper.mayGiveTo(to)) return false;
    this.handOver = new HandOver(this, to, (value) => this.keeper.give(value), kept);
    this.handOver.start();
    return true;
  }

  private openDeliveries(): void {
    this.service?.open();
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Milliseconds since this epoch began here. */
  age(now: number): number {
    return now - this.since;
  }

  /** For how long the node has not been following. */
  unfollowedFor(node: string, now: number): number {
    return now - Math.max(this.since, this.unfollowed.get(node) ?? 0);
  }

  /** Deposed. The service drops all that is volatile; the replica deals with the log's tail. */
  close(): void {
    this.closed = true;
    this.handOver?.close();
    this.keeper.close();
    this.service?.close();
  }

  /** The node in that boot is proven dead or its lease is gone: what its clients held may be given to others (rule 13). */
  reap(node: string, boot: number): void {
    this.service?.reap(node, boot);
    this.gate.check();
  }
}
