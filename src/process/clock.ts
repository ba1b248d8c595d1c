import type { Clock, Timer } from '../base/clock.js';

/** Readings, in milliseconds; a test passes its own. */
export interface TimeSources {
  monotonic(): number;
  wall(): number;
}

const systemSources: TimeSources = { monotonic: () => performance.now(), wall: () => Date.now() };

/**
 * The process's clock. The monotonic clock stands still while the machine is suspended, and then an old promise would seem
 * to hold (replication rule 11): so `now` advances, from one reading to the next, by the larger of monotonic and wall progress.
 * A wall clock that is set forward therefore ends promises early, which is safe; one that is set back changes nothing.
 */
export class ProcessClock implements Clock {
  private readonly sources: TimeSources;
  private monotonic: number;
  private wallTime: number;
  /** How far wall progress was ahead of the monotonic clock's, in all. */
  private ahead = 0;

  constructor(sources: TimeSources = systemSources) {
    this.sources = sources;
    this.monotonic = sources.monotonic();
    this.wallTime = sources.wall();
  }

  now(): number {
    const monotonic = this.sources.monotonic();
    const wall = this.sources.wall();
    const lead = wall - this.wallTime - (monotonic - this.monotonic);
    // Below this it is rounding, of two clocks with different steps, and would add up.
    if (lead > wallStepMs) this.ahead += lead;
    if (Math.abs(lead) > wallStepMs || monotonic - this.monotonic > rebaseMs) {
      this.monotonic = monotonic;
      this.wallTime = wall;
    }
    return monotonic + this.ahead;
  }

  wall(): number {
    return this.sources.wall();
  }

  after(delayMs: number, run: () => void): Timer {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  }

  every(periodMs: number, run: () => void): Timer {
    const timer = setInterval(run, periodMs);
    return { cancel: () => clearInterval(timer) };
  }
}

/** A wall clock that is this far ahead was set, or the machine slept. */
const wallStepMs = 20;
/** The two clocks are compared over stretches of this length, so that slow drift of one never counts as a step. */
const rebaseMs = 1000;
