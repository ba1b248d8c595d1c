import type { Clock, Timer } from '../base/clock.js';

/** What a heartbeat watches and does. */
export interface HeartbeatOwner {
  /** True if anything was written since the last call. */
  wroteSomething(): boolean;
  /** Bytes received so far. */
  readonly bytesIn: number;
  /** The client is not read now, so that its silence means nothing. */
  readonly isPaused: boolean;
  sendHeartbeat(): void;
  /** Nothing has come for two intervals. */
  missedHeartbeats(): void;
}

/** Looks per interval; the client is given up after two intervals without a byte (§4.2.7). */
const looksPerInterval = 2;
const silentLooksMax = 2 * looksPerInterval;

/** Heartbeats of one connection: one goes out when half an interval passed without output. */
export class Heartbeat {
  private readonly owner: HeartbeatOwner;
  private readonly timer: Timer;
  private seenBytes = 0;
  private silentLooks = 0;

  /** @param intervalMs as negotiated, above 0. */
  constructor(clock: Clock, intervalMs: number, owner: HeartbeatOwner) {
    this.owner = owner;
    this.timer = clock.every(intervalMs / looksPerInterval, () => this.look());
  }

  stop(): void {
    this.timer.cancel();
  }

  private look(): void {
    const { owner } = this;
    if (!owner.wroteSomething()) owner.sendHeartbeat();
    if (owner.isPaused || owner.bytesIn !== this.seenBytes) this.silentLooks = 0;
    else this.silentLooks++;
    this.seenBytes = owner.bytesIn;
    if (this.silentLooks >= silentLooksMax) owner.missedHeartbeats();
  }
}
