/** What holds for a queue: its argument, else its policies, else the cluster's default. */
import type { Lsn } from '../../log/lsn.js';
import type { ArgumentValue } from '../broker.js';
import { type FlowLimits, Overflow } from '../queue/queue-traits.js';
import { argument } from '../wiring/arguments.js';
import type { QueueObject } from '../wiring/objects.js';
import { aliasOf, aliasValue } from './aliases.js';
import { Below, Confirm, type Definition, Replicate, replicateArguments, ReplicateDefault } from './definition.js';
import { flowLimits } from './flow-settings.js';
import type { AppliedPolicies, Policies } from './policies.js';

export interface QueueDefaults {
  /** Replicas in sync below which publishes are not confirmed. */
  readonly minInSync: number;
  /** Which queues are on several nodes, if neither argument nor policy says so. */
  readonly replicate: ReplicateDefault;
}

export interface QueueSettings {
  readonly minInSync: number;
  /** The policies that apply. */
  readonly by: AppliedPolicies;
  readonly below: Below;
  /** For how long confirms are held, in milliseconds, before publishes are nacked; 0 = for as long as it takes. */
  readonly timeoutMs: number;
  readonly confirm: Confirm;
  /** On how many nodes its messages are to be; a queue that is elsewhere moves. */
  readonly replicate: Replicate;
  /** Replicas of its group; undefined: as many as the cluster's groups have. */
  readonly size: number | undefined;
  /** How long a message may be in it, in milliseconds; Infinity = for ever. */
  readonly ttlMs: number;
  /** How many ready messages it may have, and bytes of their bodies; Infinity = any number. */
  readonly lengthMax: number;
  readonly bytesMax: number;
  readonly overflow: Overflow;
  /** Undefined: its publishers never wait for it. */
  readonly flow: FlowLimits | undefined;
  /** How long it may be without use, in milliseconds; Infinity = for ever. */
  readonly unusedMs: number;
  /** How often a message may come back; Infinity = for ever. */
  readonly returnsMax: number;
  readonly deadLetterExchange: string | undefined;
  readonly deadLetterRoutingKey: string | undefined;
}

export class QueueSettingsTable {
  private readonly policies: Policies;
  private values: QueueDefaults = { minInSync: 1, replicate: ReplicateDefault.all };
  /** As of `version` of the policies. Queues without arguments that matter share what their policy makes. */
  private readonly known = new Map<Lsn, QueueSettings>();
  private readonly shared = new Map<AppliedPolicies, QueueSettings>();
  private version = 0;

  constructor(policies: Policies) {
    this.policies = policies;
  }

  /** The cluster's defaults. */
  set defaults(defaults: QueueDefaults) {
    this.values = defaults;
    this.forget();
  }

  /** Replicas in sync that every queue wants that does not say otherwise. */
  get minInSync(): number {
    return this.values.minInSync;
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

  /** What would hold for a queue that is not there yet. */
  ofNew(queue: QueueObject): QueueSettings {
    return this.find(queue);
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
    if (this.version !== this.policies.version) this.forget();
    const by = this.policies.ofQueue(queue.vhost, queue.name);
    const isOwn =
      Object.keys(queue.arguments).length > 0 ||
      queue.replicas !== undefined ||
      this.values.replicate === ReplicateDefault.durable;
    if (isOwn) return this.make(queue, by);
    let shared = this.shared.get(by);
    if (shared === undefined) {
      shared = this.make(queue, by);
      this.shared.set(by, shared);
    }
    return shared;
  }

  private make(queue: QueueObject, by: AppliedPolicies): QueueSettings {
    const { definition } = by;
    const value = (key: string): ArgumentValue | undefined => ownSetting(queue, key) ?? definition?.[key];
    const replicas = value('replicas');
    const replicate = this.replicate(queue, value('replicate'));
    const size = replicate === Replicate.all ? (replicas === undefined ? undefined : Number(replicas)) : 1;
    // A queue that is there cannot have more replicas in sync than its group has.
    const most = queue.replicas ?? Number.POSITIVE_INFINITY;
    return {
      by,
      minInSync: Math.min(Number(value('min-in-sync') ?? this.values.minInSync), most),
      below: value('min-in-sync-below') === Below.refuse ? Below.refuse : Below.hold,
      timeoutMs: Number(value('min-in-sync-timeout') ?? 0),
      replicate,
      size,
      confirm: value('confirm') === Confirm.replicated ? Confirm.replicated : Confirm.synced,
      ttlMs: this.least(queue, definition, 'message-ttl'),
      lengthMax: this.least(queue, definition, 'max-length'),
      bytesMax: this.least(queue, definition, 'max-length-bytes'),
      flow: flowLimits(value),
      overflow: (value('overflow') ?? Overflow.dropHead) as Overflow,
      unusedMs: this.least(queue, definition, 'expires'),
      returnsMax: this.least(queue, definition, 'delivery-limit'),
      deadLetterExchange: textOf(value('dead-letter-exchange')),
      deadLetterRoutingKey: textOf(value('dead-letter-routing-key')),
    };
  }

  /** Limits: where both argument and policies set one, the lower counts (as in RabbitMQ). */
  private least(queue: QueueObject, definition: Definition | undefined, key: string): number {
    return Math.min(limit(ownSetting(queue, key)), limit(definition?.[key]));
  }

  private replicate(queue: QueueObject, value: ArgumentValue | undefined): Replicate {
    const own = replicateArguments.map((key) => argument(queue.arguments, key)).find((other) => other !== undefined);
    const asked = own ?? value;
    if (asked === undefined) return this.values.replicate === 'durable' ? byDurability(queue) : this.values.replicate;
    if (typeof asked === 'boolean') return asked ? Replicate.all : Replicate.none;
    return asked as Replicate;
  }
}

/** By argument. */
function ownSetting(queue: QueueObject, key: string): ArgumentValue | undefined {
  const own = argument(queue.arguments, `x-${key}`);
  const alias = own === undefined ? aliasOf(key) : undefined;
  const other = alias === undefined ? undefined : argument(queue.arguments, alias);
  return other === undefined ? own : aliasValue(key, other);
}

function byDurability(queue: QueueObject): Replicate {
  return queue.durable ? Replicate.all : Replicate.none;
}

/** Below zero: none (`x-delivery-limit` = -1). */
function limit(value: ArgumentValue | undefined): number {
  return value === undefined || Number(value) < 0 ? Number.POSITIVE_INFINITY : Number(value);
}

function textOf(value: ArgumentValue | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
