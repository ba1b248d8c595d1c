import type { Clock, Timer } from '../../src/base/clock.js';

interface Alarm {
  at: number;
  periodMs: number;
  run: () => void;
}

/** Time that a test moves by hand. */
export class ManualClock implements Clock {
  private time = 0;
  private readonly alarms: Set<Alarm> = new Set();

  now(): number {
    return this.time;
  }
  wall(): number {
    return 1_700_000_000_000 + this.time;
  }
  after(delayMs: number, run: () => void): Timer {
    return this.add(delayMs, 0, run);
  }
  every(periodMs: number, run: () => void): Timer {
    return this.add(periodMs, periodMs, run);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.alarms.size;
  }

  /** Moves on, running what falls due, in order. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      let next: Alarm | undefined;
      for (const alarm of this.alarms) if (alarm.at <= end && (!next || alarm.at < next.at)) next = alarm;
      if (!next) break;
      this.time = next.at;
      if (next.periodMs > 0) next.at += next.periodMs;
      else this.alarms.delete(next);
      next.run();
    }
    this.time = end;
  }

  private add(delayMs: number, periodMs: number, run: () => void): Timer {
    const alarm: Alarm = { at: this.time + delayMs, periodMs, run };
    this.alarms.add(alarm);
    return { cancel: () => void this.alarms.delete(alarm) };
  }
}
