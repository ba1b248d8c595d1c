/** Too much is waiting already. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Runs work one after the other: what takes a thread of the pool must leave the others to the disk. */
export class OneAtATime {
  private readonly waitingMax: number;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(waitingMax: number) {
    this.waitingMax = waitingMax;
  }

  /** Settles as the work does; rejects with BusyError, without having begun it, if too much is waiting. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting >= this.waitingMax) return Promise.reject(new BusyError(`${this.waitingMax} are waiting already`));
    this.waiting++;
    const result = this.last.then(work);
    this.last = result
      .catch(() => {})
      .finally(() => {
        this.waiting--;
      });
    return result;
  }
}
