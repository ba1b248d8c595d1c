import type { Rules } from '../../base/rules.js';
import { Feature } from '../../base/versions.js';
import type { Lsn } from '../../log/lsn.js';
import type { MessageParts } from '../../log/record.js';
import type { GroupAppender } from '../group-port.js';
import type { GroupState, QueueState } from '../group-state.js';
import { needsCare, noTraits, refusesMore } from '../queue/queue-traits.js';
import { Coming } from './coming.js';
import type { Flows } from './flows.js';
import { markerFormat } from './marker-format.js';
import type { ServedQueue } from './served-queue.js';
import type { TraitsOf } from './traits-of.js';

const forEver = Number.POSITIVE_INFINITY;

/** Which queues take the message at hand, and what they ask of it. */
export class PublishTargets {
  /** Their incarnations; 0 for a queue that is gone, or does not take it. */
  queues: readonly Lsn[] = [];
  /** So many take it. */
  count = 0;
  /** How long they keep it; if that is not the same for all, `isMixed`. */
  ttlMs: number = forEver;
  isMixed = false;
  /** Those that are durable all are relaxed. */
  isRelaxed = true;
  /** Queues that are full, and refuse it. */
  readonly refusing: ServedQueue[] = [];
  private readonly state: GroupState;
  private readonly traits: TraitsOf;
  private readonly rules: Rules;
  private readonly flows: Flows;
  private readonly log: { readonly last: Lsn };
  private readonly serve: (incarnation: Lsn) => ServedQueue | undefined;

  /**
   * @param log the last lsn that a publish was given
   * @param serve the queue is to be looked after, though it may have no consumer
   */
  constructor(
    state: GroupState,
    traits: TraitsOf,
    rules: Rules,
    flows: Flows,
    log: { readonly last: Lsn },
    serve: (incarnation: Lsn) => ServedQueue | undefined,
  ) {
    this.flows = flows;
    this.log = log;
    this.state = state;
    this.traits = traits;
    this.rules = rules;
    this.serve = serve;
  }

  find(
    parts: MessageParts,
    incarnations: readonly Lsn[],
    durable: boolean,
    appender: Pick<GroupAppender, 'version'>,
  ): void {
    this.queues = incarnations;
    this.count = 0;
    this.ttlMs = forEver;
    this.isMixed = false;
    this.isRelaxed = durable;
    if (this.refusing.length > 0) this.refusing.length = 0;
    for (let i = 0; i < incarnations.length; i++) {
      const queue = this.state.queue(incarnations[i]!);
      const takes = queue !== undefined && this.takes(queue, parts, appender);
      if (!takes) this.leaveOut(i, queue === undefined ? this.insteadOf(incarnations[i]!) : 0);
    }
  }

  private takes(queue: QueueState, parts: MessageParts, appender: Pick<GroupAppender, 'version'>): boolean {
    const traits = this.traits.of(queue);
    let served = queue.watcher as ServedQueue | undefined;
    if (traits !== noTraits || parts.expiresAt !== 0) {
      if (served === undefined && (parts.expiresAt !== 0 || needsCare(traits))) served = this.serve(queue.incarnation);
      const refuses = refusesMore(traits.overflow);
      if (served !== undefined && (refuses || traits.flow !== undefined)) served.coming ??= new Coming(this.log.last);
      const mayRefuse = refuses && appender.version >= Feature.overflow;
      if (mayRefuse && served !== undefined && this.isRefused(served, parts)) return false;
    }
    if (served?.coming !== undefined) {
      served.coming.taken(parts.contentLength);
      if (traits.flow !== undefined) this.flows.taken(served);
    }
    if (traits.ttlMs !== this.ttlMs) {
      this.isMixed ||= this.count > 0;
      this.ttlMs = traits.ttlMs;
    }
    if (!traits.relaxed && queue.options.durable) this.isRelaxed = false;
    this.count++;
    return true;
  }

  /** What is passed on with a queue that moves was taken long ago. */
  private isRefused(queue: ServedQueue, parts: MessageParts): boolean {
    if (parts.moved || parts.format === markerFormat) return false;
    if (queue.shedding.admit(parts.contentLength)) return false;
    this.refusing.push(queue);
    return true;
  }

  private leaveOut(at: number, instead: Lsn): void {
    const queues = [...this.queues];
    queues[at] = instead;
    this.queues = queues;
    if (instead !== 0) this.count++;
  }

  /** What a queue that is gone is replaced by: nothing (rule 15). */
  private insteadOf(incarnation: Lsn): Lsn {
    if (this.rules.byIncarnation) return 0;
    // Planted fault: the queue that was declared after it, as if it were meant by name.
    let newest = 0;
    for (const queue of this.state.allQueues()) newest = Math.max(newest, queue.incarnation);
    return newest > incarnation ? newest : 0;
  }
}
