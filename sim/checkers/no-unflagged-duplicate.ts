/**
 * A message that comes again says so.
 *
 * A message in a queue is known by its position for ever; so one position of a queue's life may be delivered without the
 * redelivered flag once at most, whatever fails. And a message that its publisher sent once has one position only: if it were
 * in the queue twice, both deliveries would be unflagged. What a publisher itself sent again no broker can flag; those are
 * judged by position alone. (So are messages that are not durable after their last intact replica went: what was known of their
 * publishers went with it.) In a queue that moves between groups a message has a position in each; if who moves it dies it may be in both.
 */
import { type Delivery, lostByOverride } from '../history.js';
import { Checker } from './checker.js';

export class NoUnflaggedDuplicate extends Checker {
  readonly name = 'no-unflagged-duplicate';

  override delivered(delivery: Delivery): void {
    const { copy, redelivered } = delivery.facts;
    const sentOnce =
      !copy.message.copies.some(({ queue }) => queue.dies && queue.rolledBack) &&
      copy.message.sends.length === 1 &&
      (copy.durable ? copy.excuse !== lostByOverride : copy.excuse === '');
    for (const other of copy.deliveries) {
      if (other === delivery) continue;
      if (!other.isSameMessage(delivery)) {
        if (sentOnce && !(copy.queue.moves && redelivered))
          this.fail(`sent once, in the queue twice: ${delivery}, before ${other}`);
        continue;
      }
      if (!redelivered) this.fail(`not flagged: ${delivery}, before ${other}`);
    }
  }
}
