/**
 * Long walks in slices: what takes a step for each of many queues or messages must not hold up everything else, so it goes on
 * in later turns of the event loop.
 */

/** How walks are cut into turns: a port, so that the simulator's small clusters take several turns for them, too. */
export interface Slices {
  /** Runs a function in a later turn: `setImmediate`, or the simulator's. */
  readonly later: (run: () => void) => void;
  /** The work of the next turn, 1 at least. @param most what a turn has room for, where it is not made smaller on purpose */
  size(most: number): number;
}

/** Slices as large as turns have room for. */
export function fullSlices(later: (run: () => void) => void): Slices {
  return { later, size: (most) => most };
}

export class SlicedWalk {
  private readonly steps: Iterator<number, void>;
  private readonly stepsMax: number;
  private readonly slices: Slices;
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
    slices: Slices,
    done: (over: SlicedWalk) => void = nothing,
  ) {
    this.steps = steps;
    this.stepsMax = stepsMax;
    this.slices = slices;
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
    this.run(this.slices.size(this.stepsMax));
    if (!this.isOver) this.slices.later(this.goOn);
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
