import type { QueueObject } from '../../model/wiring/objects.js';
import { Below } from '../../model/policy/definition.js';
import { refusesMore } from '../../model/queue/queue-traits.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { isLocalGroup } from '../map.js';

/**
 * What the queues of a route's target want of confirms (rule 21): min-in-sync, and what to do below. Policies change it, and queues
 * go, while publishes wait for it.
 */
export class ConfirmGate {
  private readonly tables: WiringTables;
  private readonly queues: QueueObject[] = [];
  private delays = false;
  /** Of the wiring for which the following holds. */
  private version = -1;
  private replicas = 0;
  private holdMs = 0;
  private refuses = false;
  private rejects = false;

  constructor(tables: WiringTables) {
    this.tables = tables;
  }

  add(queue: QueueObject): void {
    // Its messages are on its own node alone.
    if (isLocalGroup(queue.group)) return;
    this.queues.push(queue);
    this.version = -1;
  }

  /** A message is to wait for its time in a queue of its group's own, of which nobody asks more than the cluster's default. */
  addDelayed(): void {
    this.delays = true;
    this.version = -1;
  }

  /** Wants what another one wants as well. */
  join(other: ConfirmGate): void {
    for (const queue of other.queues) if (!this.queues.includes(queue)) this.add(queue);
    if (other.delays) this.addDelayed();
  }

  /** Replicas in sync that there must be, for the most demanding queue; those that are gone want nothing. */
  get need(): number {
    this.refresh();
    return this.replicas;
  }

  /** For how long a confirm is held, in milliseconds; 0 = for as long as it takes. */
  get timeoutMs(): number {
    this.refresh();
    return this.holdMs;
  }

  /** Publishes are refused while there are too few, instead of held. */
  get isRefusing(): boolean {
    this.refresh();
    return this.refuses;
  }

  /** One of the queues refuses what is too much. */
  get isRejecting(): boolean {
    this.refresh();
    return this.rejects;
  }

  private refresh(): void {
    const { tables } = this;
    if (this.version === tables.routingVersion) return;
    this.version = tables.routingVersion;
    this.replicas = this.delays ? tables.settings.minInSync : 0;
    this.holdMs = 0;
    this.refuses = false;
    this.rejects = false;
    for (const queue of this.queues) {
      if (tables.queueAt(queue.position) === undefined) continue;
      const { minInSync, below, timeoutMs, overflow } = tables.settings.of(queue);
      this.replicas = Math.max(this.replicas, minInSync);
      if (timeoutMs > 0) this.holdMs = this.holdMs === 0 ? timeoutMs : Math.min(this.holdMs, timeoutMs);
      if (below === Below.refuse) this.refuses = true;
      if (refusesMore(overflow)) this.rejects = true;
    }
  }
}
