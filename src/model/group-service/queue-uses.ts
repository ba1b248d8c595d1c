import type { Lsn } from '../../log/lsn.js';
import type { QueueUse } from '../group-port.js';
import type { GroupState } from '../group-state.js';
import type { ServedQueue } from './served-queue.js';

/** Nodes that attach again have this time to subscribe again before a queue counts as unused. */
const resubscribeMs = 5000;

export interface QueueUsesPorts {
  readonly state: GroupState;
  /** See GroupServiceOptions. */
  queueUse(incarnation: Lsn, use: QueueUse): void;
  /** Goes through many things, in slices. */
  walk(steps: Iterator<number, void>): void;
  after(delayMs: number, run: () => void): void;
  /** The primary was deposed: another one judges now. */
  isClosed(): boolean;
}

/**
 * Tells the wiring which queues have a consumer and which have none any more, since it deletes auto-delete queues.
 *
 * Before the gate is open, and for some time after a take-over and after a node has attached again, a queue without consumers may
 * have some that were not told of yet: nodes subscribe one consumer after the other. It is judged when they have had time for that,
 * unless it was opened later: then all its consumers are known.
 */
export class QueueUses {
  private readonly ports: QueueUsesPorts;
  /** What is waited for before queues are judged: that the gate opens, and times of `resubscribeMs`. */
  private waits: number;
  /** Only queues that were opened with this wiring or older may have such consumers. */
  private until: Lsn = Number.POSITIVE_INFINITY;
  /** Queues that have lost their last consumer meanwhile. */
  private left = new Set<ServedQueue>();
  private seeksIdle = false;

  constructor(ports: QueueUsesPorts, isOpen: boolean) {
    this.ports = ports;
    this.waits = isOpen ? 0 : 1;
  }

  /** The gate opens. `tookOver`: there may be queues whose consumers were all lost with the last primary. */
  opened(tookOver: boolean): void {
    this.until = this.ports.state.wiringVersion;
    if (tookOver) {
      this.seeksIdle = true;
      this.awaitSubscribers();
    }
    this.waited();
  }

  /** A node subscribes again from now on. */
  awaitSubscribers(): void {
    this.waits++;
    this.until = this.ports.state.wiringVersion;
    this.ports.after(resubscribeMs, () => this.waited());
  }

  /** The queue has its first consumer. */
  consumerCame(queue: ServedQueue): void {
    this.ports.queueUse(queue.incarnation, { kind: 'used', holds: () => true });
  }

  /** A consumer of the queue has gone. */
  consumerLeft(queue: ServedQueue): void {
    if (queue.gone || queue.isUnused || queue.consumers.size > 0) return;
    if (this.waits > 0 && queue.state.wiringVersion <= this.until) {
      this.left.add(queue);
      return;
    }
    queue.isUnused = true;
    this.ports.queueUse(queue.incarnation, { kind: 'unused', holds: () => queue.isUnused && !queue.gone });
  }

  /** The queue has gone without use for as long as it may. */
  leaseOver(queue: ServedQueue): void {
    this.ports.queueUse(queue.incarnation, { kind: 'expired', holds: () => queue.lease?.isOver === true });
  }

  private waited(): void {
    if (--this.waits === 0) this.ports.walk(this.judge());
  }

  private *judge(): Generator<number, void> {
    const { left } = this;
    this.left = new Set();
    for (const queue of left) {
      this.consumerLeft(queue);
      yield 1;
    }
    if (!this.seeksIdle) return;
    this.seeksIdle = false;
    const { ports } = this;
    for (const incarnation of ports.state.incarnations()) {
      const served = this.served(incarnation);
      const isKnown = served !== undefined && (served.consumers.size > 0 || served.isUnused);
      const holds = (): boolean => !ports.isClosed() && (this.served(incarnation)?.consumers.size ?? 0) === 0;
      if (!isKnown) ports.queueUse(incarnation, { kind: 'idle', holds });
      yield 1;
    }
  }

  private served(incarnation: Lsn): ServedQueue | undefined {
    return this.ports.state.queue(incarnation)?.watcher as ServedQueue | undefined;
  }
}
