import type { Lsn } from '../../log/lsn.js';
import type { GroupState, QueueState } from '../group-state.js';
import { needsCare } from '../queue/queue-traits.js';
import type { Flows } from './flows.js';
import type { Leases } from './lease.js';
import type { ServedQueue } from './served-queue.js';
import type { TraitsOf } from './traits-of.js';

/** What it needs of its service. */
export interface QueueCarePorts {
  readonly state: GroupState;
  readonly traits: TraitsOf;
  readonly leases: Leases;
  readonly flows: Flows;
  /** The queue, served from now on. */
  served(incarnation: Lsn): ServedQueue | undefined;
  dispatchSoon(queue: ServedQueue): void;
  /** Goes through many things, in slices. */
  walk(steps: Iterator<number, void>, done: () => void): void;
}

/**
 * Queues that need to be looked after though nobody consumes from them: something in them expires, they have too much, or they are
 * to go when nobody uses them. They are found when the service begins, when a queue is new, and when policies change. After a restart
 * the service may begin before its node knows again what the wiring says of its queues: those are looked at when it does.
 */
export class QueueCare {
  private readonly ports: QueueCarePorts;
  /** Of the traits that all queues were looked at with; -1 = not before the service hands anything out. */
  private version = -1;
  private isWalking = false;
  /** The wiring has changed since the walk began. */
  private isStale = false;
  /** Queues of which the wiring did not say anything when they were looked at. */
  private unknown: Lsn[] = [];

  constructor(ports: QueueCarePorts) {
    this.ports = ports;
    ports.state.onOpened = (queue) => this.look(queue);
  }

  /** The service begins to hand out messages. */
  begin(): void {
    this.walk(this.ports.state.incarnations());
  }

  /** The wiring has changed. */
  wiringReached(): void {
    if (this.version < 0) return;
    this.isStale = this.isWalking;
    if (this.isStale) return;
    if (this.version !== this.ports.traits.version) this.walk(this.ports.state.incarnations());
    else if (this.unknown.length > 0) this.walk(this.unknown);
  }

  close(): void {
    this.ports.state.onOpened = undefined;
  }

  private walk(incarnations: Iterable<Lsn>): void {
    this.isWalking = true;
    this.unknown = [];
    this.version = this.ports.traits.version;
    this.ports.walk(this.lookAt(incarnations), () => {
      this.isWalking = false;
      if (this.isStale) this.wiringReached();
    });
  }

  private *lookAt(incarnations: Iterable<Lsn>): Generator<number, void> {
    const { state } = this.ports;
    for (const incarnation of incarnations) {
      const queue = state.queue(incarnation);
      if (queue !== undefined) this.look(queue);
      yield 1;
    }
  }

  private look(queue: QueueState): void {
    const { ports } = this;
    const traits = ports.traits.of(queue);
    // Those that are always there the wiring does not know at all.
    if (queue.wiringVersion > 0 && !ports.traits.isKnown(queue)) this.unknown.push(queue.incarnation);
    const known = queue.watcher as ServedQueue | undefined;
    if (known?.flow !== undefined) ports.flows.look(known);
    if (!queue.mayExpire && !needsCare(traits)) return;
    const served = ports.served(queue.incarnation);
    if (served === undefined) return;
    ports.leases.used(served);
    ports.flows.look(served);
    ports.dispatchSoon(served);
  }
}
