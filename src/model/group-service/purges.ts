import type { Lsn } from '../../log/lsn.js';
import type { Answers } from './answers.js';
import type { Attachment } from './attachment.js';
import type { ServedQueue } from './served-queue.js';

export interface PurgesPorts {
  readonly answers: Answers;
  later(run: () => void): void;
  touch(): void;
  isClosed(): boolean;
}

/** Purges of queues, in slices; each is answered when all that it took out is committed. */
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
  begin(attachment: Attachment, request: number, queue: ServedQueue): void {
    this.count++;
    this.goOn(attachment, request, queue, queue.state.index.last, 0);
  }

  private goOn(attachment: Attachment, request: number, queue: ServedQueue, until: Lsn, before: number): void {
    const { answers, later, touch, isClosed } = this.ports;
    if (isClosed()) return;
    const slice = queue.gone ? 0 : queue.purgeSlice(until);
    const count = before + slice;
    if (slice > 0) {
      later(() => this.goOn(attachment, request, queue, until, count));
      return;
    }
    this.count--;
    const refusal = queue.gone ? 'not-found: the queue is gone' : '';
    answers.addAfterCommit(attachment, (client) => client.purged(request, count, refusal));
    touch();
  }
}
