import { AttachmentState } from './attachment.js';
import type { Consumer } from './consumer.js';
import type { ServedQueue } from './served-queue.js';

/**
 * Consumers whose client wants all there is for the credit that they have, and then to be told that no more is there: that is so when their
 * queues have handed out what they can in this turn, and wait for nothing but new messages, credit, or other clients.
 */
export class Drains {
  private waiting: Consumer[] = [];
  private readonly isBusy: (queue: ServedQueue) => boolean;

  /** @param isBusy the queue will hand out more in a while */
  constructor(isBusy: (queue: ServedQueue) => boolean) {
    this.isBusy = isBusy;
  }

  add(consumer: Consumer): void {
    this.waiting.push(consumer);
  }

  /** Deliveries of this turn are out. */
  run(): void {
    if (this.waiting.length === 0) return;
    const due = this.waiting;
    this.waiting = [];
    for (const consumer of due) {
      const { attachment, subscriber, queue, reader } = consumer;
      if (attachment.state !== AttachmentState.attached || attachment.consumers.get(subscriber) !== consumer) continue;
      const isLooking = reader?.isAtEnd === false && !queue.consumers.passesOver(consumer);
      const waits = isLooking || this.isBusy(queue) || (consumer.parked && queue.state.index.ready > 0);
      const isDry = consumer.credit <= 0 || !waits;
      if (isDry) attachment.client.drained(subscriber);
      else this.waiting.push(consumer);
    }
  }

  clear(): void {
    this.waiting = [];
  }
}
