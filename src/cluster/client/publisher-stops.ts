import type { Lsn } from '../../log/lsn.js';
import type { Holder, PublisherStops, Route, StopWaiter } from '../../model/broker.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { ClusterRoute } from './cluster-route.js';
import type { FlowStops } from './flow-stops.js';
import { QueueHolder } from './subscription.js';

/** Who waits until a queue has little enough. */
export class ClusterStops implements PublisherStops {
  private readonly list: FlowStops;
  private readonly tables: WiringTables;
  private readonly waiting = new Map<Lsn, Map<StopWaiter, ClusterRoute>>();

  constructor(stops: FlowStops, tables: WiringTables) {
    this.list = stops;
    this.tables = tables;
    stops.onResumed = (incarnation) => this.resumed(incarnation);
  }

  get isAny(): boolean {
    return this.list.isAny;
  }

  stops(route: Route): boolean {
    return route instanceof ClusterRoute && this.stoppedOf(route) !== undefined;
  }

  await(route: Route, waiter: StopWaiter): string {
    const incarnation = route instanceof ClusterRoute ? this.stoppedOf(route) : undefined;
    if (incarnation === undefined) return '';
    let waiters = this.waiting.get(incarnation);
    if (waiters === undefined) {
      waiters = new Map();
      this.waiting.set(incarnation, waiters);
    }
    waiters.set(waiter, route as ClusterRoute);
    const queue = this.tables.queueAt(incarnation);
    return queue === undefined ? 'a queue is full' : `queue '${queue.name}' in vhost '${queue.vhost}' is full`;
  }

  forget(waiter: StopWaiter): void {
    for (const [incarnation, waiters] of this.waiting)
      if (waiters.delete(waiter) && waiters.size === 0) this.waiting.delete(incarnation);
  }

  concerns(holder: Holder): boolean {
    return holder instanceof QueueHolder && this.list.has(holder.incarnation);
  }

  private stoppedOf({ targets }: ClusterRoute): Lsn | undefined {
    for (let i = 0; i < targets.length; i++) {
      const { incarnations } = targets[i]!;
      for (let j = 0; j < incarnations.length; j++) if (this.list.has(incarnations[j]!)) return incarnations[j];
    }
    return undefined;
  }

  private resumed(incarnation: Lsn): void {
    const waiters = this.waiting.get(incarnation);
    if (waiters === undefined) return;
    this.waiting.delete(incarnation);
    for (const [waiter, route] of waiters) if (this.await(route, waiter) === '') waiter.goOn();
  }
}
