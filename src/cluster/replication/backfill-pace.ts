import type { Clock, Timer } from '../../base/clock.js';
import { Ring } from '../../base/ring.js';

export interface PaceLimits {
  /** Over all joins that this node sends to; Infinity: as many as there are. */
  readonly joinBytesPerSecond: number;
  /** The part of this process's time that they may take, above 0 and at most 1. */
  readonly joinTimeShare: number;
  /** Both are so many times as much for what must not take long. */
  readonly joinHaste: number;
}

interface Slice {
  readonly send: () => number;
  readonly isUrgent: boolean;
}

/** So much of an idle time is made up for: timers are late. */
const arrearsMsMax = 20;

/**
 * What joins may take of the node that sends to them: clients come first. Slices of all groups go in order of asking, and each one
 * is paid for, with its bytes or the time it took, before the next one goes.
 */
export class BackfillPace {
  private readonly clock: Clock;
  private readonly limits: PaceLimits;
  private readonly waiting = new Ring<Slice>();
  private timer: Timer | undefined;
  /** When what was sent so far is paid for. */
  private paidAt = Number.NEGATIVE_INFINITY;
  private isGoing = false;

  constructor(clock: Clock, limits: PaceLimits) {
    this.clock = clock;
    this.limits = limits;
  }

  /** Calls `send` when its turn has come, perhaps now. It returns how many bytes it has sent. @param isUrgent it must not take long */
  whenDue(send: () => number, isUrgent: boolean = false): void {
    this.waiting.push({ send, isUrgent });
    if (this.timer === undefined && !this.isGoing) this.go();
  }

  /** Calls `send`, whose turn has come before, at once; it is paid for all the same. */
  now(send: () => number, isUrgent: boolean = false): void {
    const { joinBytesPerSecond, joinTimeShare, joinHaste } = this.limits;
    const before = this.clock.now();
    const bytes = send();
    const now = this.clock.now();
    const cost = Math.max((bytes * 1000) / joinBytesPerSecond, (now - before) / joinTimeShare);
    this.paidAt = Math.max(this.paidAt, before - arrearsMsMax) + (isUrgent ? cost / joinHaste : cost);
  }

  private go(): void {
    this.isGoing = true;
    while (this.waiting.length > 0) {
      const wait = this.paidAt - this.clock.now();
      if (wait > 0) {
        this.timer = this.clock.after(wait, () => {
          this.timer = undefined;
          this.go();
        });
        break;
      }
      const { send, isUrgent } = this.waiting.shift()!;
      this.now(send, isUrgent);
    }
    this.isGoing = false;
  }
}
