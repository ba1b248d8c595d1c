/**
 * A backup: follows one primary in one epoch. Journals batches at receipt, acks what is on disk, applies at commit, so there
 * is nothing to undo (rules 6, 7). If it cannot be matched it joins by set difference (Joiner).
 */
import { type Flushable, Phase } from '../../base/turn.js';
import { type Batch, forEachRecord } from '../../log/group-log.js';
import { epochStart, type Lsn } from '../../log/lsn.js';
import { RecordKind } from '../../log/record.js';
import type { Link } from '../link/link.js';
import { FrameType } from '../link/frame-types.js';
import { type Replica, systemGroup } from '../map.js';
import {
  AckFlag,
  type FollowMessage,
  type JoinMessage,
  type QueuesMessage,
  type RefuseMessage,
  readBatch,
  readJson,
  readSlice,
  type StartMessage,
  sendAck,
  sendJson,
} from './frames.js';
import type { GroupReplica } from './group-replica.js';
import { Joiner } from './joiner.js';
import { wiringIncarnation } from './system-group.js';

export class Backup implements Flushable {
  readonly epoch: number;
  readonly primary: Replica;
  /** Defined while a set difference is under way; for the status. */
  joiner: Joiner | undefined;
  private readonly replica: GroupReplica;
  private link: Link | undefined;
  private session = 0;
  /** Started or joining: the primary has answered this session. */
  private attached = false;
  /** The epoch is on disk: acks may go out (rule 2). */
  private epochOnDisk = false;
  /** The join's end is on disk: acks count (rule 9). */
  private joined = false;
  private ackedDurable: Lsn = -1;
  private ackedApplied: Lsn = -1;
  private ackDue = false;
  private inTurn = false;
  private closed = false;
  private retryAt = 0;

  constructor(replica: GroupReplica, epoch: number, primary: Replica) {
    this.replica = replica;
    this.epoch = epoch;
    this.primary = primary;
    this.linkUp();
  }

  /** In sync or joining with the present primary. */
  get following(): boolean {
    return this.attached;
  }

  linkUp(): void {
    const link = this.replica.context.link(this.primary.node, this.primary.boot);
    if (link === undefined || link === this.link) return;
    this.link = link;
    this.follow();
  }

  linkDown(link: Link): void {
    if (this.link !== link) return;
    this.link = undefined;
    this.detach();
  }

  tick(now: number): void {
    this.joiner?.tick();
    if (this.attached || this.link === undefined || now < this.retryAt) return;
    const { journal, limits } = this.replica.context;
    if (journal.pendingBytes <= limits.pendingBytesMax / 2) this.follow();
  }

  close(): void {
    this.closed = true;
    this.detach();
  }

  private detach(): void {
    this.attached = false;
    this.epochOnDisk = false;
    this.joined = false;
    this.joiner = undefined;
    this.ackedDurable = -1;
    this.ackedApplied = -1;
  }

  /** Says what we have; the primary answers `start`, `join`, or `refuse`. */
  private follow(): void {
    const { log, context, group } = this.replica;
    this.detach();
    this.session++;
    this.retryAt = context.clock.now() + followRetryMs;
    const tail: [Lsn, Lsn][] = [];
    for (let number = log.numberAfter(log.committed); number < log.endNumber; number++) {
      const batch = log.batch(number)!;
      tail.push([batch.first, batch.last]);
    }
    const message: FollowMessage = {
      epoch: this.epoch,
      session: this.session,
      store: context.self.store,
      boot: context.self.boot,
      joining: this.replica.mustJoin,
      partial: this.replica.joining,
      committed: log.committed,
      end: log.end,
      tail,
    };
    sendJson(this.link!, FrameType.follow, group, message);
  }

  // ---- frames ----

  frame(link: Link, type: number, bytes: Uint8Array, view: DataView, start: number, end: number): void {
    if (link !== this.link || this.closed) return;
    switch (type) {
      case FrameType.start:
        this.started(readJson<StartMessage>(bytes, start, end));
        return;
      case FrameType.join:
        this.joins(readJson<JoinMessage>(bytes, start, end));
        return;
      case FrameType.refuse:
        this.refused(readJson<RefuseMessage>(bytes, start, end));
        return;
      case FrameType.queues: {
        const message = readJson<QueuesMessage>(bytes, start, end);
        if (this.isOurs(message)) this.joiner?.queues(message);
        return;
      }
      default:
        if (view.getUint32(start, true) !== this.epoch || view.getUint32(start + 4, true) !== this.session) return;
        if (this.attached) this.streamed(type, bytes, view, start, end);
    }
  }

  private isOurs(message: { epoch: number; session: number }): boolean {
    return message.epoch === this.epoch && message.session === this.session;
  }

  private refused(message: RefuseMessage): void {
    const { context } = this.replica;
    if (message.epoch > this.epoch) context.map.refreshSoon();
    if (message.session !== this.session) return;
    this.detach();
    this.retryAt = context.clock.now() + refusedRetryMs + context.random.int(refusedRetryMs);
  }

