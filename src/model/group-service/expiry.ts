/**
 * When queues are to be looked at because their first message expires. Coarse: times of a bucket are as one, so that a hundred thousand
 * queues cost as many timers as there are buckets in use.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { PositionHeap } from '../queue/position-heap.js';

const bucketMs = 32;
/** The wall clock may jump: it is looked at this often while anything expires. */
const lookMsMax = 1000;

/** A queue whose first message expires. */
export interface Expiring {
  /** The bucket in which it is to be looked at; 0 = it is in none. */
  expiryBucket: number;
  /** Its time has come. */
  expire(): void;
}

export class Expiry {
  private readonly clock: Pick<Clock, 'wall' | 'after'>;
  private readonly buckets = new Map<number, Expiring[]>();
  private readonly order = new PositionHeap();
  private timer: Timer | undefined;

  constructor(clock: Pick<Clock, 'wall' | 'after'>) {
    this.clock = clock;
  }

  wall(): number {
    return this.clock.wall();
  }

  /** The queue is to be looked at `at`, wall milliseconds. If it is to be looked at before that, it stays so. */
  watch(queue: Expiring, at: number): void {
    const bucket = Math.ceil(at / bucketMs);
    if (queue.expiryBucket !== 0 && queue.expiryBucket <= bucket) return;
    queue.expiryBucket = bucket;
    const queues = this.buckets.get(bucket);
    if (queues !== undefined) {
      queues.push(queue);
      return;
    }
    this.buckets.set(bucket, [queue]);
    const isFirst = bucket < (this.order.peek() ?? Number.POSITIVE_INFINITY);
    this.order.push(bucket);
    if (isFirst) this.wait();
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.buckets.clear();
    this.order.clear();
  }

  private wait(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const first = this.order.peek();
    if (first === undefined) return;
    const inMs = Math.min(lookMsMax, Math.max(1, first * bucketMs - this.clock.wall()));
    this.timer = this.clock.after(inMs, () => this.look());
  }

  private look(): void {
    const now = this.clock.wall();
    for (let first = this.order.peek(); first !== undefined && first * bucketMs <= now; first = this.order.peek()) {
      this.order.pop();
      const due = this.buckets.get(first) ?? [];
      this.buckets.delete(first);
      for (const queue of due) {
        if (queue.expiryBucket !== first) continue;
        queue.expiryBucket = 0;
        queue.expire();
      }
    }
    this.wait();
  }
}
