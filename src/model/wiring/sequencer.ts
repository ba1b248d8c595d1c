/**
 * The wiring's primary side: turns operations, from any number of callers at once, into events of the system group's log.
 *
 * An operation is planned against the committed tables. Operations on different names are planned and logged at once, side by
 * side; one that has a name in common with another that is not committed yet waits for it and is planned afresh, in the
 * order of arrival. So every plan still holds when its events are committed, and the log never contradicts itself.
 */
import type { Lsn } from '../../log/lsn.js';
import { Claim, NameLocks } from './name-locks.js';
import { isDurable, type QueueObject, type WiringObject } from './objects.js';
import type { WiringAnswer, WiringOperation } from './operations.js';
import { type Plan, plan } from './plan.js';
import { defaultLimits, type PlanContext, type WiringLimits } from './planner.js';
import type { WiringTables } from './tables.js';

/** Operations that wait for names or for the log, at most. */
export const operationsMax = 10_000;
/** Positions in one remove event, at most. */
export const removeMax = 16_384;

/** Where events go. Both return the event's lsn at once; it is committed later, never during the call. */
export interface WiringLog {
  /** Logs the object's appearance; the lsn is its position. Durable if `isDurable(object)`. */
  create(object: WiringObject): Lsn;
  /** Logs that the objects at these positions, in ascending order and at most `removeMax`, are gone. */
  remove(positions: readonly Lsn[], durable: boolean): Lsn;
}

export interface SequencerOptions {
  /** Must contain everything in the log as of the beginning of this primary's epoch (rule 4). */
  tables: WiringTables;
  log: WiringLog;
  /**
   * The log's end at that beginning. Until all of it is committed, as `committed` says, nothing is answered that rests on it:
   * what is "already there" for us may be unknown to others (rule 4).
   */
  inherited: Lsn;
  /**
   * The group for a new queue. `queue.owner` is set for an exclusive one, which belongs into the local group of its owner's
   * node. `node`: where it is declared.
   */
  chooseGroup: (queue: QueueObject, node: string) => number | undefined;
  /** Replicas that a queue may have, at most. */
  replicasMax: () => number;
  /** The protocol version in use. */
  version: () => number;
  /** Is that boot of the node over now? One that was only out of reach may come back after its `nodeGone`. */
  isOver: (node: string, boot: number) => boolean;
  /** Whether this broker is no cluster's. */
  isAlone: boolean;
  limits?: WiringLimits;
}

type Answered = (answer: WiringAnswer) => void;

class Job {
  readonly operation: WiringOperation;
  readonly answered: Answered;
  claim: Claim<Job> | undefined = undefined;
  /** The last of its events, and the answer that it gets in the end. */
  lsn: Lsn = 0;
  answer: WiringAnswer | undefined = undefined;

  constructor(operation: WiringOperation, answered: Answered) {
    this.operation = operation;
    this.answered = answered;
  }
}

/** One per epoch of a system group's primary. */
export class WiringSequencer {
  private readonly log: WiringLog;
  private readonly context: PlanContext;
  private readonly locks: NameLocks<Job>;
  /** Every job that is not answered. */
  private readonly jobs = new Set<Job>();
  /** Those whose events are in the log, in its order; the ones before `head` are done with. */
  private logged: Job[] = [];
  private head = 0;
  /** Those whose turn has come. */
  private ready: Job[] = [];
  private running = false;
  private readonly inherited: Lsn;
  private inheritedDone: boolean;
  /** Those with nothing to change, until what was inherited is committed. */
  private resting: Job[] = [];
  /** The highest boot per node that was said to be over. */
  private readonly goneBoots = new Map<string, number>();
  private ended = '';

  constructor(options: SequencerOptions) {
    this.log = options.log;
    this.inherited = options.inherited;
    this.inheritedDone = options.inherited === 0;
    this.context = {
      tables: options.tables,
      limits: options.limits ?? defaultLimits,
      chooseGroup: options.chooseGroup,
      replicasMax: options.replicasMax,
      version: options.version,
      isAlone: options.isAlone,
      isOver: options.isOver,
      isGone: (node, boot) => boot <= (this.goneBoots.get(node) ?? 0) && options.isOver(node, boot),
    };
    this.locks = new NameLocks<Job>((claim) => this.ready.push(claim.holder));
  }

