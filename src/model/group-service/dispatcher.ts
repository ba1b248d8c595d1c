import type { Chunk } from '../../log/chunk.js';
import type { GroupState } from '../group-state.js';
import { Drains } from './drains.js';
import type { ServedQueue } from './served-queue.js';

/** Deliveries of one turn; the rest follows in the next one. And what it costs to look at one queue, in deliveries. */
const deliveriesMax = 8192;
const dispatchCost = 8;

/** Which queues have something to hand out, and how much of that in one turn. */
export class Dispatcher {
  private readonly state: GroupState;
  private readonly touch: () => void;
  readonly drains: Drains = new Drains((queue) => this.isBusy(queue));
  private dirty: ServedQueue[] = [];
  private readonly putOff = new Set<ServedQueue>();
  /** Chunks that stay in memory until the end of this turn. */
  private pinned: Chunk[] = [];
  private isClosed = false;

  /** @param touch has `run` called at the end of this turn */
  constructor(state: GroupState, touch: () => void) {
    this.state = state;
    this.touch = touch;
  }

  soon(queue: ServedQueue): void {
    if (queue.isDirty || queue.gone) return;
    queue.isDirty = true;
    this.dirty.push(queue);
    this.touch();
  }

  /** In a later turn, so that one queue does not hold up everything else. */
  later(queue: ServedQueue): void {
    this.putOff.add(queue);
    this.state.slices.later(() => {
      this.putOff.delete(queue);
      this.soon(queue);
    });
  }

  /** The chunk that the queue waits for is there: it stays until the end of this turn. */
  loaded(queue: ServedQueue, chunk: Chunk): void {
    if (this.isClosed || queue.gone) return;
    this.state.chunks.pin(chunk);
    this.pinned.push(chunk);
    this.soon(queue);
    this.touch();
  }

  /** As many queues and deliveries as a turn has room for. Those left over come first in the next one. */
  run(): void {
    this.runDirty();
    this.drains.run();
  }

  private runDirty(): void {
    const due = this.dirty;
    if (due.length === 0) return;
    this.dirty = [];
    let room = this.state.slices.size(deliveriesMax);
    for (let i = 0; i < due.length; i++) {
      if (room <= 0) {
        const rest = due.slice(i);
        this.state.slices.later(() => {
          if (this.isClosed) return;
          this.dirty = rest.concat(this.dirty);
          this.touch();
        });
        return;
      }
      const queue = due[i]!;
      room -= queue.dispatch(room) + dispatchCost;
      queue.isDirty = false;
    }
  }

  /** The queue will hand out more in a while, if there is somebody to take it. */
  private isBusy(queue: ServedQueue): boolean {
    return queue.isDirty || this.putOff.has(queue) || queue.reads.isReading;
  }

  unpin(): void {
    if (this.pinned.length === 0) return;
    for (const chunk of this.pinned) this.state.chunks.unpin(chunk);
    this.pinned = [];
  }

  close(): void {
    this.isClosed = true;
    this.unpin();
    this.dirty = [];
    this.drains.clear();
  }
}
