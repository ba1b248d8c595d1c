/**
 * Brings a group's state back from what its journal held. Order means nothing (rule 19): compaction writes records again, so
 * an enqueue may be found before or after its dequeue, and more than once. Live is what was enqueued and not dequeued, in
 * queues that were opened and not dropped.
 *
 * A dequeue that is older than the moment at which a copy was known to be there (`asOf`) was never committed: the copy outweighs
 * it. So it is with queues: a joiner drops a queue that its primary has not opened yet, and has it again when the primary does.
 * What was there before the drop is gone, what came after it lives.
 *
 * What it remembers until the end: of every dequeue 16 bytes, since another copy of its message may still come; of a message
 * nothing but its index entry, which refers to the newest copy found: that copy's batch tells the moment (CopyMarks).
 */
import { annotatedAt } from '../log/annotated-record.js';
import type { Chunk } from '../log/chunk.js';
import type { GroupMeta } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import {
  enqueueHeaderBytes,
  forEachDequeued,
  forEachReturned,
  originAt,
  RecordFlag,
  RecordKind,
} from '../log/record.js';
import type { GroupState, QueueState } from './group-state.js';
import { CopyMarks } from './recovery/copy-marks.js';
import { FoundQueue } from './recovery/found-queue.js';
import { Returns } from './returns.js';

/** Positions looked up in one turn at the end: a millisecond or two when all is out of the processor's caches. */
const finishSlice = 4096;
const stepPositions = 512;

export class GroupRecovery {
  private readonly state: GroupState;
  private readonly found = new Map<Lsn, FoundQueue>();
  private readonly marks = new CopyMarks();
  /** The queue that was asked for last: mostly it is the next one too. */
  private recent = new FoundQueue(-1);
  /** Of messages that may be gone. */
  private readonly returns = new Returns();
  private dequeueLsn: Lsn = 0;
  /** The meta data have all publishers' numbers up to here. */
  private numbered: Lsn = 0;
  private readonly one: Lsn[] = [0];

  /** @param state empty, without observers yet. */
  constructor(state: GroupState) {
    this.state = state;
  }

  /** The group's last meta data; before all records. */
  meta(meta: GroupMeta): void {
    const state = this.state;
    state.publishers.merge(meta.publishers);
    state.origins.merge(meta.origins ?? []);
    this.returns.merge(meta.returns ?? []);
    state.wiringVersion = Math.max(state.wiringVersion, meta.wiringVersion);
    state.applied = Math.max(state.applied, meta.applied);
    this.numbered = Math.max(this.numbered, meta.applied);
  }

  /**
   * A valid record at `offset` of `chunk`, whose bytes are resident; those of one chunk in the order of their offsets. Records that
   * are not durable are passed over.
   */
  record(chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn = lsn): void {
    const bytes = chunk.bytes!;
    const view = chunk.view!;
    if ((bytes[offset + 5]! & RecordFlag.durable) === 0) return;
    const state = this.state;
    switch (bytes[offset + 4]) {
      case RecordKind.enqueue:
        this.enqueue(chunk, offset, lsn, asOf);
        break;
      case RecordKind.dequeue:
      case RecordKind.dequeueRange:
        this.dequeueLsn = lsn;
        this.dequeue(chunk, offset);
        break;
      case RecordKind.returned:
        forEachReturned(view, offset, (position, count) =>
          this.returns.note(view.getFloat64(offset + 16, true), position, count),
        );
        break;
      case RecordKind.annotated: {
        const { incarnation, position, count, annotated } = annotatedAt(bytes, view, offset);
        this.returns.note(incarnation, position, count, annotated);
        break;
      }
      case RecordKind.open:
        state.wiringVersion = Math.max(state.wiringVersion, view.getFloat64(offset + 24, true));
        this.open(chunk, offset, asOf);
        break;
      case RecordKind.drop:
        state.wiringVersion = Math.max(state.wiringVersion, view.getFloat64(offset + 24, true));
        this.drop(view.getFloat64(offset + 16, true), lsn);
        break;
      default:
        throw new Error(`unknown kind of record ${bytes[offset + 4]} at ${offset} of chunk ${chunk.id}`);
    }
    if (lsn > state.applied) state.applied = lsn;
  }

  /**
   * Everything was found. Removes what was consumed, what is older than its queue's drop, and queues that were never opened; in
   * slices, then calls `done`.
   */
  finish(done: () => void): void {
    const work = this.work();
    const slice = (): void => {
      for (let budget = this.state.slices.size(finishSlice); budget > 0; ) {
        const step = work.next();
        if (step.done === true) {
          done();
          return;
        }
        budget -= step.value;
      }
      this.state.slices.later(slice);
    };
    slice();
  }

