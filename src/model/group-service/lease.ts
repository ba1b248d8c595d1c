import type { Clock } from '../../base/clock.js';
import { type Expiring, Expiry } from './expiry.js';
import type { ServedQueue } from './served-queue.js';

/**
 * How long queues go without use: without a consumer, a get or a declaration (`x-expires`). A take-over counts as use, as a restart
 * does in RabbitMQ.
 */
export class Leases {
  private readonly now: () => number;
  private readonly expiry: Expiry;
  private readonly over: (queue: ServedQueue) => void;

  /** @param over a queue has gone without use for as long as it may */
  constructor(clock: Pick<Clock, 'now' | 'after'>, over: (queue: ServedQueue) => void) {
    this.now = () => clock.now();
    // How long it was is no question of the time of day.
    this.expiry = new Expiry({ wall: this.now, after: (delayMs, run) => clock.after(delayMs, run) });
    this.over = over;
  }

  /** The queue is used, or is looked after from now on. */
  used(queue: ServedQueue): void {
    if (queue.traits.unusedMs === Number.POSITIVE_INFINITY) return;
    queue.lease ??= new Lease(this, queue);
    queue.lease.usedAt = this.now();
    this.watch(queue.lease);
  }

  close(): void {
    this.expiry.close();
  }

  /** To be looked at when its time would be over. */
  watch(lease: Lease): void {
    this.expiry.watch(lease, lease.usedAt + lease.queue.traits.unusedMs);
  }

  expired(lease: Lease): void {
    const { queue, usedAt } = lease;
    const { unusedMs } = queue.traits;
    // Its last consumer is a use when it goes.
    if (queue.gone || queue.consumers.size > 0 || unusedMs === Number.POSITIVE_INFINITY) return;
    if (this.now() >= usedAt + unusedMs) this.over(queue);
    else this.watch(lease);
  }

  isOver({ queue, usedAt }: Lease): boolean {
    return !queue.gone && queue.consumers.size === 0 && this.now() >= usedAt + queue.traits.unusedMs;
  }
}

/** Of one queue. */
export class Lease implements Expiring {
  expiryBucket = 0;
  usedAt = 0;
  readonly queue: ServedQueue;
  private readonly leases: Leases;

  constructor(leases: Leases, queue: ServedQueue) {
    this.leases = leases;
    this.queue = queue;
  }

  expire(): void {
    this.leases.expired(this);
  }

  get isOver(): boolean {
    return this.leases.isOver(this);
  }
}
