/**
 * One turn of the event loop: everything that input causes is gathered and leaves once, at the turn's end.
 * That gives one journal write, one packet per backup and one socket write per connection and turn.
 *
 * Tasks run in phase order. A task that makes new work for an earlier phase sends the turn back to it.
 */
export interface Flushable {
  /** Runs at the end of the turn. The task clears its own "dirty" mark first, so that it can be added again. */
  flush(): void;
}

export const Phase = {
  /** Seal batches: hand them to journal and replicas, commit what waits for nobody, dispatch deliveries. */
  log: 0,
  /** Write to sockets: clients and links. */
  output: 1,
  /** Start the disk. */
  journal: 2,
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

export class Turn {
  private readonly tasks: [Flushable[], Flushable[], Flushable[]] = [[], [], []];
  private scheduled = false;
  private running = false;
  private readonly schedule: (run: () => void) => void;
  private readonly now: () => number;
  /** When the first task of the turn that runs, and of the one that is scheduled, was added. */
  private runningSince = 0;
  private scheduledSince = 0;

  /**
   * @param schedule runs a function when the present input is used up: `setImmediate`, or the simulator's.
   * @param now monotonic milliseconds; without it every turn takes no time.
   */
  constructor(schedule: (run: () => void) => void, now: () => number = () => 0) {
    this.schedule = schedule;
    this.now = now;
  }

  /**
   * How long ago, in milliseconds, the present turn got its first task. A process that is frozen in the middle of a turn goes
   * on with it when it thaws: what the turn has gathered may rest on a lease that is gone by then (rule 11).
   */
  get age(): number {
    if (!this.running && !this.scheduled) return 0;
    return this.now() - (this.running ? this.runningSince : this.scheduledSince);
  }

  /** Adds a task to the end of this turn. The caller keeps a mark so as not to add it twice. */
  add(phase: Phase, task: Flushable): void {
    this.tasks[phase].push(task);
    if (!this.scheduled) {
      this.scheduled = true;
      this.scheduledSince = this.now();
      this.schedule(this.run);
    }
  }

  private readonly run = (): void => {
    this.scheduled = false;
    this.running = true;
    this.runningSince = this.scheduledSince;
    let phase: Phase = Phase.log;
    while (phase <= Phase.journal) {
      const due: Flushable[] = this.tasks[phase];
      if (due.length === 0) {
        phase = (phase + 1) as Phase;
        continue;
      }
      this.tasks[phase] = [];
      for (const task of due) task.flush();
      if (phase > Phase.log && this.tasks[Phase.log].length > 0) phase = Phase.log;
    }
    this.running = false;
  };
}
