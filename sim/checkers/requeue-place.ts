/**
 * A requeued message goes back to its place: it is the next one delivered, before everything behind it.
 *
 * From outside: after a client gave a message back, a queue's consumers can be given at most what was already on its way to
 * them (their credit, and some gets) of messages with higher positions before that message comes again. Judged only while
 * nothing fails, and for queues where nobody takes messages away by other means.
 */
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

const getsUnderWay = 2;

interface Awaited {
  delivery: Delivery;
  overtaken: number;
}

export class RequeuePlace extends Checker {
  readonly name = 'requeue-place';
  private readonly awaited = new Map<string, Awaited[]>();

  override settled(delivery: Delivery): void {
    if (delivery.state !== 'requeued' || !this.world.history.quiet || delivery.copy.queue.publishExcuse !== '') return;
    const key = this.key(delivery);
    const list = this.awaited.get(key);
    if (list === undefined) this.awaited.set(key, [{ delivery, overtaken: 0 }]);
    else list.push({ delivery, overtaken: 0 });
  }

  override delivered(delivery: Delivery): void {
    if (!this.world.history.quiet) {
      this.awaited.clear();
      return;
    }
    const list = this.awaited.get(this.key(delivery));
    if (list === undefined) return;
    for (let i = list.length - 1; i >= 0; i--) {
      const awaited = list[i]!;
      if (awaited.delivery.position === delivery.position || awaited.delivery.copy.excuse !== '') list.splice(i, 1);
      else if (awaited.delivery.position < delivery.position && ++awaited.overtaken > this.limit(delivery))
        this.fail(
          `${awaited.delivery} was requeued, and ${awaited.overtaken} behind it came first, the last: ${delivery}`,
        );
    }
  }

  /** All credits of the queue's consumers, and a few gets. */
  private limit(delivery: Delivery): number {
    return (this.world.credits.get(delivery.copy.queue.name) ?? 0) + getsUnderWay;
  }

  private key(delivery: Delivery): string {
    return `${delivery.copy.queue.name} ${delivery.facts.incarnation}`;
  }
}
