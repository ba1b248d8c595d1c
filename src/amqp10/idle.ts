import type { Clock, Timer } from '../base/clock.js';

/** What the idle timer watches and does. */
export interface IdleOwner {
  /** True if anything was written since the last call. */
  wroteSomething(): boolean;
  /** Bytes received so far. */
  readonly bytesIn: number;
  /** The client is not read now, so that its silence means nothing. */
  readonly isPaused: boolean;
  sendEmptyFrame(): void;
  wasSilent(): void;
}

const looksPerTimeout = 4;
/** Whoever asks for signs of life more often gets them as often as this, ms. */
const sendIntervalLeastMs = 100;

/** Idle time-outs of one connection (§2.4.5), both ways: empty frames go out in time, and a client that says nothing is noticed. */
export class Idle {
  private readonly owner: IdleOwner;
  private readonly listening: Timer;
  private readonly sending: Timer | undefined;
  private seenBytes = 0;
  private silentLooks = 0;

  /**
   * @param ownMs after so much silence the client is gone
   * @param peerMs what the client has asked for; 0 = nothing
   */
  constructor(clock: Clock, ownMs: number, peerMs: number, owner: IdleOwner) {
    this.owner = owner;
    this.listening = clock.every(ownMs / looksPerTimeout, () => this.look());
    const every = Math.max(peerMs / 2, sendIntervalLeastMs);
    if (peerMs > 0) this.sending = clock.every(every, () => this.send());
  }

  stop(): void {
    this.listening.cancel();
    this.sending?.cancel();
  }

  private send(): void {
    if (!this.owner.wroteSomething()) this.owner.sendEmptyFrame();
  }

  private look(): void {
    const { owner } = this;
    if (owner.isPaused || owner.bytesIn !== this.seenBytes) this.silentLooks = 0;
    else this.silentLooks++;
    this.seenBytes = owner.bytesIn;
    if (this.silentLooks >= looksPerTimeout) owner.wasSilent();
  }
}
