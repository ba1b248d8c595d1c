import type { DeliverySink } from '../../model/broker.js';
import type { ClusterSubscription } from './subscription.js';

/** Subscriptions that were asked for, and that their channels do not have in hand yet: these cannot close them. */
export class OpeningSubscriptions {
  private readonly ofSink = new Map<DeliverySink, Set<ClusterSubscription>>();

  /** Resolves with the subscription when it has `opened`. */
  async wait(subscription: ClusterSubscription, opened: Promise<void>): Promise<ClusterSubscription> {
    const { sink } = subscription;
    const opening = this.ofSink.get(sink) ?? new Set();
    this.ofSink.set(sink, opening.add(subscription));
    try {
      await opened;
    } finally {
      opening.delete(subscription);
      if (opening.size === 0) this.ofSink.delete(sink);
    }
    return subscription;
  }

  /** The sink's channel is gone: nothing is to be delivered to it any more. */
  forgetSink(sink: DeliverySink): void {
    for (const subscription of this.ofSink.get(sink) ?? []) subscription.close();
  }
}
