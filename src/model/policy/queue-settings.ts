/** What holds for a queue: its argument, else its policy, else the cluster's default. */
import type { Lsn } from '../../log/lsn.js';
import type { ArgumentValue } from '../broker.js';
import { argument } from '../wiring/arguments.js';
import type { PolicyObject, QueueObject } from '../wiring/objects.js';
import { Below, Confirm } from './definition.js';
import type { Policies } from './policies.js';

export interface QueueDefaults {
  /** Replicas in sync below which publishes are not confirmed. */
  readonly minInSync: number;
}

export interface QueueSettings extends QueueDefaults {
  readonly policy: PolicyObject | undefined;
  readonly below: Below;
  /** For how long confirms are held, in milliseconds, before publishes are nacked; 0 = for as long as it takes. */
  readonly timeoutMs: number;
  readonly confirm: Confirm;
}

export class QueueSettingsTable {
  private readonly policies: Policies;
  private values: QueueDefaults = { minInSync: 1 };
  /** As of `version` of the policies. Queues without arguments that matter share what their policy makes. */
  private readonly known = new Map<Lsn, QueueSettings>();
  private readonly shared = new Map<PolicyObject | undefined, QueueSettings>();
  private version = 0;

  constructor(policies: Policies) {
    this.policies = policies;
  }

  /** The cluster's defaults. */
  set defaults(defaults: QueueDefaults) {
    this.values = defaults;
    this.forget();
  }

  /** Found once for each queue and state of the policies. */
  of(queue: QueueObject): QueueSettings {
    if (this.version !== this.policies.version) this.forget();
    let found = this.known.get(queue.position);
    if (found === undefined) {
      found = this.find(queue);
      this.known.set(queue.position, found);
    }
    return found;
  }

  gone(queue: QueueObject): void {
    this.known.delete(queue.position);
  }

  private forget(): void {
    this.version = this.policies.version;
    this.known.clear();
    this.shared.clear();
  }

  private find(queue: QueueObject): QueueSettings {
    const policy = this.policies.of('queues', queue.vhost, queue.name);
    if (Object.keys(queue.arguments).length > 0) return this.make(queue, policy);
    let shared = this.shared.get(policy);
    if (shared === undefined) {
      shared = this.make(queue, policy);
      this.shared.set(policy, shared);
    }
    return shared;
  }

  private make(queue: QueueObject, policy: PolicyObject | undefined): QueueSettings {
    const value = (key: string): ArgumentValue | undefined =>
      argument(queue.arguments, `x-${key}`) ?? policy?.definition[key];
    return {
      policy,
      minInSync: Number(value('min-in-sync') ?? this.values.minInSync),
      below: value('min-in-sync-below') === Below.refuse ? Below.refuse : Below.hold,
      timeoutMs: Number(value('min-in-sync-timeout') ?? 0),
      confirm: value('confirm') === Confirm.replicated ? Confirm.replicated : Confirm.synced,
    };
  }
}
