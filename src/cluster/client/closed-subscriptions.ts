import type { DeliverySink } from '../../model/broker.js';
import { ClusterSubscription } from './subscription.js';

/**
 * Subscriptions that were closed in this turn: what they hold is not given back yet. Gathered, since a channel closes all of its own at
 * once.
 */
export class ClosedSubscriptions {
  private readonly closed = new Set<ClusterSubscription>();

  add(subscription: ClusterSubscription): void {
    this.closed.add(subscription);
  }

  has(subscription: ClusterSubscription): boolean {
    return this.closed.has(subscription);
  }

  /** The sink's channel is gone: it gives back what it holds itself. */
  forgetSink(sink: DeliverySink): void {
    for (const subscription of this.closed) if (subscription.sink === sink) this.closed.delete(subscription);
  }

  /** Gives back, flagged, what they hold. */
  giveBack(): void {
    if (this.closed.size === 0) return;
    const sinks = new Set<DeliverySink>();
    for (const subscription of this.closed) sinks.add(subscription.sink);
    for (const sink of sinks)
      sink.forEachHeld((holder, position) => {
        if (holder instanceof ClusterSubscription && this.closed.has(holder)) holder.requeue(position);
      });
    this.closed.clear();
  }
}
