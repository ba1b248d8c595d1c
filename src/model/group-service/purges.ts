import type { Slices } from '../../base/slices.js';
import type { Lsn } from '../../log/lsn.js';
import type { DeadLettering } from '../queue/queue-traits.js';
import type { Answers } from './answers.js';
import type { Attachment } from './attachment.js';
import type { OutboxLog } from './outbox-log.js';
import { Rerouting } from './rerouting.js';
import type { ServedQueue } from './served-queue.js';
import type { ServiceTimers } from './service-timers.js';

/** How often it is looked whether the outbox has gone on. */
const outboxPollMs = 2;

/** What it needs of its service. */
export interface PurgesService {
  readonly state: { readonly slices: Slices };
  readonly timers: ServiceTimers;
  readonly outbox: Pick<OutboxLog, 'isFull'>;
  readonly isPaused: boolean;
  served(incarnation: Lsn): ServedQueue | undefined;
  touch(): void;
}

/**
 * Purges of queues, in slices, for good or for other queues; each is answered when all that it took out is committed. One for other queues
 * may take minutes: it does not go on while the group is being given away, and is not answered then. The next primary is asked again.
 */
export class Purges {
  private readonly service: PurgesService;
  private readonly answers: Answers;
  private readonly isClosed: () => boolean;
  private count = 0;
  /** Those that do not go on. */
  private paused: (() => void)[] = [];

  constructor(service: PurgesService, answers: Answers, isClosed: () => boolean) {
    this.service = service;
    this.answers = answers;
    this.isClosed = isClosed;
  }

  /** None is under way. */
  get isIdle(): boolean {
    return this.count === this.paused.length;
  }

  /** The group stays here after all. */
  resume(): void {
    for (const goOn of this.paused.splice(0)) goOn();
  }

  /** Purges the messages that are ready and in the queue now. @param to they go there */
  begin(attachment: Attachment, request: number, incarnation: Lsn, to: DeadLettering | undefined): void {
    const queue = this.service.served(incarnation);
    this.count++;
    if (queue === undefined) return this.end(attachment, request, 0, true);
    const rerouting = to === undefined ? undefined : new Rerouting(to);
    this.goOn(attachment, request, queue, rerouting, queue.state.index.last, 0);
  }

  private goOn(
    attachment: Attachment,
    request: number,
    queue: ServedQueue,
    rerouting: Rerouting | undefined,
    until: Lsn,
    before: number,
  ): void {
    if (this.isClosed()) return;
    const { state, timers, outbox, isPaused } = this.service;
    if (isPaused && rerouting !== undefined) {
      this.paused.push(() => this.goOn(attachment, request, queue, rerouting, until, before));
      this.service.touch();
      return;
    }
    const waits = rerouting !== undefined && outbox.isFull;
    const slice = queue.gone || waits ? 0 : queue.purgeSlice(until, rerouting);
    const count = before + slice;
    const goOn = (): void => this.goOn(attachment, request, queue, rerouting, until, count);
    const isOnTheWay = rerouting !== undefined && rerouting.left > 0;
    if (slice > 0) state.slices.later(goOn);
    // The outbox may have to read what it is to take.
    else if (waits || isOnTheWay) timers.after(outboxPollMs, goOn);
    else this.end(attachment, request, count, queue.gone);
  }

  private end(attachment: Attachment, request: number, count: number, isGone: boolean): void {
    this.count--;
    const refusal = isGone ? 'not-found: the queue is gone' : '';
    this.answers.addAfterCommit(attachment, (client) => client.purged(request, count, refusal));
    this.service.touch();
  }
}
