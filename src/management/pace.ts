/** Long work in pieces: whoever takes a step for each of many objects asks after each whether others must have their turn. */

/** Work of one turn. A turn may have several of these, and nothing holds the event loop for 10 ms. */
const turnMsMax = 3;

export class Pace {
  private readonly later: (run: () => void) => void;
  private begun = performance.now();

  /** @param later runs a function in a later turn of the event loop. */
  constructor(later: (run: () => void) => void) {
    this.later = later;
  }

  /** This turn has had enough. */
  get isOver(): boolean {
    return performance.now() - this.begun >= turnMsMax;
  }

  /** Resolves in a later turn. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => this.later(resolve));
    this.begun = performance.now();
  }

  /** It waited for something else, and begins anew. */
  resume(): void {
    this.begun = performance.now();
  }
}
