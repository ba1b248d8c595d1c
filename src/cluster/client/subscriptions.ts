import type { ClusterSubscription } from './subscription.js';

/** The subscriptions of one node in one group, in the order in which they were made. */
export class Subscriptions {
  private readonly byNumber = new Map<number, ClusterSubscription>();
  /** By incarnation of their queues. */
  private readonly byQueue = new Map<number, Set<ClusterSubscription>>();

  get size(): number {
    return this.byNumber.size;
  }

  add(subscription: ClusterSubscription): void {
    this.byNumber.set(subscription.number, subscription);
    const ofQueue = this.byQueue.get(subscription.queue);
    if (ofQueue === undefined) this.byQueue.set(subscription.queue, new Set([subscription]));
    else ofQueue.add(subscription);
  }

  delete({ number, queue }: ClusterSubscription): void {
    const subscription = this.byNumber.get(number);
    if (subscription === undefined) return;
    this.byNumber.delete(number);
    const ofQueue = this.byQueue.get(queue)!;
    ofQueue.delete(subscription);
    if (ofQueue.size === 0) this.byQueue.delete(queue);
  }

  get(number: number): ClusterSubscription | undefined {
    return this.byNumber.get(number);
  }

  /** Those of one queue, as of now. */
  of(incarnation: number): ClusterSubscription[] {
    return [...(this.byQueue.get(incarnation) ?? [])];
  }

  values(): Iterable<ClusterSubscription> {
    return this.byNumber.values();
  }
}
