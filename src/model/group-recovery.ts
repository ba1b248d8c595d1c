/**
 * Brings a group's state back from what its journal held. Order means nothing (rule 19): compaction writes records again, so
 * an enqueue may be found before or after its dequeue, and more than once. Live is what was enqueued and not dequeued, in
 * queues that were opened and not dropped.
 *
 * Every dequeue is remembered until the end, 16 bytes each, since another copy of its message may still come. A dequeue
 * that is older than the moment at which a copy was known to be there (`asOf`) was never committed: the copy outweighs it.
 *
 * So it is with queues: a joiner drops a queue that its primary has not opened yet, and has it again when the primary does. What
 * was there before the drop is gone, what came after it lives.
 */
import type { Chunk } from '../log/chunk.js';
import type { GroupMeta } from '../log/journal.js';
import type { Lsn } from '../log/lsn.js';
import { enqueueHeaderBytes, forEachDequeued, RecordFlag, RecordKind } from '../log/record.js';
import type { GroupState } from './group-state.js';

/** Positions looked up in one turn at the end: about a millisecond's work. */
const finishSlice = 16_384;

export class GroupRecovery {
  private readonly state: GroupState;
  private readonly dequeued = new Map<Lsn, PositionLog>();
  /** By queue and position: the latest moment at which a copy of the message was known to be there. */
  private readonly copied = new Map<Lsn, Map<Lsn, Lsn>>();
  /** By queue: the lsn of its last drop; the latest moment at which it was known to be open. */
  private readonly dropped = new Map<Lsn, Lsn>();
  private readonly opened = new Map<Lsn, Lsn>();
  private log: PositionLog | undefined;
  private logOf: Lsn = -1;
  private dequeueLsn: Lsn = 0;
  private readonly one: Lsn[] = [0];

  /** @param state empty, without observers yet. */
  constructor(state: GroupState) {
    this.state = state;
  }

  /** The group's last meta data. */
  meta(meta: GroupMeta): void {
    const state = this.state;
    state.publishers.merge(meta.publishers);
    state.wiringVersion = Math.max(state.wiringVersion, meta.wiringVersion);
    state.applied = Math.max(state.applied, meta.applied);
  }

  /** A valid record at `offset` of `chunk`, whose bytes are resident. Records that are not durable are passed over. */
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
        this.dequeueLsn = lsn;
        this.dequeue(chunk, offset);
        break;
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

  /** Everything was found. Removes what was consumed, and queues that were never opened; in slices, then calls `done`. */
  finish(done: () => void): void {
    for (const queue of [...this.state.allQueues()]) {
      if (!queue.isOpened) this.state.dropQueue(queue.incarnation);
      else if (!queue.options.durable) this.state.emptyRecovered(queue);
    }
    const left = [...this.dequeued];
    let from = 0;
    const slice = (): void => {
      for (let budget = finishSlice; budget > 0; ) {
        const next = left[left.length - 1];
        if (next === undefined) {
          done();
          return;
        }
        const [incarnation, positions] = next;
        const queue = this.state.queue(incarnation);
        const end = queue === undefined ? positions.length : Math.min(positions.length, from + budget);
        if (queue !== undefined) {
          budget -= end - from;
          for (; from < end; from++) this.removeOne(incarnation, positions.at(from), positions.lsnAt(from));
        }
        budget--;
        if (end === positions.length) {
          left.pop();
          from = 0;
        }
      }
      this.state.later(slice);
    };
    slice();
  }

  private isDropped(incarnation: Lsn, asOf: Lsn): boolean {
    return (this.dropped.get(incarnation) ?? -1) >= asOf;
  }

  private open(chunk: Chunk, offset: number, asOf: Lsn): void {
    const incarnation = chunk.view!.getFloat64(offset + 16, true);
    if (this.isDropped(incarnation, asOf) || (this.opened.get(incarnation) ?? -1) >= asOf) return;
    this.opened.set(incarnation, asOf);
    this.state.recoverOpen(chunk, offset);
  }

