/** The arguments of queues: which are known, what they may be, and which of them make two declarations differ. */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { ReplicaOptions } from '../../log/replica-options.js';
import type { Arguments, ArgumentValue } from '../broker.js';
import { settingArguments } from '../policy/definition.js';
import { flowProblem } from '../policy/flow-settings.js';
import { type Check, flag, integer, oneOf, text } from './argument-checks.js';
import { argument, argumentsEqual, describeArgument } from './arguments.js';
import { isDurable, type QueueObject } from './objects.js';
import { levelShareCheck, priorityChecks, priorityLevels, shareProblem } from './priority-arguments.js';

/** Of what kind a queue is. */
export const typeArgument = 'x-queue-type';

/** The names that this broker and others have for them. */
const lastValueArguments = ['x-last-value-key', 'qpid.last_value_queue_key'];
const groupArguments = ['x-group-key', 'qpid.group_header_key'];

const checks: ReadonlyMap<string, Check> = new Map([
  [typeArgument, oneOf('classic', 'quorum')],
  ['x-dead-letter-strategy', oneOf('at-most-once', 'at-least-once')],
  ...priorityChecks,
  ['x-single-active-consumer', flag],
  ...lastValueArguments.map((key) => [key, text] as const),
  ...groupArguments.map((key) => [key, text] as const),
  ['x-queue-mode', oneOf('default', 'lazy')],
  ['x-queue-version', oneOf(1, 2)],
  ['x-queue-master-locator', text],
  ['x-queue-leader-locator', text],
  ['x-quorum-initial-group-size', integer(1)],
  ...settingArguments,
]);

/** 'classic' or 'quorum'; what a queue has no other argument for is classic. */
export function queueType(table: Arguments): ArgumentValue {
  return argument(table, typeArgument) ?? 'classic';
}

/** The header of which a queue keeps the last message for each value; undefined: it keeps all. */
export function lastValueKey(table: Arguments): string | undefined {
  return firstText(table, lastValueArguments);
}

/** The header by which messages belong to groups; undefined: they do not. */
export function groupKey(table: Arguments): string | undefined {
  return firstText(table, groupArguments);
}

function firstText(table: Arguments, names: readonly string[]): string | undefined {
  const value = names.map((name) => argument(table, name)).find((one) => one !== undefined);
  return typeof value === 'string' ? value : undefined;
}

/** What every replica of the queue must know: it orders its messages by that. */
export function replicaOptions(queue: QueueObject): ReplicaOptions {
  return { durable: isDurable(queue), ...priorityLevels(queue.arguments) };
}

/**
 * Checks the arguments of a new queue. Unknown ones are kept and mean nothing.
 * @param what names the queue in the text of an error.
 * @throws RefusedError precondition-failed, or not-implemented for streams.
 */
export function checkQueueArguments(table: Arguments, what: string): void {
  if (argument(table, typeArgument) === 'stream') {
    throw new RefusedError(
      Refusal.notImplemented,
      `${what} cannot be declared: queues of type 'stream' are not implemented; use 'classic' or 'quorum'`,
    );
  }
  for (const [key, value] of Object.entries(table)) {
    const wanted = (checks.get(key) ?? levelShareCheck(key))?.(value) ?? '';
    if (wanted !== '') refuse(key, what, `${describeArgument(value)} was received, ${wanted} is expected`);
  }
  if (Object.hasOwn(table, 'x-dead-letter-routing-key') && !Object.hasOwn(table, 'x-dead-letter-exchange')) {
    refuse('x-dead-letter-routing-key', what, "it needs 'x-dead-letter-exchange'");
  }
  const problem = shareProblem(table) ?? flowProblem((key) => argument(table, key));
  if (problem !== undefined) refuse(problem.key, what, problem.reason);
}

const consumerPriority = integer(-0x8000_0000, 0x7fff_ffff);

/** Checks the arguments of a consumer. @throws RefusedError precondition-failed */
export function checkConsumerArguments(table: Arguments, what: string): void {
  const priority = argument(table, 'x-priority');
  const wanted = priority === undefined ? '' : consumerPriority(priority);
  if (wanted !== '') refuse('x-priority', what, `${describeArgument(priority!)} was received, ${wanted} is expected`);
}

function refuse(key: string, what: string, reason: string): never {
  throw new RefusedError(Refusal.preconditionFailed, `invalid arg '${key}' for ${what}: ${reason}`);
}

/** The first known argument in which a declaration differs from the queue that is there; undefined if there is none. */
export function differingQueueArgument(current: Arguments, received: Arguments): string | undefined {
  if (!argumentsEqual(queueType(current), queueType(received))) return typeArgument;
  for (const key of checks.keys()) {
    if (key !== typeArgument && !argumentsEqual(argument(current, key), argument(received, key))) return key;
  }
  for (const key of [...Object.keys(current), ...Object.keys(received)]) {
    const isKnown = levelShareCheck(key) !== undefined;
    if (isKnown && !argumentsEqual(argument(current, key), argument(received, key))) return key;
  }
  return undefined;
}
