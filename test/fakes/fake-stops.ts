import type { Holder, PublisherStops, Route, StopWaiter } from '../../src/model/broker.js';
import { FakeHolder, type FakeQueue } from './fake-queue.js';

/** Queues that a test says are too full. */
export class FakeStops implements PublisherStops {
  /** How often somebody came with a waiter. */
  asked = 0;
  private readonly stopped = new Set<FakeQueue>();
  private readonly waiting = new Map<StopWaiter, Route>();
  private readonly queuesOf: (route: Route) => readonly FakeQueue[];

  constructor(queuesOf: (route: Route) => readonly FakeQueue[]) {
    this.queuesOf = queuesOf;
  }

  set(queue: FakeQueue, isStopped: boolean): void {
    if (isStopped) this.stopped.add(queue);
    else this.stopped.delete(queue);
    for (const [waiter, route] of this.waiting) {
      if (this.reason(route) !== '') continue;
      this.waiting.delete(waiter);
      waiter.goOn();
    }
  }

  get waiters(): number {
    return this.waiting.size;
  }

  get isAny(): boolean {
    return this.stopped.size > 0;
  }

  stops(route: Route): boolean {
    return this.reason(route) !== '';
  }

  await(route: Route, waiter: StopWaiter): string {
    this.asked++;
    const reason = this.reason(route);
    if (reason !== '') this.waiting.set(waiter, route);
    return reason;
  }

  forget(waiter: StopWaiter): void {
    this.waiting.delete(waiter);
  }

  concerns(holder: Holder): boolean {
    return holder instanceof FakeHolder && this.stopped.has(holder.queue);
  }

  private reason(route: Route): string {
    const full = this.queuesOf(route).find((queue) => this.stopped.has(queue));
    return full === undefined ? '' : `queue '${full.name}' is full`;
  }
}
