import type { Delivery, HistoryListener, Message, Send } from './history.js';
import type { Trace } from './trace.js';

/** Every step of every client, for a run that is looked at closely. */
export class HistoryTrace implements HistoryListener {
  private readonly trace: Trace;

  constructor(trace: Trace) {
    this.trace = trace;
  }

  sent(message: Message, send: Send): void {
    const queues = message.copies.map((copy) => copy.queue.name).join(', ');
    this.trace.add(message.publisher, `sends ${message} to ${queues} through ${send.node}`);
  }

  taken(message: Message, send: Send): void {
    this.trace.add(send.node, `takes ${message} for ${send.queueCount} queues`);
  }

  confirmed(message: Message, node: string): void {
    this.trace.add(node, `confirms ${message}`);
  }

  refused(message: Message, node: string): void {
    this.trace.add(node, `refuses ${message}`);
  }

  delivered(delivery: Delivery): void {
    this.trace.add(delivery.facts.node, `delivers ${delivery}`);
  }

  settled(delivery: Delivery): void {
    this.trace.add(delivery.facts.node, `client ended ${delivery}`);
  }
}
