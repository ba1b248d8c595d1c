/** What a browser is shown of a queue, in its order; what it says of it must have no effect, which all other checkers see to. */
import type { Subscription } from '../../src/model/broker.js';
import { ClusterSubscription } from '../../src/cluster/client/subscription.js';
import type { SimRandom } from '../random.js';

export class BrowsedQueue {
  private last = -1;
  private incarnation = 0;
  private readonly credit: number;
  /** Messages that may still come. */
  private granted: number;
  /** It could not take a message: nothing is granted, and what comes is not taken, until all credit is back, as on a link of AMQP 1.0. */
  private isStalled = false;

  constructor(credit: number) {
    this.credit = credit;
    this.granted = credit;
  }

  /** '' or what is wrong with it. Says something of the message, and takes another one. */
  shown(subscription: Subscription, position: number, random: SimRandom): string {
    const incarnation = subscription instanceof ClusterSubscription ? subscription.queue : 0;
    if (incarnation !== this.incarnation) this.last = -1;
    this.incarnation = incarnation;
    this.granted--;
    const dice = random.float();
    if (this.isStalled || dice < 0.1) {
      this.isStalled = this.granted > 0;
      subscription.release(position);
      if (!this.isStalled) this.grant(subscription, this.credit);
      return '';
    }
    if (position <= this.last) return `position ${position} behind ${this.last}`;
    this.last = position;
    if (dice < 0.4) subscription.ack(position);
    else if (dice < 0.6) subscription.requeue(position);
    else if (dice < 0.8) subscription.reject(position);
    this.grant(subscription, 1);
    return '';
  }

  private grant(subscription: Subscription, count: number): void {
    this.granted += count;
    subscription.grant(count);
  }
}
