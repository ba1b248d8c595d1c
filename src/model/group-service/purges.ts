import type { Lsn } from '../../log/lsn.js';
import type { Answers } from './answers.js';
import type { Attachment } from './attachment.js';
import type { OutboxLog } from './outbox-log.js';
import type { Rerouting } from './rerouting.js';
import type { ServedQueue } from './served-queue.js';

export interface PurgesPorts {
  readonly answers: Answers;
  later(run: () => void): void;
  touch(): void;
  isClosed(): boolean;
  readonly outbox: Pick<OutboxLog, 'isFull'>;
}

/** Purges of queues, in slices, for good or for other queues; each is answered when all that it took out is committed. */
export class Purges {
  private readonly ports: PurgesPorts;
  private count = 0;

  constructor(ports: PurgesPorts) {
    this.ports = ports;
  }

  /** None is under way. */
  get isIdle(): boolean {
    return this.count === 0;
  }

  /** Purges the messages that are ready and in the queue now. */
  begin(attachment: Attachment, request: number, queue: ServedQueue, rerouting?: Rerouting): void {
    this.count++;
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
    const { answers, later, touch, isClosed, outbox } = this.ports;
    if (isClosed()) return;
    const waits = rerouting !== undefined && outbox.isFull;
    const slice = queue.gone || waits ? 0 : queue.purgeSlice(until, rerouting);
    const count = before + slice;
    const isOnTheWay = rerouting !== undefined && rerouting.left > 0;
    if (slice > 0 || waits || isOnTheWay) {
      later(() => this.goOn(attachment, request, queue, rerouting, until, count));
      return;
    }
    this.count--;
    const refusal = queue.gone ? 'not-found: the queue is gone' : '';
    answers.addAfterCommit(attachment, (client) => client.purged(request, count, refusal));
    touch();
  }
}
