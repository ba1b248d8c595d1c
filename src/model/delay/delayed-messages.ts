/**
 * Which of a group's messages that wait for their time is next: on every replica, from the records as they come, be it from clients, in a
 * join or in recovery. So whoever becomes primary knows it, and reads nothing.
 *
 * Messages leave the queue nearly in the order in which they are due. What leaves it otherwise is passed over when its turn comes.
 */
import type { Chunk } from '../../log/chunk.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupObserver } from '../group-state.js';
import { delayedIncarnation } from '../queue/outbox.js';
import type { QueueState } from '../queue/queue-state.js';
import { dueAt } from './delayed-record.js';
import { DueHeap } from './due-heap.js';

export class DelayedMessages implements GroupObserver {
  /** Told when something is due earlier than all that was there. */
  watcher: { dueEarlier(): void } | undefined = undefined;
  private readonly heap = new DueHeap();
  private queue: QueueState | undefined;
  /** With when they were due: they are on their way out of the queue. */
  private readonly taken = new Map<Lsn, number>();

  /** Messages that are on their way out of the queue: their records are not committed. */
  get leaving(): number {
    return this.taken.size;
  }

  /** When the next one is due, wall milliseconds; Infinity if there is none. */
  get nextDue(): number {
    this.passOver();
    return this.heap.firstDue;
  }

  /** The position of the next one; NaN if there is none. */
  get next(): Lsn {
    this.passOver();
    return this.heap.first;
  }

  /** Takes the next one, of which there must be one: it leaves the queue. */
  take(): void {
    this.passOver();
    const { first, firstDue } = this.heap;
    this.taken.set(first, firstDue);
    this.heap.pop();
  }

  /** What was taken, and has not left the queue, stays there after all. */
  giveBack(): void {
    for (const [position, due] of this.taken) this.heap.push(due, position);
    this.taken.clear();
  }

  // ---- GroupObserver ----

  enqueued(queue: QueueState, position: Lsn, chunk: Chunk, offset: number): void {
    if (queue.incarnation !== delayedIncarnation) return;
    this.queue = queue;
    const due = dueAt(chunk.view!, offset);
    const isFirst = due < this.heap.firstDue;
    this.heap.push(due, position);
    if (isFirst) this.watcher?.dueEarlier();
  }

  dequeued(queue: QueueState, position: Lsn): void {
    if (queue.incarnation !== delayedIncarnation) return;
    if (!this.taken.delete(position)) this.passOver();
  }

  opened(): void {}

  dropped(queue: QueueState): void {
    if (queue.incarnation !== delayedIncarnation) return;
    this.heap.clear();
    this.taken.clear();
    this.queue = undefined;
  }

  /** Lets go of first ones that are gone, or were found twice by a recovery. */
  private passOver(): void {
    const { heap, queue, taken } = this;
    while (heap.size > 0 && (taken.has(heap.first) || queue?.index.find(heap.first) === undefined)) heap.pop();
  }
}
