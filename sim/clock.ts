import type { Clock, Timer } from '../src/base/clock.js';
import type { Context, EventLoop } from './event-loop.js';

/** 2025-01-01: where the simulated wall clock starts. */
const wallStart = 1_735_689_600_000;

/** Wall milliseconds at the simulated time `at`. */
export function wallAt(at: number): number {
  return Math.floor(wallStart + at);
}

/**
 * One process's clock. It may run fast or slow by `rate` (quartz drifts; rule 11 leaves a margin for it), starts at a random
 * point as a monotonic clock does, and its wall time may be set by an operator.
 */
export class SimClock implements Clock {
  private readonly loop: EventLoop;
  private readonly context: Context;
  private readonly rate: number;
  private readonly offset: number;
  /** Set by a fault: milliseconds that the wall clock is wrong. */
  wallOffset = 0;

  constructor(loop: EventLoop, context: Context, rate: number, offset: number) {
    this.loop = loop;
    this.context = context;
    this.rate = rate;
    this.offset = offset;
  }

  now(): number {
    return this.offset + this.loop.now * this.rate;
  }

  wall(): number {
    return Math.floor(wallStart + this.loop.now + this.wallOffset);
  }

  after(delayMs: number, run: () => void): Timer {
    return this.loop.after(Math.max(0, delayMs) / this.rate, this.context, run);
  }

  every(periodMs: number, run: () => void): Timer {
    const period = Math.max(1, periodMs) / this.rate;
    let pending: Timer;
    const fire = (): void => {
      pending = this.loop.after(period, this.context, fire);
      run();
    };
    pending = this.loop.after(period, this.context, fire);
    return { cancel: (): void => pending.cancel() };
  }
}
