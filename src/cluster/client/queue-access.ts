/**
 * Queues by name, for what is answered from this node's own wiring. A node whose wiring may be old (rule 15) says neither that a
 * queue does not exist nor that it does: somebody may have been told that it was declared, or deleted, and its name may be
 * another queue's by now. It waits until its wiring is current, and looks then.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import type { ConnectionId } from '../../model/broker.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import { checkMayUse, checkVhost, describeQueue, notFound } from '../../model/wiring/planner.js';
import type { WiringTables } from '../../model/wiring/tables.js';

export interface QueueAccessOptions {
  tables: WiringTables;
  clock: Clock;
  /** This node's wiring is known to be current: what others were told is complete is in it (rule 15). */
  isCurrent(): boolean;
}

interface Waiting {
  deadline: number;
  resolve(): void;
  reject(error: Error): void;
}

const pollMs = 10;
export const currentTimeoutMs = 30_000;
/** Requests that wait for the wiring, at most. */
export const waitingMax = 10_000;

export class QueueAccess {
  private readonly options: QueueAccessOptions;
  private waiting: Waiting[] = [];
  private timer: Timer | undefined;
  private closed = false;

  constructor(options: QueueAccessOptions) {
    this.options = options;
  }

  /**
   * The queue of this name; undefined: it is not known now what it names, see `current`.
   * @throws RefusedError (not-found)
   */
  find(vhost: string, name: string): QueueObject | undefined {
    const { tables, isCurrent } = this.options;
    checkVhost(tables, vhost);
    if (!isCurrent()) return undefined;
    const queue = tables.queue(vhost, name);
    if (queue === undefined) throw notFound(describeQueue(vhost, name));
    return queue;
  }

  /** The same, if the connection may use it. @throws RefusedError (not-found, resource-locked) */
  usable(vhost: string, name: string, connection: ConnectionId): QueueObject | undefined {
    const queue = this.find(vhost, name);
    if (queue !== undefined) checkMayUse(queue, connection);
    return queue;
  }

  /** As `find`, when it is known. Rejects with RefusedError (not-found; internal-error if this node does not get current). */
  async found(vhost: string, name: string): Promise<QueueObject> {
    for (;;) {
      const queue = this.find(vhost, name);
      if (queue !== undefined) return queue;
      await this.current();
    }
  }

  /** As `usable`, when it is known. Rejects with RefusedError (not-found, resource-locked, internal-error). */
  async usableSoon(vhost: string, name: string, connection: ConnectionId): Promise<QueueObject> {
    const queue = await this.found(vhost, name);
    checkMayUse(queue, connection);
    return queue;
  }

  /** Resolves when the wiring is current. Rejects with RefusedError (internal-error, resource-error). */
  current(): Promise<void> {
    const { clock, isCurrent } = this.options;
    if (isCurrent()) return Promise.resolve();
    if (this.closed) return Promise.reject(stopping());
    if (this.waiting.length >= waitingMax) {
      const text = `${waitingMax} requests wait already until this node is in sync with the cluster; try again later`;
      return Promise.reject(new RefusedError(Refusal.resourceError, text));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ deadline: clock.now() + currentTimeoutMs, resolve, reject });
      this.timer ??= clock.every(pollMs, () => this.poll());
    });
  }

  close(): void {
    this.closed = true;
    this.settle(({ reject }) => reject(stopping()));
  }

  private poll(): void {
    const { clock, isCurrent } = this.options;
    if (isCurrent()) return this.settle(({ resolve }) => resolve());
    const now = clock.now();
    // Deadlines come in the order of the requests.
    while (this.waiting.length > 0 && this.waiting[0]!.deadline <= now) {
      const text =
        "this node is not in sync with the cluster; see 'understudy status', then try again or use another node";
      this.waiting.shift()!.reject(new RefusedError(Refusal.internalError, text));
    }
    if (this.waiting.length === 0) this.settle(() => {});
  }

  private settle(how: (waiting: Waiting) => void): void {
    this.timer?.cancel();
    this.timer = undefined;
    const waiting = this.waiting;
    this.waiting = [];
    for (const one of waiting) how(one);
  }
}

function stopping(): RefusedError {
  return new RefusedError(Refusal.internalError, 'this node stops');
}
