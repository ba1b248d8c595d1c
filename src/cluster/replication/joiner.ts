/**
 * A joiner's side of a set difference: for each of the primary's queues it says which positions it has, slice by slice from
 * the back to the front, drops what the primary does not have and takes what it lacks, while live batches go on.
 *
 * Only positions up to `base`, the primary's commit point at the start, are compared: so the work is bounded by the
 * difference at the start. Everything is journaled before it counts; the mark that a join is under way is on disk
 * before the first change (rule 9), so a crash of either side starts the difference again.
 */
import type { Lsn } from '../../log/lsn.js';
import type { Link } from '../link/link.js';
import { FrameType } from '../link/frame-types.js';
import { type QueuesMessage, sendPoint, sendSlice, type Slice } from './frames.js';
import type { GroupReplica } from './group-replica.js';
import { JoinProgress } from './join-progress.js';

export class Joiner {
  readonly progress: JoinProgress;
  private readonly replica: GroupReplica;
  private readonly link: Link;
  private readonly epoch: number;
  private readonly session: number;
  private readonly base: Lsn;
  private readonly done: () => void;
  private readonly theirs: Set<number> = new Set();
  private readonly todo: number[] = [];
  /** The log's end at the primary after its last backfill; the join is done when it is committed here. */
  private endsAt = Number.POSITIVE_INFINITY;
  private finished = false;
  /** The slice that is asked for when our disk has caught up. */
  private later: { incarnation: number; high: Lsn } | undefined;

  constructor(replica: GroupReplica, link: Link, epoch: number, session: number, base: Lsn, done: () => void) {
    this.progress = new JoinProgress(replica.context.clock);
    this.replica = replica;
    this.link = link;
    this.epoch = epoch;
    this.session = session;
    this.base = base;
    this.done = done;
  }

  /** The primary's queues, as of `base` or somewhat later; no batch comes before. After the last part: drop the others, then compare one after the other. */
  queues(message: QueuesMessage): void {
    const { state } = this.replica;
    for (const [incarnation, options] of message.queues) {
      this.theirs.add(incarnation);
      this.todo.push(incarnation);
      if (state.queue(incarnation) === undefined) this.replica.openCopy(incarnation, options);
    }
    this.progress.named(message.queues.length, message.messages);
    if (!message.last) return;
    if (this.replica.context.rules.dropStale)
      for (const [incarnation] of this.replica.queueList())
        if (!this.theirs.has(incarnation)) this.replica.dropCopy(incarnation);
    this.nextQueue();
  }

  private nextQueue(): void {
    const incarnation = this.todo[this.todo.length - 1];
    if (incarnation === undefined)
      sendPoint(this.link, FrameType.haveEnd, this.replica.group, this.epoch, this.session, 0);
    else this.ask(incarnation, this.base);
  }

  /** Says which positions we have from `high` down, as far as one slice goes. */
  private ask(incarnation: number, high: Lsn): void {
    const { state, context, group } = this.replica;
    if (context.journal.pendingBytes > context.limits.pendingBytesMax / 4) {
      this.later = { incarnation, high };
      return;
    }
    const max = context.limits.backfillPositions;
    const positions = state.positionsDescending(incarnation, high + 1, max);
    const low = positions.length < max ? 0 : positions[positions.length - 1]!;
    const slice: Slice = { incarnation, high, low, positions, compared: 0 };
    sendSlice(this.link, FrameType.have, group, this.epoch, this.session, slice, undefined);
  }

  /** Some time has passed: asks for what was put off. */
  tick(): void {
    const next = this.later;
    if (next === undefined) return;
    this.later = undefined;
    this.ask(next.incarnation, next.high);
  }

  /** The answer covers [slice.low, slice.high]: `positions` are to be dropped, the copies are what we lack. */
  backfill(slice: Slice, bytes: Uint8Array, start: number, end: number): void {
    const { replica } = this;
    if (slice.positions.length > 0 && replica.context.rules.dropStale)
      replica.dropPositions(slice.incarnation, slice.positions);
    const received = end > start ? replica.insertCopies(bytes, start, end) : 0;
    this.progress.answered(slice.compared, received, end - start);
    if (slice.low > 0) {
      this.ask(slice.incarnation, slice.low - 1);
      return;
    }
    if (this.todo[this.todo.length - 1] !== slice.incarnation) return;
    this.todo.pop();
    this.progress.queuesDone++;
    this.nextQueue();
  }

  /** Everything was answered; `end`: the primary's log end after the last backfill. */
  ends(end: Lsn): void {
    this.endsAt = end;
    this.committed();
  }

  /** The commit point moved. */
  committed(): void {
    const { log } = this.replica;
    if (this.finished || this.endsAt === Number.POSITIVE_INFINITY) return;
    if (log.committed < this.endsAt) return;
    this.finished = true;
    this.done();
  }
}
