import type { Asker, Delivery, HistoryListener, Message, Send } from '../history.js';
import type { SimWorld } from '../world.js';

/**
 * One promise of the broker, judged from outside. A checker hears of every step of every client, looks into the nodes from
 * time to time and when all is at rest, and ends the run with a finding when the promise was broken.
 */
export abstract class Checker implements HistoryListener {
  abstract readonly name: string;
  protected readonly world: SimWorld;

  constructor(world: SimWorld) {
    this.world = world;
  }

  sent(_message: Message, _send: Send): void {}
  taken(_message: Message, _send: Send): void {}
  confirmed(_message: Message, _node: string): void {}
  delivered(_delivery: Delivery): void {}
  settled(_delivery: Delivery): void {}
  refused(_message: Message, _node: string): void {}
  asked(_consumer: Asker, _count: number): void {}
  ended(_consumer: Asker): void {}
  rolledBack(_group: number, _since: number): void {}

  /** Every few simulated milliseconds. */
  poll(): void {}
  /** All is healed and nobody does anything; messages may still be in their queues. '' or what keeps it from being true. */
  atRest(): string {
    return '';
  }
  /** The queues have been drained and every client is gone. */
  atEnd(): void {}

  protected fail(what: string): void {
    this.world.fail(this.name, what);
  }
}
