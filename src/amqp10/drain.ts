import type { Timer } from '../base/clock.js';
import type { SessionHost } from './session-host.js';

/** A link that is giving back what it was given, and will be given again, asks again after so long, ms. */
const askAgainMs = 10;

/** What is drained. */
export interface Drained {
  readonly credit: number;
  /** A delivery is on its way, or none can be made now: what the queue says is not all. */
  readonly isBusy: boolean;
  /** What it gives back now comes again. */
  readonly stalled: boolean;
  /** Asks the queue, which answers behind its deliveries: see `answered`. */
  askQueue(): void;
  drained(): void;
}

/**
 * A client that drains wants all there is for its credit, and then to be told that no more is there. The queue's service says that there is
 * none, behind whatever it delivers.
 */
export class Drain {
  private readonly host: SessionHost;
  private readonly link: Drained;
  private isDraining = false;
  /** The queue's answer is to come. */
  private isAsked = false;
  private timer: Timer | undefined;
  /** The link was busy: `goOn` follows. */
  private isHeldUp = false;

  constructor(host: SessionHost, link: Drained) {
    this.host = host;
    this.link = link;
  }

  begin(): void {
    if (this.isDraining) return;
    this.isDraining = true;
    this.check();
  }

  /** The link is not busy. */
  goOn(): void {
    if (!this.isHeldUp || this.link.isBusy) return;
    this.isHeldUp = false;
    this.check();
  }

  stop(): void {
    this.isDraining = false;
    this.isHeldUp = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** The last credit went to a delivery. */
  usedUp(): void {
    if (this.isDraining && !this.isHeldUp) this.check();
  }

  /** The queue has no more. @param isAll it had credit for more, all that the link was granted by then */
  answered(isAll: boolean): void {
    this.isAsked = false;
    if (!this.isDraining || this.isHeldUp || this.timer !== undefined) return;
    const { isBusy, stalled } = this.link;
    if (isBusy || !isAll) this.check();
    else if (stalled) this.timer = this.host.clock.after(askAgainMs, () => this.askAgain());
    else this.done();
  }

  private askAgain(): void {
    this.timer = undefined;
    this.check();
  }

  private check(): void {
    if (this.link.isBusy) this.isHeldUp = true;
    else if (this.link.credit === 0) this.done();
    else if (!this.isAsked) {
      this.isAsked = true;
      this.link.askQueue();
    }
  }

  private done(): void {
    this.stop();
    this.link.drained();
  }
}
