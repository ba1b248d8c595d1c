/**
 * A requeued message goes back to its place: it is the next one delivered, before everything behind it.
 *
 * From outside: a requeue needs some time to reach the primary, and what was dispatched before that may still arrive a little
 * later. When after that a message behind it is seen, then it is itself on its way to somebody, and is seen a little later
 * at most; but if a consumer ended meanwhile, then it may have been on its way to that one, and is reckoned from there. Judged only while nothing fails, and not for messages that a purge or a deletion may have taken, or a consumer without
 * acknowledgement that ended while they were on their way to it. In a queue that moves it comes behind what waited.
 */
import type { Delivery } from '../history.js';
import { givesUp, orderClass } from '../queue-kind.js';
import { Checker } from './checker.js';

/** Through the network and back, and what the nodes themselves need, with the largest messages before it. */
const ways = 3;
const workMsMax = 25;

interface Awaited {
  requeued: Delivery;
  /** When a message behind it was first seen; -1 = not yet. */
  overtakenAt: number;
}

export class RequeuePlace extends Checker {
  readonly name = 'requeue-place';
  /** Requeued deliveries whose messages have not come again, by the queue's name: what an earlier life of it had is excused. */
  private readonly awaited = new Map<string, Awaited[]>();

  override settled(delivery: Delivery): void {
    const { queue } = delivery.copy;
    if (delivery.state !== 'requeued' || !this.world.history.quiet || queue.atMostOnce || queue.moves || queue.dies)
      return;
    if (givesUp(queue.kind)) return;
    const key = queue.name;
    const list = this.awaited.get(key);
    const awaited = { requeued: delivery, overtakenAt: -1 };
    if (list === undefined) this.awaited.set(key, [awaited]);
    else list.push(awaited);
  }

  override delivered(delivery: Delivery): void {
    if (!this.world.history.quiet) {
      this.awaited.clear();
      return;
    }
    const list = this.awaited.get(delivery.copy.queue.name);
    if (list === undefined) return;
    for (let i = list.length - 1; i >= 0; i--) {
      const awaited = list[i]!;
      const { requeued } = awaited;
      if (requeued.position === delivery.position || requeued.copy.excuse !== '') list.splice(i, 1);
      else if (isBehind(delivery, requeued)) this.overtaken(awaited, delivery);
    }
  }

  private overtaken(awaited: Awaited, by: Delivery): void {
    const { requeued } = awaited;
    const { at } = by.facts;
    const travelMs = ways * this.world.network.slowestMs + workMsMax;
    if (at < Math.max(requeued.endedAt, requeued.copy.queue.consumerEndedAt) + travelMs) awaited.overtakenAt = -1;
    else if (awaited.overtakenAt < 0) awaited.overtakenAt = at;
    else if (at > awaited.overtakenAt + travelMs)
      this.fail(`given back at ${requeued.endedAt.toFixed(2)} ms: ${requeued}; long before it comes: ${by}`);
  }
}

/** `one` has its place behind `other`. With priorities that is what has less, too; with groups what is of the same one. */
function isBehind(one: Delivery, other: Delivery): boolean {
  const { kind } = one.copy.queue;
  const difference = orderClass(kind, one.copy.message.labels) - orderClass(kind, other.copy.message.labels);
  if (difference === 0) return other.position < one.position;
  return kind.priorityMax !== undefined && difference < 0;
}
