/**
 * Of a queue with priorities the highest goes first.
 *
 * A consumer that asks for one message at a time is not given one while one of a higher priority is ready. From outside, and whatever
 * fails: when it asked for it, every message that was confirmed by then, has a higher priority and was not seen by anybody since, was on
 * its way to somebody else. So there are no more of those than other consumers that have asked for one and got none; those that have
 * ended count, too, for what was on its way to them goes back later.
 */
import type { Asker, Copy, Delivery, Message } from '../history.js';
import { orderClass } from '../queue-kind.js';
import { Checker } from './checker.js';

interface Asking {
  askedAt: number;
  unanswered: number;
  ended: boolean;
}

/** Of one queue. */
interface Seen {
  /** Confirmed, and seen by nobody. */
  readonly waiting: Set<Copy>;
  readonly askers: Map<number, Asking>;
}

export class HighestFirst extends Checker {
  readonly name = 'highest-first';
  private readonly queues = new Map<string, Seen>();
  private calmSince = 0;

  override asked({ id, queue }: Asker, count: number): void {
    const { loop, history } = this.world;
    const seen = this.of(queue);
    if (seen === undefined) return;
    this.forgetEnded(seen);
    const known = seen.askers.get(id);
    if (known === undefined) seen.askers.set(id, { askedAt: loop.now, unanswered: count, ended: false });
    else if (!known.ended) {
      known.askedAt = loop.now;
      known.unanswered += count;
    }
    this.calmSince = history.quietSince;
  }

  override ended({ id, queue }: Asker): void {
    const asking = this.queues.get(queue)?.askers.get(id);
    if (asking !== undefined) asking.ended = true;
  }

  override confirmed(message: Message): void {
    for (const copy of message.copies)
      if (copy.queue.kind.priorityMax !== undefined && copy.deliveries.length === 0)
        this.of(copy.queue.name)!.waiting.add(copy);
  }

  override delivered(delivery: Delivery): void {
    const { copy, consumer } = delivery.facts;
    if (copy.queue.kind.priorityMax === undefined) return;
    const { waiting, askers } = this.of(copy.queue.name)!;
    waiting.delete(copy);
    const asking = askers.get(consumer);
    if (asking === undefined) return;
    asking.unanswered--;
    const passedOver = [...waiting].filter(
      (other) => other.message.confirmedAt < asking.askedAt && priorityOf(other) > priorityOf(copy),
    );
    let others = 0;
    for (const [id, { unanswered }] of askers) if (id !== consumer) others += unanswered;
    if (passedOver.length > others)
      this.fail(
        `${delivery} with priority ${priorityOf(copy)}, before ${passedOver[0]} with ${priorityOf(passedOver[0]!)}`,
      );
  }

  private of(queue: string): Seen | undefined {
    const known = this.queues.get(queue);
    if (known !== undefined || this.world.history.newestLife(queue)?.kind.priorityMax === undefined) return known;
    const made = { waiting: new Set<Copy>(), askers: new Map<number, Asking>() };
    this.queues.set(queue, made);
    return made;
  }

  /** All is at rest, and nothing on its way to anybody. */
  private forgetEnded({ askers }: Seen): void {
    if (this.world.history.quietSince === this.calmSince) return;
    for (const [id, { ended }] of askers) if (ended) askers.delete(id);
  }
}

function priorityOf({ queue, message }: Copy): number {
  return orderClass(queue.kind, message.labels);
}
