/**
 * Long walks in slices: what takes a step for each of many queues or messages must not hold up everything else, so it goes on
 * in later turns of the event loop.
 */

/** Runs a function in a later turn. */
type Later = (run: () => void) => void;

export class SlicedWalk {
  private readonly steps: Iterator<number, void>;
  private readonly stepsMax: number;
  private readonly later: Later;
  private readonly done: (over: SlicedWalk) => void;
  /** Nothing is left to be done. */
  isOver = false;

  /**
   * Begins at once. @param steps yields how much work each step was; not asked any more once the walk is over.
   * @param stepsMax work of one turn, after which the rest is put off.
   * @param done called once, with this walk, when `steps` is; not after `stop`.
   */
  constructor(
    steps: Iterator<number, void>,
    stepsMax: number,
    later: Later,
    done: (over: SlicedWalk) => void = nothing,
  ) {
    this.steps = steps;
    this.stepsMax = stepsMax;
    this.later = later;
    this.done = done;
    this.goOn();
  }

  /** Does all that is left at once. */
  finish(): void {
    this.run(Number.POSITIVE_INFINITY);
  }

  /** What is left is not done. */
  stop(): void {
    this.isOver = true;
  }

  private readonly goOn = (): void => {
    this.run(this.stepsMax);
    if (!this.isOver) this.later(this.goOn);
  };

  private run(stepsMax: number): void {
    for (let work = 0; !this.isOver && work < stepsMax; ) {
      const step = this.steps.next();
      if (step.done !== true) {
        work += step.value;
        continue;
      }
      this.isOver = true;
      this.done(this);
    }
  }
}

function nothing(): void {}
