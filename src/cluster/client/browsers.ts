import type { ConsumeRequest } from '../../model/broker.js';
import type { SubscribeOptions } from '../../model/group-port.js';
import { ClusterSubscription, type HolderClient } from './subscription.js';

/**
 * In the number of a subscription that browses: what was delivered to it is nobody's, so nothing may be said of it to its primary when the
 * subscription is gone by then. Below the bit that frames have for other things (`redeliveredBit`).
 */
const browserBit = 0x4000_0000;

/** No position. */
const none = Number.POSITIVE_INFINITY;

export function isBrowser(subscriber: number): boolean {
  return (subscriber & browserBit) !== 0;
}

/** A subscription that is shown messages and holds none. What its client says of them is about no queue, but that it could not take one. */
export class BrowsingSubscription extends ClusterSubscription {
  /** The last message that its client took. */
  private shown = -1;
  /** The first one that it could not take since, as with `Subscription.release`; everything from there on comes again. */
  private missed = none;
  /** What came last, and was not released so far. */
  private coming = none;

  /** After a failover it goes on behind what it was shown. */
  protected override get progress(): Pick<SubscribeOptions, 'browses' | 'after'> {
    this.noteTaken();
    const after = this.missed === none ? this.shown : this.missed - 1;
    return after < 0 ? { browses: true } : { browses: true, after };
  }

  override delivers(position: number): void {
    super.delivers(position);
    this.noteTaken();
    this.coming = position;
  }

  /** Who takes a message has none any more that must come again: what was missed has come, or is gone from the queue. */
  private noteTaken(): void {
    if (this.coming === none) return;
    this.shown = this.coming;
    this.coming = none;
    this.missed = none;
  }

  /** It is to come again, and what is behind it. */
  override release(position: number): void {
    this.coming = none;
    if (position < this.missed) this.missed = position;
    if (!this.isEnded) this.client.port?.browseFrom(this.number, position);
  }
}

/** @param now by the node's clock */
export function makeSubscription(
  client: HolderClient,
  incarnation: number,
  number: number,
  request: ConsumeRequest,
  now: number,
): ClusterSubscription {
  if (request.browses !== true) return new ClusterSubscription(client, incarnation, number, request, now);
  return new BrowsingSubscription(client, incarnation, number + browserBit, request, now);
}
