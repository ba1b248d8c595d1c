/**
 * The state of one replicated group on one replica: its queues with their messages, the publishers' last numbers and the
 * wiring version applied. It changes by committed records only, through `apply`, the same function on primary and backup
 * (rule 6); recovery and joins, which know no order, have their own ways in.
 *
 * Of a message it keeps where the record lies, never its bytes: each entry of an index retains the record's chunk.
 */
import type { Slices } from '../base/slices.js';
import { annotatedAt } from '../log/annotated-record.js';
import type { Chunk, Chunks } from '../log/chunk.js';
import type { Lsn } from '../log/lsn.js';
import { decodeOpenOptions } from '../log/open-record.js';
import {
  bodyLength,
  expiresAt,
  enqueueHeaderBytes,
  forEachDequeued,
  forEachReturned,
  isLarge,
  originAt,
  priorityOf,
  RecordFlag,
  RecordKind,
} from '../log/record.js';
import type { ReplicaOptions } from '../log/replica-options.js';
import { DelayedMessages } from './delay/delayed-messages.js';
import { Origins } from './origins.js';
import { Returns } from './returns.js';
import { Publishers } from './publishers.js';
import { TerminusTable } from './terminus/terminus-table.js';
import { LargeBodies } from './large/large-bodies.js';
import { delayedIncarnation, partsIncarnation, terminiIncarnation } from './queue/outbox.js';
import { LaneIndex, priorityMax } from './queue/lane-index.js';
import { PiecePool } from './queue/queue-index.js';
import { newIndex, QueueState } from './queue/queue-state.js';

export { QueueState } from './queue/queue-state.js';

/** Told of every change after it was made, except during recovery. */
export interface GroupObserver {
  /** The record at `offset` of `chunk`, whose bytes are resident, was put into the queue. After a join: in any order. */
  enqueued(queue: QueueState, position: Lsn, chunk: Chunk, offset: number): void;
  dequeued(queue: QueueState, position: Lsn): void;
  opened(queue: QueueState): void;
  /** The queue and its messages are gone; `dequeued` is not called for them. */
  dropped(queue: QueueState): void;
}

/** Records of a dropped queue that are let go in one turn: about a millisecond's work. */
const dropSlice = 16_384;

/** A power of two. */
const recentQueues = 64;

/** Until the `open` is found each message is in a lane of its own priority. */
const notKnown: ReplicaOptions = { durable: true, priorities: priorityMax };

/** Wiring version of a recovered queue without an `open`. */
const notOpened = -1;

export class GroupState {
  readonly group: number;
  readonly chunks: Chunks;
  readonly slices: Slices;
  readonly publishers: Publishers = new Publishers();
  readonly origins: Origins = new Origins();
  /** Which of the messages that wait for their time is next. */
  readonly delays: DelayedMessages = new DelayedMessages();
  readonly returns: Returns = new Returns();
  /** Links that can be resumed, and what is unsettled of them. */
  readonly termini: TerminusTable = new TerminusTable();
  /** A join is under way: messages that the primary has may come later than what is told of them. */
  isFilling = false;
  /** Where the bodies of large messages are, and who refers to them. */
  readonly large: LargeBodies = new LargeBodies();
  /** Highest lsn applied. */
  applied: Lsn = 0;
  /** Wiring version of the last `open` or `drop` applied (rule 15). */
  wiringVersion: Lsn = 0;
  readonly observers: GroupObserver[] = [];
  /** Told of queues that are new, by whoever serves the group: observers cost something for each message. */
  onOpened: ((queue: QueueState) => void) | undefined = undefined;
  private readonly pool = new PiecePool();
  private readonly queues = new Map<Lsn, QueueState>();
  /** The queues asked for last, by the low bits of their incarnations: a map of floats costs more than all the rest. */
  private readonly recent: (QueueState | undefined)[] = new Array<QueueState | undefined>(recentQueues).fill(undefined);
  private dequeueFrom: QueueState | undefined;

