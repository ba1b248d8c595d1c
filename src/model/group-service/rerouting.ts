import type { DeadLettering } from '../queue/queue-traits.js';

/** An operator has what is ready in a queue sent on, through an exchange: it goes by the outbox, as dead letters do. */
export class Rerouting {
  readonly to: DeadLettering;
  /** Messages that have left the queue and are not in the outbox yet. */
  left = 0;

  constructor(to: DeadLettering) {
    this.to = to;
  }
}
