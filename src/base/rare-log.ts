import type { Clock } from './clock.js';
import type { LogFields, Logger } from './logger.js';

/** The time for which lines are counted. */
const windowMs = 10_000;

/** Warns of what strangers may cause as often as they like: so many times in ten seconds; the next line has the number of those left out. */
export class RareLog {
  private readonly logger: Logger;
  private readonly clock: Clock;
  private readonly message: string;
  private readonly linesMax: number;
  private windowEnds = Number.NEGATIVE_INFINITY;
  private lines = 0;
  /** Left out since the last line. */
  private unsaid = 0;

  constructor(logger: Logger, clock: Clock, message: string, linesMax: number = 1) {
    this.logger = logger;
    this.clock = clock;
    this.message = message;
    this.linesMax = linesMax;
  }

  warn(fields: LogFields): void {
    const now = this.clock.now();
    if (now >= this.windowEnds) {
      this.windowEnds = now + windowMs;
      this.lines = 0;
    }
    if (this.lines >= this.linesMax) {
      this.unsaid++;
      return;
    }
    const others = this.unsaid > 0 ? { others: this.unsaid } : {};
    this.logger.warn(this.message, { ...fields, ...others });
    this.lines++;
    this.unsaid = 0;
  }
}