  /**
   * @param permanent incarnations of durable queues that are there without an `open`: the wiring's queue in the system group.
   */
  constructor(group: number, chunks: Chunks, slices: Slices, permanent: readonly Lsn[] = []) {
    this.group = group;
    this.chunks = chunks;
    this.slices = slices;
    for (const incarnation of permanent) this.makeQueue(incarnation, { durable: true }, 0);
  }

  // ---- what it holds ----

  /** The queue, or undefined if it is not (or no longer) here. */
  queue(incarnation: Lsn): QueueState | undefined {
    const slot = incarnation & (recentQueues - 1);
    const recent = this.recent[slot];
    if (recent !== undefined && recent.incarnation === incarnation) return recent;
    const queue = this.queues.get(incarnation);
    if (queue !== undefined) this.recent[slot] = queue;
    return queue;
  }

  get queueCount(): number {
    return this.queues.size;
  }

  /** All queues, those that are always there as well. */
  allQueues(): Iterable<QueueState> {
    return this.queues.values();
  }

  /** Incarnations of all queues. May be read over several turns: queues that come or go meanwhile are seen or not. */
  *incarnations(): Generator<Lsn, void> {
    for (const incarnation of this.queues.keys()) yield incarnation;
  }

  /** Up to `max` positions of the queue below `below`, descending: a slice of a join. Changes between two calls do no harm. */
  positionsDescending(incarnation: Lsn, below: Lsn, max: number): Lsn[] {
    return this.queue(incarnation)?.index.positionsDescending(below, max) ?? [];
  }

  /** The chunk that an index entry refers to. */
  chunk(id: number): Chunk {
    // No memo: a freed chunk's number is used again.
    return this.chunks.byId(id);
  }

  // ---- committed records ----

  /** Applies the committed record at `offset` of `chunk`, whose bytes are resident. What was applied before changes nothing. */
  apply(chunk: Chunk, offset: number): void {
    const view = chunk.view!;
    const lsn = view.getFloat64(offset + 8, true);
    switch (chunk.bytes![offset + 4]) {
      case RecordKind.enqueue:
        this.enqueue(chunk, offset, lsn);
        this.publishers.committed(view.getUint32(offset + 16, true), view.getFloat64(offset + 24, true));
        if ((chunk.bytes![offset + 5]! & RecordFlag.origin) !== 0) this.origins.add(originAt(view, offset)!);
        break;
      case RecordKind.dequeue:
      case RecordKind.dequeueRange:
        this.dequeueFrom = this.queue(view.getFloat64(offset + 16, true));
        if (this.dequeueFrom !== undefined) forEachDequeued(chunk.bytes!, view, offset, this.dequeueOne);
        break;
      case RecordKind.returned:
        this.noteReturns(view, offset);
        break;
      case RecordKind.annotated:
        this.noteAnnotated(chunk.bytes!, view, offset);
        break;
      case RecordKind.open:
        this.open(chunk, offset);
        break;
      case RecordKind.drop: {
        this.wiringVersion = Math.max(this.wiringVersion, view.getFloat64(offset + 24, true));
        this.dropQueue(view.getFloat64(offset + 16, true));
        break;
      }
      default:
        throw new Error(`unknown kind of record ${chunk.bytes![offset + 4]} at ${offset} of chunk ${chunk.id}`);
    }
    if (lsn > this.applied) this.applied = lsn;
  }

  /** Of messages that are here, or come with a join. */
  noteReturns(view: DataView, offset: number): void {
    const incarnation = view.getFloat64(offset + 16, true);
    const index = this.queue(incarnation)?.index;
    forEachReturned(view, offset, (position, count) => {
      if (this.isFilling || index?.find(position) !== undefined) this.returns.note(incarnation, position, count);
    });
  }

  private noteAnnotated(bytes: Uint8Array, view: DataView, offset: number): void {
    const { incarnation, position, count, annotated } = annotatedAt(bytes, view, offset);
    if (this.isFilling || this.queue(incarnation)?.index.find(position) !== undefined)
      this.returns.note(incarnation, position, count, annotated);
  }

