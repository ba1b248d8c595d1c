/**
 * A requeued message goes back to its place: it is the next one delivered, before everything behind it.
 *
 * From outside: a requeue needs some time to reach the primary, and what was dispatched before that may still arrive a little
 * later. After that, nobody may be given a message with a higher position before that message comes again. Judged only while
 * nothing fails, and not for messages that a purge or a deletion may have taken.
 */
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

/** More than two ways through the slowest of the networks, with the largest messages before it. */
const travelMsMax = 40;

export class RequeuePlace extends Checker {
  readonly name = 'requeue-place';
  /** Requeued deliveries whose messages have not come again, by queue. */
  private readonly awaited = new Map<string, Delivery[]>();

  override settled(delivery: Delivery): void {
    if (delivery.state !== 'requeued' || !this.world.history.quiet) return;
    const key = this.key(delivery);
    const list = this.awaited.get(key);
    if (list === undefined) this.awaited.set(key, [delivery]);
    else list.push(delivery);
  }

  override delivered(delivery: Delivery): void {
    if (!this.world.history.quiet) {
      this.awaited.clear();
      return;
    }
    const list = this.awaited.get(this.key(delivery));
    if (list === undefined) return;
    for (let i = list.length - 1; i >= 0; i--) {
      const requeued = list[i]!;
      if (requeued.position === delivery.position || requeued.copy.excuse !== '') list.splice(i, 1);
      else if (requeued.position < delivery.position && delivery.facts.at > requeued.endedAt + travelMsMax)
        this.fail(
          `given back at ${requeued.endedAt.toFixed(2)} ms: ${requeued}; one behind it comes first: ${delivery}`,
        );
    }
  }

  private key(delivery: Delivery): string {
    return `${delivery.copy.queue.name} ${delivery.facts.incarnation}`;
  }
}
