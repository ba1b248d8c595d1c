/**
 * What policies may set. A queue's argument of the same name with `x-` before it goes before any policy, a policy before the
 * cluster's default.
 */
import { Overflow } from '../queue/queue-traits.js';
import { type Check, integer, oneOf, text } from '../wiring/argument-checks.js';
import { aliasCheck, aliasOf } from './aliases.js';
import { flowSettingProblem } from './flow-settings.js';

export const ApplyTo = { queues: 'queues', exchanges: 'exchanges', all: 'all' } as const;
export type ApplyTo = (typeof ApplyTo)[keyof typeof ApplyTo];

export type DefinitionValue = string | number | boolean;
export type Definition = { readonly [key: string]: DefinitionValue };

/** What happens to publishes while too few replicas are in sync. */
export const Below = {
  /** They are taken, and their confirms wait; with `min-in-sync-timeout` for so long, then they are nacked. */
  hold: 'hold',
  /** They are nacked at once, and go nowhere. */
  refuse: 'refuse',
} as const;
export type Below = (typeof Below)[keyof typeof Below];

/** When a publish or an acknowledgement counts, on every replica in sync. */
export const Confirm = {
  /** On disk, where message and queue are durable. */
  synced: 'synced',
  /** In memory; on disk soon after. */
  replicated: 'replicated',
} as const;
export type Confirm = (typeof Confirm)[keyof typeof Confirm];

/** Where a queue's messages are. */
export const Replicate = {
  all: 'all',
  /** On one node only. Its declaration is everywhere in any case. */
  configuration: 'configuration',
  none: 'none',
} as const;
export type Replicate = (typeof Replicate)[keyof typeof Replicate];

/** The same for a whole cluster. */
export const ReplicateDefault = { all: 'all', durable: 'durable', none: 'none' } as const;
export type ReplicateDefault = (typeof ReplicateDefault)[keyof typeof ReplicateDefault];

/** `x-replicate`, and the names that other brokers have for it. The first that is there counts. */
export const replicateArguments: readonly string[] = ['x-replicate', 'qpid.replicate', 'x-qpid-replicate'];

export const checkReplicate: Check = oneOf(Replicate.all, Replicate.configuration, Replicate.none, true, false);

/** Largest time, in milliseconds: ten years, as in RabbitMQ. */
export const durationMax = 315_360_000_000;

/** A day. */
const waitMax = 86_400_000;

interface Setting {
  readonly key: string;
  readonly check: Check;
  /** What it is about. */
  readonly of: 'queues' | 'exchanges' | 'all';
}

const settings: readonly Setting[] = [
  { key: 'min-in-sync', check: integer(1, 31), of: 'queues' },
  { key: 'min-in-sync-below', check: oneOf(Below.hold, Below.refuse), of: 'queues' },
  { key: 'min-in-sync-timeout', check: integer(0, waitMax), of: 'queues' },
  { key: 'confirm', check: oneOf(Confirm.synced, Confirm.replicated), of: 'queues' },
  { key: 'replicate', check: checkReplicate, of: 'queues' },
  { key: 'replicas', check: integer(1, 31), of: 'queues' },
  { key: 'message-ttl', check: integer(0, durationMax), of: 'queues' },
  { key: 'max-length', check: integer(0), of: 'queues' },
  { key: 'max-length-bytes', check: integer(0), of: 'queues' },
  { key: 'overflow', check: oneOf(...Object.values(Overflow)), of: 'queues' },
  { key: 'flow-stop-count', check: integer(0), of: 'queues' },
  { key: 'flow-stop-size', check: integer(0), of: 'queues' },
  { key: 'flow-resume-count', check: integer(0), of: 'queues' },
  { key: 'flow-resume-size', check: integer(0), of: 'queues' },
  { key: 'expires', check: integer(1, durationMax), of: 'queues' },
  { key: 'delivery-limit', check: integer(-1), of: 'queues' },
  { key: 'dead-letter-exchange', check: text, of: 'queues' },
  { key: 'dead-letter-routing-key', check: text, of: 'queues' },
  { key: 'alternate-exchange', check: text, of: 'exchanges' },
];

const queueSettings = settings.filter(({ of }) => of !== 'exchanges');
const knownKeys = settings.map(({ key }) => key).join(', ');

/** The arguments of queues that stand for settings, with what they may be. */
export const settingArguments: readonly (readonly [argument: string, check: Check])[] = [
  ...queueSettings.map(({ key, check }) => [`x-${key}`, check] as const),
  ...queueSettings.flatMap(({ key, check }) => {
    const alias = aliasOf(key);
    return alias === undefined ? [] : [[alias, aliasCheck(key, check)] as const];
  }),
  ...replicateArguments.slice(1).map((alias) => [alias, checkReplicate] as const),
];

/**
 * Checks a definition as it came from outside.
 * @param known the keys that it may have, for the text
 * @returns '' or what is wrong with it.
 */
export function definitionProblem(definition: unknown, applyTo: ApplyTo, known: string = knownKeys): string {
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition))
    return 'the definition must be an object of keys and values';
  const entries = Object.entries(definition as Record<string, unknown>);
  if (entries.length === 0) return `the definition sets nothing: it may have ${known}`;
  for (const [key, value] of entries) {
    const setting = settings.find((candidate) => candidate.key === key);
    if (setting === undefined) return `'${key}' is no key of a policy's definition: it may have ${known}`;
    if (!['string', 'number', 'boolean'].includes(typeof value))
      return `'${key}' must be a text, a number or true or false`;
    const wanted = setting.check(value as DefinitionValue);
    if (wanted !== '') return `'${key}' is '${String(value).slice(0, 100)}': ${wanted} is expected`;
    if (setting.of !== 'all' && applyTo !== ApplyTo.all && applyTo !== setting.of)
      return `'${key}' is for ${setting.of}, the policy is applied to ${applyTo}`;
  }
  const problem = flowSettingProblem((key) => (definition as Definition)[key]);
  return problem === undefined ? '' : `'${problem.key}' cannot be: ${problem.reason}`;
}