  /** Takes the messages at `positions[0..count)` out of the queue, without a record. Those that are not there are passed over. */
  remove(incarnation: Lsn, positions: ArrayLike<Lsn>, count: number = positions.length): void {
    const queue = this.queue(incarnation);
    if (queue === undefined) return;
    this.dequeueFrom = queue;
    for (let i = 0; i < count; i++) this.dequeueOne(positions[i]!);
  }

  /** Drops the queue. Its records are let go in slices, in later turns. */
  dropQueue(incarnation: Lsn): void {
    const queue = this.queues.get(incarnation);
    if (queue === undefined) return;
    this.queues.delete(incarnation);
    const slot = incarnation & (recentQueues - 1);
    if (this.recent[slot] === queue) this.recent[slot] = undefined;
    if (queue.openChunk >= 0) this.chunks.release(this.chunk(queue.openChunk), queue.openLength);
    this.returns.forgetQueue(incarnation);
    this.letGo(queue);
    queue.watcher?.dropped();
    for (const observer of this.observers) observer.dropped(queue);
  }

  /** Drops all queues, in slices, the first at once: for a replica that goes away. */
  dropAll(): void {
    const slice = this.slices.size(dropSlice);
    let budget = slice;
    for (const queue of this.queues.values()) {
      budget -= 1 + Math.min(queue.index.size, slice);
      this.dropQueue(queue.incarnation);
      if (budget > 0) continue;
      this.slices.later(() => this.dropAll());
      return;
    }
  }

  // ---- joins (rules 8, 9) ----

  /**
   * Inserts the backfilled copy of an enqueue or open at `offset` of `chunk`, whose bytes are resident, in its place. A message
   * goes into those of the queues it names that are here and lack it; whoever makes the copy leaves out the queues that have
   * consumed it (`copyRecord`). The publisher's number in it is not looked at: the join hands those over by itself.
   */
  insertCopy(chunk: Chunk, offset: number): void {
    if (chunk.bytes![offset + 4] === RecordKind.open) this.open(chunk, offset);
    else this.enqueue(chunk, offset, chunk.view!.getFloat64(offset + 8, true));
  }

  /**
   * A copy of the record at `offset` of `chunk` (resident), in which an enqueue names only the queues that still have the
   * message: what a backfill sends and a compaction writes. Undefined if nobody needs it any more.
   */
  copyRecord(chunk: Chunk, offset: number): Uint8Array | undefined {
    if (!this.isLive(chunk, offset)) return undefined;
    const length = chunk.view!.getUint32(offset, true);
    const copy = chunk.bytes!.slice(offset, offset + length);
    if (copy[4] !== RecordKind.enqueue) return copy;
    const view = new DataView(copy.buffer);
    const lsn = view.getFloat64(8, true);
    for (let i = 0, at = enqueueHeaderBytes; i < view.getUint16(6, true); i++, at += 8)
      if (this.queue(view.getFloat64(at, true))?.index.find(lsn) === undefined) view.setFloat64(at, 0, true);
    return copy;
  }

  // ---- recovery ----

  /** The queue of a record that was found, made if its `open` was not seen yet; what never gets one is dropped in the end. */
  recoveredQueue(incarnation: Lsn): QueueState {
    return this.queue(incarnation) ?? this.makeQueue(incarnation, notKnown, notOpened);
  }

  /** Inserts a recovered enqueue into the queue, and tells nobody. False if it is there already: another copy was seen. */
  recoverMessage(queue: QueueState, chunk: Chunk, offset: number, lsn: Lsn): boolean {
    const length = chunk.view!.getUint32(offset, true);
    const body = bodyLength(chunk.view!, offset);
    const priority = priorityOf(chunk.bytes!, offset);
    if (!queue.index.add(lsn, chunk.id, offset, length, body, queue.options.durable, priority)) return false;
    this.chunks.retain(chunk, length);
    if (expiresAt(chunk.view!, offset) !== 0) queue.mayExpire = true;
    if (queue.incarnation === delayedIncarnation) this.delays.enqueued(queue, lsn, chunk, offset);
    if (queue.incarnation === terminiIncarnation) this.termini.enqueued(queue, lsn, chunk, offset);
    this.noteLarge(queue, lsn, chunk, offset, queue.options.durable);
    return true;
  }