  /** The steps of `finish`. Each yields what it was: about how many positions it has looked up. */
  private *work(): Generator<number, void> {
    const { state } = this;
    for (const queue of state.allQueues()) {
      yield 1;
      if (!queue.isOpened) {
        yield Math.min(queue.index.size, finishSlice);
        state.dropQueue(queue.incarnation);
      } else if (!queue.options.durable) {
        while (state.emptyRecovered(queue, stepPositions)) yield stepPositions;
      }
      while (queue.isOpened && state.sortRecovered(queue, stepPositions)) yield stepPositions;
    }
    for (const found of this.found.values()) {
      yield 1;
      const queue = state.queue(found.incarnation);
      if (queue === undefined) continue;
      if (found.isMixed) yield* this.dropOlder(queue, found.dropped);
      const { dequeued } = found;
      for (let i = 0; i < dequeued.length; i++) {
        if (i % stepPositions === stepPositions - 1) yield stepPositions;
        this.removeOne(queue, dequeued.at(i), dequeued.lsnAt(i));
      }
    }
    yield* this.keepReturns();
  }

  private *keepReturns(): Generator<number, void> {
    for (const one of this.returns.list()) {
      const [incarnation, position] = one;
      if (this.state.queue(incarnation)?.index.find(position) !== undefined) this.state.returns.merge([one]);
      yield 1;
    }
  }

  private *dropOlder(queue: QueueState, dropped: Lsn): Generator<number, void> {
    const { state } = this;
    for (let below = Number.POSITIVE_INFINITY; ; ) {
      const most = state.slices.size(stepPositions);
      const slice = queue.index.positionsDescending(below, most);
      for (const position of slice) this.removeOne(queue, position, dropped);
      if (slice.length < most) return;
      below = slice[slice.length - 1]!;
      yield most;
    }
  }

  private queue(incarnation: Lsn): FoundQueue {
    if (this.recent.incarnation === incarnation) return this.recent;
    let found = this.found.get(incarnation);
    if (found === undefined) {
      found = new FoundQueue(incarnation);
      this.found.set(incarnation, found);
    }
    this.recent = found;
    return found;
  }

  private open(chunk: Chunk, offset: number, asOf: Lsn): void {
    const found = this.queue(chunk.view!.getFloat64(offset + 16, true));
    if (found.dropped >= asOf || found.opened >= asOf) return;
    found.opened = asOf;
    this.state.recoverOpen(chunk, offset);
  }

  private drop(incarnation: Lsn, lsn: Lsn): void {
    const { state } = this;
    const found = this.queue(incarnation);
    if (found.dropped >= lsn) return;
    found.dropped = lsn;
    const queue = state.queue(incarnation);
    if (queue === undefined) return;
    const reopened = found.opened > lsn;
    if (!reopened && found.newest <= lsn) {
      state.dropQueue(incarnation);
      return;
    }
    if (!reopened) state.forgetOpen(queue);
    found.isMixed = true;
  }

  private enqueue(chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    const view = chunk.view!;
    const count = view.getUint16(offset + 6, true);
    this.marks.note(chunk, offset, lsn, asOf);
    for (let i = 0, at = offset + enqueueHeaderBytes; i < count; i++, at += 8) {
      const incarnation = view.getFloat64(at, true);
      if (incarnation === 0) continue;
      const found = this.queue(incarnation);
      if (found.dropped >= asOf) continue;
      if (asOf > found.newest) found.newest = asOf;
      const queue = this.state.recoveredQueue(incarnation);
      const isNew = this.state.recoverMessage(queue, chunk, offset, lsn);
      if (!isNew && asOf > lsn) this.preferNewest(queue, chunk, offset, lsn, asOf);
    }
    // What is older and was committed is numbered already; what was not, a join has dropped, and it may come again.
    if (lsn <= this.numbered) return;
    this.state.publishers.committed(view.getUint32(offset + 16, true), view.getFloat64(offset + 24, true));
    const origin = originAt(view, offset);
    if (origin !== undefined) this.state.origins.add(origin);
  }

  /** Another copy of a message that was found already: the entry refers to the newest, which outweighs the most dequeues. */
  private preferNewest(queue: QueueState, chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    const { state } = this;
    const entry = queue.index.find(lsn)!;
    const before = state.chunk(entry.chunk);
    if (this.marks.asOf(before, entry.offset, lsn) >= asOf) return;
    queue.index.move(entry, chunk.id, offset);
    state.chunks.retain(chunk, entry.length);
    state.chunks.release(before, entry.length);
  }

  private dequeue(chunk: Chunk, offset: number): void {
    const found = this.queue(chunk.view!.getFloat64(offset + 16, true));
    if (found.dropped < this.dequeueLsn) forEachDequeued(chunk.bytes!, chunk.view!, offset, this.dequeueOne);
  }

  /** Of the queue that was asked for last. */
  private readonly dequeueOne = (position: Lsn): void => {
    const { recent, dequeueLsn } = this;
    recent.dequeued.push(position, dequeueLsn);
    const queue = this.state.queue(recent.incarnation);
    if (queue !== undefined) this.removeOne(queue, position, dequeueLsn);
  };

  /** Takes the message out, unless it was there later than `lsn`. */
  private removeOne(queue: QueueState, position: Lsn, lsn: Lsn): void {
    const entry = queue.index.find(position);
    if (entry === undefined) return;
    if (this.marks.asOf(this.state.chunk(entry.chunk), entry.offset, position) > lsn) return;
    this.one[0] = position;
    this.state.remove(queue.incarnation, this.one, 1);
  }
}
