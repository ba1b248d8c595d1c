import type { Lsn } from '../../log/lsn.js';

/**
 * Publishes into one queue that are in the log and not in the queue yet. It is made when limits first ask for it and counts from then on,
 * whatever the limits become: so each message that it has counted is the one that it counts off. Those before it are not its.
 */
export class Coming {
  count = 0;
  bytes = 0;
  private readonly since: Lsn;

  /** @param since the last lsn given to a publish before */
  constructor(since: Lsn) {
    this.since = since;
  }

  /** A message with a body of `body` bytes is about to be put into the log. */
  taken(body: number): void {
    this.count++;
    this.bytes += body;
  }

  /** The message is in the queue now. */
  added(position: Lsn, body: number): void {
    if (position <= this.since) return;
    this.count--;
    this.bytes -= body;
  }
}