  /** The `open` of a queue was found, or a later copy of it. */
  recoverOpen(chunk: Chunk, offset: number): void {
    const view = chunk.view!;
    const queue = this.recoveredQueue(view.getFloat64(offset + 16, true));
    this.forgetOpen(queue);
    queue.wiringVersion = view.getFloat64(offset + 24, true);
    queue.options = decodeOpenOptions(chunk.bytes!, view, offset);
    this.keepOpen(queue, chunk, offset, view.getUint32(offset, true));
  }

  /**
   * The queue's messages come into the lanes that its `open` asks for, in steps of about `atLeast`; false if they are there. Nobody
   * holds any.
   */
  sortRecovered(queue: QueueState, atLeast: number): boolean {
    const { index, options } = queue;
    if (!(index instanceof LaneIndex)) return false;
    if (index.top === options.priorities && index.base === (options.base ?? 0)) return false;
    if (options.priorities === undefined && index.only !== undefined) {
      queue.index = index.only;
      return false;
    }
    queue.sorted ??= newIndex(options, this.pool);
    if (index.moveTo(queue.sorted, atLeast)) return true;
    queue.index = queue.sorted;
    queue.sorted = undefined;
    return false;
  }

  /** The queue's `open` is of no account: as if it was not found yet. */
  forgetOpen(queue: QueueState): void {
    if (queue.openChunk >= 0) this.chunks.release(this.chunk(queue.openChunk), queue.openLength);
    queue.openChunk = -1;
    queue.wiringVersion = notOpened;
  }

  /**
   * A queue that is not durable comes back without the messages that it shared with durable ones. Takes out about `atLeast` of
   * them; false if there are no more.
   */
  emptyRecovered(queue: QueueState, atLeast: number): boolean {
    queue.index.dropFront(atLeast, this.releaseOne);
    return queue.index.size > 0;
  }

  // ---- the journal's questions ----

  /** Is the record at `offset` of `chunk` (an enqueue or an open, resident) referred to? */
  isLive(chunk: Chunk, offset: number): boolean {
    const view = chunk.view!;
    if (chunk.bytes![offset + 4] === RecordKind.open) {
      const queue = this.queues.get(view.getFloat64(offset + 16, true));
      return queue !== undefined && queue.openChunk === chunk.id && queue.openOffset === offset;
    }
    const lsn = view.getFloat64(offset + 8, true);
    const count = view.getUint16(offset + 6, true);
    for (let i = 0, at = offset + enqueueHeaderBytes; i < count; i++, at += 8) {
      const entry = this.queue(view.getFloat64(at, true))?.index.find(lsn);
      if (entry !== undefined && entry.chunk === chunk.id && entry.offset === offset) return true;
    }
    return false;
  }

  /**
   * The record was copied: refers to the copy from now on. Returns false if it was not referred to any more by any of the
   * queues that the copy names.
   */
  moved(from: Chunk, fromOffset: number, to: Chunk, toOffset: number): boolean {
    const view = to.view!;
    const length = view.getUint32(toOffset, true);
    if (to.bytes![toOffset + 4] === RecordKind.open) {
      const queue = this.queues.get(view.getFloat64(toOffset + 16, true));
      if (queue === undefined || queue.openChunk !== from.id || queue.openOffset !== fromOffset) return false;
      this.keepOpen(queue, to, toOffset, length);
      this.chunks.release(from, length);
      return true;
    }
    const lsn = view.getFloat64(toOffset + 8, true);
    const count = view.getUint16(toOffset + 6, true);
    let any = false;
    for (let i = 0, at = toOffset + enqueueHeaderBytes; i < count; i++, at += 8) {
      const index = this.queue(view.getFloat64(at, true))?.index;
      const entry = index?.find(lsn);
      if (index === undefined || entry === undefined) continue;
      if (entry.chunk !== from.id || entry.offset !== fromOffset) continue;
      index.move(entry, to.id, toOffset);
      this.chunks.retain(to, length);
      this.chunks.release(from, length);
      any = true;
    }
    return any;
  }