  /** Log matching: what we have after the common point never was, or never will be, committed (rule 6). */
  private started(message: StartMessage): void {
    if (!this.isOurs(message)) return;
    const { replica } = this;
    if (replica.context.rules.truncate) replica.cut(message.match);
    this.attached = true;
    this.joined = true;
    this.saveEpoch();
    this.commit(message.commit);
  }

  private joins(message: JoinMessage): void {
    if (!this.isOurs(message)) return;
    const { replica } = this;
    this.attached = true;
    this.joined = false;
    const { base, publishers, wiringVersion, origins, returns } = message;
    replica.beginJoin(base, epochStart(this.epoch), publishers, wiringVersion, origins, returns);
    this.saveEpoch();
    this.joiner = new Joiner(replica, this.link!, this.epoch, this.session, message.base, () => this.joinDone());
  }

  /** Rule 2: the epoch, and what was cut or begun with it, is on disk before the first ack. */
  private saveEpoch(): void {
    const { replica } = this;
    const session = this.session;
    replica.epoch = Math.max(replica.epoch, this.epoch);
    this.epochOnDisk = !replica.context.rules.epochPersist;
    replica.saveMeta(() => {
      if (this.session !== session || this.closed) return;
      this.epochOnDisk = true;
      this.ack();
    });
  }

  /** The difference is done and the commit point has passed it: from here on we are like any member. */
  private joinDone(): void {
    const session = this.session;
    const { replica } = this;
    const { messages, bytes } = this.joiner!.progress.status();
    this.joiner = undefined;
    replica.endJoin(() => {
      if (this.session !== session || this.closed) return;
      replica.logger.info('joined', { messages, bytes });
      this.joined = true;
      this.ack();
    });
  }

  private streamed(type: number, bytes: Uint8Array, view: DataView, start: number, end: number): void {
    switch (type) {
      case FrameType.batch:
        this.batch(bytes, start + 16, end);
        if (this.attached) this.commit(view.getFloat64(start + 8, true));
        return;
      case FrameType.commit:
        this.commit(view.getFloat64(start + 8, true));
        return;
      case FrameType.backfill: {
        const { slice, copiesStart } = readSlice(view, start, end);
        this.joiner?.backfill(slice, bytes, copiesStart, end);
        return;
      }
      case FrameType.joinEnd:
        this.joiner?.ends(view.getFloat64(start + 8, true));
        return;
      default:
    }
  }

  /** Planted fault: declarations count before they are committed. */
  private actAtReceipt(batch: Batch): void {
    const { state } = this.replica;
    const queue = state.queue(wiringIncarnation)!;
    forEachRecord(batch, (chunk, offset) => {
      const { bytes, view } = chunk;
      // An epoch's first event is an enqueue for no queue.
      if (bytes![offset + 4] !== RecordKind.enqueue || view!.getUint16(offset + 6, true) === 0) return;
      for (const observer of state.observers)
        observer.enqueued(queue, view!.getFloat64(offset + 8, true), chunk, offset);
    });
  }

  private batch(bytes: Uint8Array, start: number, end: number): void {
    const { log, logger, context } = this.replica;
    const header = readBatch(bytes, start, end, context.versions.max);
    if (header.previous !== log.end && context.rules.refuseGaps && context.rules.truncate) {
      logger.warn('a batch does not follow on our log: following again', { previous: header.previous, end: log.end });
      this.follow();
      return;
    }
    if (context.journal.pendingBytes > context.limits.pendingBytesMax) {
      logger.warn('our disk is slower than the primary: following again when it has caught up');
      this.detach();
      return;
    }
    const batch = this.replica.receive(bytes, start, end, header);
    if (!context.rules.applyAtCommit) this.replica.commitTo(batch.last);
    if (!context.rules.onlyCommittedWiring && this.replica.group === systemGroup) this.actAtReceipt(batch);
    this.ack();
  }

  private commit(point: Lsn): void {
    const { log } = this.replica;
    if (point <= log.committed) return;
    this.replica.commitTo(Math.min(point, log.end));
    log.release(log.endNumber);
    this.joiner?.committed();
    if (this.replica.group === systemGroup) this.ack();
  }

  /** Our own disk has more of the log. */
  diskAdvanced(): void {
    this.ack();
  }

  // ---- acks: one per turn ----

  private ack(): void {
    if (this.inTurn || this.closed || this.link === undefined) return;
    this.inTurn = true;
    this.ackDue = true;
    this.replica.context.turn.add(Phase.log, this);
  }

  flush(): void {
    this.inTurn = false;
    if (!this.ackDue || this.closed || this.link === undefined || !this.attached || !this.epochOnDisk) return;
    this.ackDue = false;
    const { log, disk, context, group } = this.replica;
    if (!this.joined && context.rules.joinerAcksNot) return;
    const durable = context.rules.ackAfterSync ? disk.value : log.end;
    if (durable === this.ackedDurable && log.committed === this.ackedApplied) return;
    this.ackedDurable = durable;
    this.ackedApplied = log.committed;
    const flags = this.joined ? AckFlag.joined : 0;
    if (this.joined) this.replica.rejoined = true;
    sendAck(this.link, group, this.epoch, this.session, flags, context.self.boot, durable, log.committed);
  }
}

const followRetryMs = 1000;
const refusedRetryMs = 50;
