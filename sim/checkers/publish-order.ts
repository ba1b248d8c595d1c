/**
 * A publisher's messages stay in order.
 *
 * In the queue: of the messages that a publisher sent once, a later one has a higher position. On the way out: a consumer
 * sees a publisher's messages in order, those left out that are flagged (they come again, from their old place) and those
 * that the publisher sent more than once (the later copy may be the one that counts). Where messages have priorities, or groups, those
 * of one priority or group are.
 */
import { type Delivery, lostByOverride } from '../history.js';
import { orderClass } from '../queue-kind.js';
import { Checker } from './checker.js';

interface Seen {
  number: number;
  delivery: Delivery;
}

export class PublishOrder extends Checker {
  readonly name = 'publish-order';
  private readonly lastByConsumer = new Map<string, Seen>();
  /** Positions by number, per publisher and queue's life; numbers ascending. */
  private readonly positions = new Map<string, Seen[]>();

  override delivered(delivery: Delivery): void {
    const { copy, consumer, incarnation, redelivered } = delivery.facts;
    const { publisher, number, sends } = copy.message;
    // They die, or go on, when their time has come, or when somebody rejects them.
    if (copy.queue.isGrave || copy.queue.isLate) return;
    if (sends.length !== 1 || (copy.durable ? copy.excuse === lostByOverride : copy.excuse !== '')) return;
    if (!redelivered) {
      const key = `${publisher} ${consumer} ${orderClass(copy.queue.kind, copy.message.labels)}`;
      const last = this.lastByConsumer.get(key);
      if (last !== undefined && last.number >= number) this.fail(`${delivery} comes after ${last.delivery}`);
      this.lastByConsumer.set(key, { number, delivery });
    }
    // What was given back while its queue moved comes behind what waited.
    if (!redelivered || !copy.queue.moves) this.place(`${publisher} ${incarnation}`, { number, delivery });
  }

  private place(key: string, seen: Seen): void {
    const known = this.positions.get(key);
    if (known === undefined) {
      this.positions.set(key, [seen]);
      return;
    }
    let at = known.length;
    while (at > 0 && known[at - 1]!.number >= seen.number) at--;
    const next = known[at];
    if (next?.number === seen.number) return;
    const before = known[at - 1];
    if (
      before !== undefined &&
      before.delivery.position >= seen.delivery.position &&
      before.delivery.copy.message.sends.length === 1
    )
      this.fail(`out of place: ${before.delivery}, but ${seen.delivery}`);
    if (
      next !== undefined &&
      next.delivery.position <= seen.delivery.position &&
      next.delivery.copy.message.sends.length === 1
    )
      this.fail(`out of place: ${seen.delivery}, but ${next.delivery}`);
    known.splice(at, 0, seen);
  }
}
