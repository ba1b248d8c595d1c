/** A timer that has been set; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. Production: process clock; simulator: simulated time.
 * All durations are milliseconds.
 */
export interface Clock {
  /**
   * Monotonic milliseconds since an arbitrary start, fractions allowed. It must advance by the larger of
   * monotonic and wall progress, since a monotonic clock stands still in suspend (replication rule 11).
   */
  now(): number;
  /** Wall-clock milliseconds since 1970; for stored, absolute times only. */
  wall(): number;
  /** Runs `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
  /** Runs `run` every `periodMs` until cancelled. */
  every(periodMs: number, run: () => void): Timer;
}

/** Resolves after `ms`; it cannot be cancelled. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
