import type { Timer } from '../base/clock.js';
import type { SessionHost } from './session-host.js';

/** A queue that has messages, and gives this link none of them, is asked again so often, after so long, ms. */
const asksMax = 8;
const askAgainMs = 10;

/** What is drained. */
export interface Drained {
  /** It gets what it has chosen: what `hasMore` says is exact, but takes until all was looked at. */
  readonly picks: boolean;
  readonly credit: number;
  /** A delivery is on its way, or none can be made now: what the queue says is not all. */
  readonly isBusy: boolean;
  /** Whether its queue may have more for it. */
  hasMore(): Promise<boolean>;
  drained(): void;
}

/**
 * A client that drains wants all there is for its credit, and then to be told that no more is there. The broker's port does not say that a
 * queue is empty; so the queue is asked, and whatever it delivers comes before its answer.
 */
export class Drain {
  private readonly host: SessionHost;
  private readonly link: Drained;
  /** Number of the present drain; 0 = none. */
  private current = 0;
  private last = 0;
  private asks = 0;
  private timer: Timer | undefined;
  /** The link was busy: `goOn` follows. */
  private isHeldUp = false;

  constructor(host: SessionHost, link: Drained) {
    this.host = host;
    this.link = link;
  }

  begin(): void {
    if (this.current !== 0) return;
    this.current = ++this.last;
    this.asks = 0;
    this.check();
  }

  /** The link is not busy. */
  goOn(): void {
    if (!this.isHeldUp || this.link.isBusy) return;
    this.isHeldUp = false;
    this.asks = 0;
    this.check();
  }

  stop(): void {
    this.current = 0;
    this.isHeldUp = false;
    this.timer?.cancel();
  }

  /** The last credit went to a delivery. */
  usedUp(): void {
    if (this.current !== 0 && !this.isHeldUp) this.check();
  }

  private check(): void {
    if (this.link.isBusy) this.isHeldUp = true;
    else if (this.link.credit === 0) this.done();
    else this.ask(this.current);
  }

  private ask(number: number): void {
    if (number !== this.current || this.isHeldUp) return;
    this.asks++;
    this.link.hasMore().then(
      (hasMore) => this.answered(number, hasMore),
      () => this.answered(number, false),
    );
  }

  private answered(number: number, hasMore: boolean): void {
    if (number !== this.current || this.isHeldUp) return;
    if (this.link.isBusy) this.isHeldUp = true;
    else if (!hasMore || (this.asks >= asksMax && !this.link.picks)) this.done();
    else this.timer = this.host.clock.after(askAgainMs * Math.min(this.asks, asksMax), () => this.ask(number));
  }

  private done(): void {
    this.stop();
    this.link.drained();
  }
}
