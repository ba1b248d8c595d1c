/** Long work in pieces: whoever takes a step for each of many objects asks after each whether others must have their turn. */

/** Work of one turn. A turn may have several of these, and nothing holds the event loop for 10 ms. */
const turnMsMax = 3;

export class Pace {
  private readonly later: (run: () => void) => void;
  private begun = performance.now();
  private waiting: Promise<void> | undefined = undefined;

  /** @param later runs a function in a later turn of the event loop. */
  constructor(later: (run: () => void) => void) {
    this.later = later;
  }

  /** This turn has had enough. */
  get isOver(): boolean {
    return performance.now() - this.begun >= turnMsMax;
  }

  /** Resolves in a later turn, for all that wait for it together: they share what that has time for. */
  next(): Promise<void> {
    this.waiting ??= new Promise((resolve) => {
      this.later(() => {
        this.waiting = undefined;
        this.begun = performance.now();
        resolve();
      });
    });
    return this.waiting;
  }
}