  /** Operations that are not answered yet. */
  get pending(): number {
    return this.jobs.size;
  }

  /**
   * Takes an operation. `answered` is called once: during this call if nothing is to be changed and nothing waited for, else
   * during `committed` or `failed`. (At the beginning of an epoch what was inherited is waited for.)
   */
  submit(operation: WiringOperation, answered: Answered): void {
    if (this.ended !== '') {
      answered({ result: 'retry', reason: this.ended });
      return;
    }
    if (this.jobs.size >= operationsMax) {
      answered({ result: 'retry', reason: `${operationsMax} wiring operations are waiting already` });
      return;
    }
    if (operation.op === 'nodeGone') {
      const known = this.goneBoots.get(operation.node) ?? 0;
      this.goneBoots.set(operation.node, Math.max(known, operation.boot));
    }
    const job = new Job(operation, answered);
    this.jobs.add(job);
    this.admit(job, plan(this.context, operation));
    this.run();
  }

  /** Everything up to `lsn` is committed, and the tables contain it. */
  committed(lsn: Lsn): void {
    if (!this.inheritedDone && lsn >= this.inherited) this.answerResting();
    while (this.head < this.logged.length && this.logged[this.head]!.lsn <= lsn) {
      const job = this.logged[this.head++]!;
      this.locks.release(job.claim!);
      this.finish(job, job.answer!);
    }
    if (this.head === this.logged.length) {
      this.logged = [];
      this.head = 0;
    } else if (this.head > operationsMax) {
      this.logged = this.logged.slice(this.head);
      this.head = 0;
    }
    this.run();
  }

  /** This node is not the system group's primary any more: nobody knows what becomes of the events in the log. */
  failed(reason: string): void {
    if (this.ended !== '') return;
    this.ended = reason;
    const jobs = [...this.jobs];
    this.jobs.clear();
    this.logged = [];
    this.resting = [];
    this.head = 0;
    this.ready = [];
    for (const job of jobs) job.answered({ result: 'retry', reason });
  }

  /** Lets those go on whose turn has come. A loop, since one that has nothing to log makes way for the next at once. */
  private run(): void {
    if (this.running) return;
    this.running = true;
    for (let next = 0; next < this.ready.length; next++) {
      const job = this.ready[next]!;
      const again = plan(this.context, job.operation);
      if (again.footprint.within(job.claim!.footprint)) this.execute(job, again);
      else {
        // What was committed meanwhile led to other names: ask for those.
        this.locks.release(job.claim!);
        this.admit(job, again);
      }
    }
    this.ready = [];
    this.running = false;
  }

  private admit(job: Job, first: Plan): void {
    job.claim = new Claim(job, first.footprint);
    if (this.locks.request(job.claim)) this.execute(job, first);
  }

  private execute(job: Job, plan: Plan): void {
    if (plan.creates.length > 0 || plan.deletes.length > 0) {
      job.answer = this.write(job, plan);
      this.logged.push(job);
    } else if (this.inheritedDone) {
      this.locks.release(job.claim!);
      this.finish(job, plan.answer);
    } else {
      job.answer = plan.answer;
      this.resting.push(job);
    }
  }

  private answerResting(): void {
    this.inheritedDone = true;
    for (const job of this.resting) {
      this.locks.release(job.claim!);
      this.finish(job, job.answer!);
    }
    this.resting = [];
  }

  /** Logs the plan; returns the answer for when that is committed. */
  private write(job: Job, { creates, deletes, answer }: Plan): WiringAnswer {
    let position = answer.result === 'done' ? answer.position : 0;
    for (const object of creates) {
      job.lsn = this.log.create(object);
      position = job.lsn;
    }
    for (let from = 0; from < deletes.length; from += removeMax) {
      const part = deletes.slice(from, from + removeMax);
      const positions = part.map((object) => object.position).sort((a, b) => a - b);
      job.lsn = this.log.remove(positions, part.some(isDurable));
    }
    return answer.result === 'done' ? { ...answer, version: job.lsn, position } : answer;
  }

  private finish(job: Job, answer: WiringAnswer): void {
    this.jobs.delete(job);
    job.answered(answer);
  }
}
