import { Ring } from '../../base/ring.js';
import type { Lsn } from '../../log/lsn.js';

/** A question about a queue's content, to be asked when the commit of `after` is known. */
interface Question {
  readonly after: Lsn;
  readonly run: () => void;
}

/** What waits until the log is committed up to some point, in its order. */
export class LogWaits {
  private readonly wiringSteps = new Ring<readonly [version: Lsn, after: Lsn]>();
  private readonly questions = new Ring<Question>();

  get isEmpty(): boolean {
    return this.wiringSteps.length === 0 && this.questions.length === 0;
  }

  /** The wiring version `version` is reached with the commit of `after`. False: it is by now. */
  awaitWiring(version: Lsn, after: Lsn, committed: Lsn): boolean {
    if (after <= committed && this.wiringSteps.length === 0) return false;
    this.wiringSteps.push([version, after]);
    return true;
  }

  /** Runs `run` with the commit of `after`, now or later. */
  ask(after: Lsn, committed: Lsn, run: () => void): void {
    if (after <= committed) run();
    else this.questions.push({ after, run });
  }

  /** @param reached told of wiring versions, before any question is asked */
  committed(lsn: Lsn, reached: (version: Lsn) => void): void {
    while (this.wiringSteps.length > 0 && this.wiringSteps.peek()![1] <= lsn) reached(this.wiringSteps.shift()![0]);
    while (this.questions.length > 0 && this.questions.peek()!.after <= lsn) this.questions.shift()!.run();
  }

  /** Nobody will be told. */
  clear(): void {
    this.wiringSteps.clear();
    this.questions.clear();
  }
}
