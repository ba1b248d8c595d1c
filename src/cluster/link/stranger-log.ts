import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';

/** Between two lines. */
const quietMs = 10_000;

/** Says who was turned away from the port for brokers, and why; rarely, since strangers may come as often as they like. */
export class StrangerLog {
  private readonly logger: Logger;
  private readonly clock: Clock;
  private quietUntil = Number.NEGATIVE_INFINITY;
  /** Turned away since the last line. */
  private unsaid = 0;

  constructor(logger: Logger, clock: Clock) {
    this.logger = logger;
    this.clock = clock;
  }

  /** @param remote HOST:PORT */
  turnedAway(remote: string, reason: string): void {
    const now = this.clock.now();
    if (now < this.quietUntil) {
      this.unsaid++;
      return;
    }
    const others = this.unsaid > 0 ? { others: this.unsaid } : {};
    this.logger.warn('a stranger was turned away from the port for brokers', { remote, reason, ...others });
    this.quietUntil = now + quietMs;
    this.unsaid = 0;
  }
}
