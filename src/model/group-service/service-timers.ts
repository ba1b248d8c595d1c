import type { Clock, Timer } from '../../base/clock.js';

/** What parts of a service do later, as long as it is there. */
export class ServiceTimers {
  private readonly clock: Pick<Clock, 'after'>;
  private readonly timers = new Set<Timer>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.clock = clock;
  }

  readonly after: (delayMs: number, run: () => void) => void = (delayMs, run) => {
    const timer = this.clock.after(delayMs, () => {
      this.timers.delete(timer);
      run();
    });
    this.timers.add(timer);
  };

  close(): void {
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }
}