  private drop(incarnation: Lsn, lsn: Lsn): void {
    const { state } = this;
    if (this.isDropped(incarnation, lsn)) return;
    this.dropped.set(incarnation, lsn);
    const queue = state.queue(incarnation);
    if (queue === undefined) return;
    const reopened = (this.opened.get(incarnation) ?? -1) > lsn;
    if (!reopened && !(queue.index.last > lsn) && !this.copied.has(incarnation)) {
      state.dropQueue(incarnation);
      return;
    }
    if (!reopened) state.forgetOpen(queue);
    const copies = this.copied.get(incarnation);
    for (let below = lsn + 1, end = false; !end; ) {
      const slice = queue.index.positionsDescending(below, finishSlice);
      end = slice.length < finishSlice;
      below = slice[slice.length - 1] ?? 0;
      state.remove(
        incarnation,
        slice.filter((position) => (copies?.get(position) ?? position) <= lsn),
      );
    }
  }

  private enqueue(chunk: Chunk, offset: number, lsn: Lsn, asOf: Lsn): void {
    const view = chunk.view!;
    const count = view.getUint16(offset + 6, true);
    for (let i = 0, at = offset + enqueueHeaderBytes; i < count; i++, at += 8) {
      const incarnation = view.getFloat64(at, true);
      if (incarnation === 0 || this.isDropped(incarnation, asOf)) continue;
      if (asOf > lsn) this.noteCopy(incarnation, lsn, asOf);
      this.state.recoverMessage(this.state.recoveredQueue(incarnation), chunk, offset, lsn);
    }
    this.state.publishers.committed(view.getUint32(offset + 16, true), view.getFloat64(offset + 24, true));
  }

  private dequeue(chunk: Chunk, offset: number): void {
    const incarnation = chunk.view!.getFloat64(offset + 16, true);
    if (this.isDropped(incarnation, this.dequeueLsn)) return;
    if (this.log === undefined || this.logOf !== incarnation) {
      this.log = this.dequeued.get(incarnation) ?? new PositionLog();
      this.dequeued.set(incarnation, this.log);
      this.logOf = incarnation;
    }
    forEachDequeued(chunk.bytes!, chunk.view!, offset, this.dequeueOne);
  }

  private readonly dequeueOne = (position: Lsn): void => {
    this.log!.push(position, this.dequeueLsn);
    this.removeOne(this.logOf, position, this.dequeueLsn);
  };

  private noteCopy(incarnation: Lsn, position: Lsn, asOf: Lsn): void {
    let copies = this.copied.get(incarnation);
    if (copies === undefined) {
      copies = new Map();
      this.copied.set(incarnation, copies);
    }
    copies.set(position, Math.max(copies.get(position) ?? 0, asOf));
  }

  private removeOne(incarnation: Lsn, position: Lsn, lsn: Lsn): void {
    const copies = this.copied.get(incarnation);
    if (copies !== undefined && (copies.get(position) ?? 0) > lsn) return;
    this.one[0] = position;
    this.state.remove(incarnation, this.one, 1);
  }
}

const pagePositions = 4096;

/** A list of positions, each with the lsn of its dequeue, that only grows; in pages, so that growing copies nothing. */
class PositionLog {
  length = 0;
  private readonly pages: Float64Array[] = [];

  push(position: Lsn, lsn: Lsn): void {
    const slot = (this.length % pagePositions) * 2;
    if (slot === 0) this.pages.push(new Float64Array(this.length === 0 ? 128 : pagePositions * 2));
    let page = this.pages[this.pages.length - 1]!;
    if (slot === page.length) {
      const larger = new Float64Array(Math.min(page.length * 2, pagePositions * 2));
      larger.set(page);
      this.pages[this.pages.length - 1] = larger;
      page = larger;
    }
    page[slot] = position;
    page[slot + 1] = lsn;
    this.length++;
  }

  at(index: number): Lsn {
    return this.pages[Math.floor(index / pagePositions)]![(index % pagePositions) * 2]!;
  }

  lsnAt(index: number): Lsn {
    return this.pages[Math.floor(index / pagePositions)]![(index % pagePositions) * 2 + 1]!;
  }
}
