/**
 * A message reaches the queues it was routed to, and no others.
 *
 * A queue that is declared and that nobody has begun to delete is found by every node's routing: a publish to it is never
 * unroutable, and a fan-out reaches all its queues. A queue that was deleted and declared again under its name is another
 * queue: what was taken by a node before the deletion was asked for does not turn up in it.
 */
import type { Delivery, Message, Send } from '../history.js';
import { Checker } from './checker.js';

export class RightQueue extends Checker {
  readonly name = 'right-queue';

  override taken(message: Message, send: Send): void {
    if (send.queueCount < 0) return;
    const expected = message.copies.filter(
      ({ queue }) => queue.publishExcuse === '' && queue.declaredAt >= 0 && queue.declaredAt <= send.at,
    );
    if (send.queueCount >= expected.length) return;
    const queues = expected.map(({ queue }) => queue.name).join(', ');
    this.fail(`${send.node} routes ${message} to ${send.queueCount} queues, but there are ${queues}`);
  }

  override delivered(delivery: Delivery): void {
    const { copy, consumerLife } = delivery.facts;
    const { queue } = copy;
    if (consumerLife <= queue.life || queue.deletedFrom < 0) return;
    if (
      copy.message.sends.every((send) => send.takenAt >= 0 && send.takenAt < queue.deletedFrom && send.queueCount >= 0)
    )
      this.fail(`life ${consumerLife} of the queue has a message of life ${queue.life}: ${delivery}`);
  }
}
