/** A clock that tests move by hand. */
import type { Clock, Timer } from '../../../src/base/clock.js';

interface Due {
  at: number;
  period: number;
  run: () => void;
}

export class ManualClock implements Clock {
  private time = 0;
  private readonly due = new Set<Due>();

  now(): number {
    return this.time;
  }

  wall(): number {
    return this.time;
  }

  after(delayMs: number, run: () => void): Timer {
    return this.add({ at: this.time + delayMs, period: 0, run });
  }

  every(periodMs: number, run: () => void): Timer {
    return this.add({ at: this.time + periodMs, period: periodMs, run });
  }

  /** Moves on and runs what falls due, in order. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      let next: Due | undefined;
      for (const entry of this.due) if (entry.at <= end && (next === undefined || entry.at < next.at)) next = entry;
      if (next === undefined) break;
      this.time = Math.max(this.time, next.at);
      if (next.period > 0) next.at += next.period;
      else this.due.delete(next);
      next.run();
    }
    this.time = end;
  }

  private add(entry: Due): Timer {
    this.due.add(entry);
    return { cancel: () => this.due.delete(entry) };
  }
}
