import type { Matcher, Reached } from './matcher.js';
import type { QueueTarget } from './target.js';

/** The default exchange: every queue is bound to it by its name, without a binding object (AMQP 0-9-1 §3.1.3.1). */
export class DefaultMatcher implements Matcher {
  private readonly queues: ReadonlyMap<string, QueueTarget>;

  /** @param queues the vhost's queues by name. */
  constructor(queues: ReadonlyMap<string, QueueTarget>) {
    this.queues = queues;
  }

  // Nobody may bind to it; a binding that names it nevertheless leads nowhere.
  add(): void {}
  remove(): void {}

  match(routingKey: string, reached: Reached): void {
    const target = this.queues.get(routingKey);
    if (target !== undefined) reached.reach(target);
  }
}
