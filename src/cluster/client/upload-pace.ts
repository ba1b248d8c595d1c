/**
 * How much of a large message may be on its way at a time, by how long its parts take to become safe: what is in front of them is in front of
 * everybody else's messages, too. While they are fast more may be, when they become slow less: throughput stays, and queues do not build up.
 *
 * One part at a time is timed.
 */
import type { Clock } from '../../base/clock.js';

/** Parts that take less than this are fast; those that take more than that are slow. */
const fastMs = 8;
const slowMs = 20;
const windowBytesMax = 2 * 1024 * 1024;
/** Two parts and a bit: one is on its way while the next one comes. */
export const windowBytesMin: number = 256 * 1024;
const noPart = -1;

export class UploadPace {
  /** Bytes that may be on their way, to each group. */
  windowBytes: number = windowBytesMin;
  private readonly clock: Pick<Clock, 'now'>;
  private timed = noPart;
  private sentAt = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** A part was sent, to one of the groups at least. */
  sent(part: number): void {
    if (this.timed !== noPart) return;
    this.timed = part;
    this.sentAt = this.clock.now();
  }

  /** It is safe, in one of them at least. */
  safe(part: number): void {
    if (part !== this.timed || part === noPart) return;
    this.timed = noPart;
    const tookMs = this.clock.now() - this.sentAt;
    if (tookMs < fastMs) this.windowBytes = Math.min(windowBytesMax, this.windowBytes * 1.5);
    else if (tookMs > slowMs) this.windowBytes = Math.max(windowBytesMin, this.windowBytes / 2);
  }
}
