import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import type { ServedQueue } from './served-queue.js';
import { appendDequeues } from './settlement-batch.js';
import type { TraitsOf } from './traits-of.js';

/** Takes dequeues into the log: what was settled in a turn, queue by queue, at its end. */
export class DequeueLog {
  /** The last lsn given to one of them. */
  last: Lsn = 0;
  private readonly state: GroupState;
  private readonly appender: GroupAppender;
  private readonly traits: TraitsOf;
  private readonly rules: Rules;
  private settling: ServedQueue[] = [];

  constructor(state: GroupState, appender: GroupAppender, traits: TraitsOf, rules: Rules) {
    this.state = state;
    this.appender = appender;
    this.traits = traits;
    this.rules = rules;
  }

  /** Nothing is settled that is not in the log. */
  get isIdle(): boolean {
    return this.settling.length === 0;
  }

  /** The queue has something settled, for the end of this turn. */
  add(queue: ServedQueue): void {
    queue.isSettling = true;
    this.settling.push(queue);
  }

  /** The turn ends. */
  append(): void {
    const due = this.settling;
    if (due.length === 0) return;
    this.settling = [];
    for (const queue of due) {
      const { settlements, incarnation } = queue;
      queue.isSettling = false;
      if (!this.rules.exactPositions) settlements.addBetween();
      if (!queue.gone) {
        const relaxed = settlements.durable && this.traits.isRelaxed(queue.state) && this.appender.mayRelax();
        if (settlements.durable || this.appender.replicated)
          this.last = settlements.append(incarnation, this.appender, relaxed);
        else this.state.remove(incarnation, settlements.ascending());
      }
      settlements.clear();
    }
  }

  /** Dequeues the messages at `positions` (ascending, distinct) at once; returns the last record's lsn. */
  appendNow(incarnation: Lsn, positions: Float64Array, durable: boolean): Lsn {
    this.last = appendDequeues(this.appender, incarnation, positions, durable);
    return this.last;
  }

  clear(): void {
    this.settling = [];
  }
}