  // ---- inside ----

  private makeQueue(incarnation: Lsn, options: ReplicaOptions, wiringVersion: Lsn): QueueState {
    const queue = new QueueState(incarnation, options, wiringVersion, this.pool);
    this.queues.set(incarnation, queue);
    if (incarnation === delayedIncarnation && !this.observers.includes(this.delays)) this.observers.push(this.delays);
    if (incarnation === terminiIncarnation && !this.observers.includes(this.termini)) this.observers.push(this.termini);
    return queue;
  }

  private enqueue(chunk: Chunk, offset: number, lsn: Lsn): void {
    const view = chunk.view!;
    const count = view.getUint16(offset + 6, true);
    const length = view.getUint32(offset, true);
    const flags = chunk.bytes![offset + 5]!;
    const durable = (flags & RecordFlag.durable) !== 0;
    const body = bodyLength(view, offset);
    const priority = priorityOf(chunk.bytes!, offset);
    const expires = expiresAt(view, offset) !== 0;
    const isBig = (flags & RecordFlag.large) !== 0;
    for (let i = 0, at = offset + enqueueHeaderBytes; i < count; i++, at += 8) {
      const queue = this.queue(view.getFloat64(at, true));
      if (queue === undefined) continue;
      const isDurable = durable && queue.options.durable;
      if (!queue.index.add(lsn, chunk.id, offset, length, body, isDurable, priority)) continue;
      this.chunks.retain(chunk, length);
      if (expires) queue.mayExpire = true;
      if (isBig || queue.incarnation === partsIncarnation) this.noteLarge(queue, lsn, chunk, offset, isDurable);
      if (queue.watcher !== undefined) queue.watcher.added(lsn, body, chunk, offset);
      for (let o = 0; o < this.observers.length; o++) this.observers[o]!.enqueued(queue, lsn, chunk, offset);
    }
  }

  private readonly dequeueOne = (position: number): void => {
    const queue = this.dequeueFrom!;
    // Of a message that a join was to bring, too.
    if (this.returns.size > 0) this.returns.forget(queue.incarnation, position);
    const entry = queue.index.find(position);
    if (entry === undefined) return;
    const chunk = this.chunk(entry.chunk);
    const length = entry.length;
    queue.index.remove(entry);
    this.chunks.release(chunk, length);
    if (this.large.size > 0) this.large.left(position);
    for (let o = 0; o < this.observers.length; o++) this.observers[o]!.dequeued(queue, position);
  };

  private open(chunk: Chunk, offset: number): void {
    const view = chunk.view!;
    const incarnation = view.getFloat64(offset + 16, true);
    const wiringVersion = view.getFloat64(offset + 24, true);
    this.wiringVersion = Math.max(this.wiringVersion, wiringVersion);
    if (this.queues.has(incarnation)) return;
    const queue = this.makeQueue(incarnation, decodeOpenOptions(chunk.bytes!, view, offset), wiringVersion);
    this.keepOpen(queue, chunk, offset, view.getUint32(offset, true));
    for (const observer of this.observers) observer.opened(queue);
    this.onOpened?.(queue);
  }

  private keepOpen(queue: QueueState, chunk: Chunk, offset: number, length: number): void {
    this.chunks.retain(chunk, length);
    queue.openChunk = chunk.id;
    queue.openOffset = offset;
    queue.openLength = length;
  }

  private letGo(queue: QueueState): void {
    queue.index.dropFront(this.slices.size(dropSlice), this.releaseOne);
    if (queue.index.size > 0) this.slices.later(() => this.letGo(queue));
  }

  private noteLarge(queue: QueueState, position: Lsn, chunk: Chunk, offset: number, durable: boolean): void {
    if (isLarge(chunk.view!, offset)) this.large.messageCame(position, chunk, offset);
    else if (queue.incarnation === partsIncarnation) this.large.partCame(position, chunk, offset, durable);
  }

  private readonly releaseOne = (chunk: number, length: number, position: Lsn): void => {
    this.chunks.release(this.chunk(chunk), length);
    if (this.large.size > 0) this.large.left(position);
  };
}
