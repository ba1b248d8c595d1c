/**
 * `x-replicate` of exchanges and bindings. They hold no messages and are on all nodes in any case; `none` says that they live no
 * longer than the boot of the node through which they were declared. Who is alone has nowhere else to keep anything: there it means
 * nothing.
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import type { Arguments, ConnectionId } from '../broker.js';
import { checkReplicate, Replicate, replicateArguments } from '../policy/definition.js';
import { argument, describeArgument } from './arguments.js';
import type { NodeBoot } from './objects.js';
import { ownerOf } from './operations.js';
import { checkNodeLives, type Planner } from './planner.js';

/** @throws RefusedError precondition-failed for a value that makes no sense. */
export function checkReplicateArgument(table: Arguments, what: string): void {
  for (const key of replicateArguments) {
    const value = argument(table, key);
    const wanted = value === undefined ? '' : checkReplicate(value);
    if (value === undefined || wanted === '') continue;
    throw new RefusedError(
      Refusal.preconditionFailed,
      `invalid arg '${key}' for ${what}: ${describeArgument(value)} was received, ${wanted} is expected`,
    );
  }
}

/** The name under which an exchange or a binding is asked not to be replicated; undefined if it is not. */
function unreplicatedBy(table: Arguments): string | undefined {
  const key = replicateArguments.find((name) => argument(table, name) !== undefined);
  if (key === undefined) return undefined;
  const value = argument(table, key);
  return value === Replicate.none || value === false ? key : undefined;
}

export function isReplicated(table: Arguments): boolean {
  return unreplicatedBy(table) === undefined;
}

/**
 * With whose end a new exchange or binding goes; nothing if it stays.
 * @throws RefusedError not-implemented while not all nodes would see that, not-allowed if that boot is over.
 */
export function goingWith(
  planner: Planner,
  table: Arguments,
  connection: ConnectionId | undefined,
  what: string,
): { goesWith?: NodeBoot } {
  const { context } = planner;
  const key = unreplicatedBy(table);
  if (key === undefined || context.isAlone) return {};
  if (context.version() < Feature.goesWith)
    throw new RefusedError(
      Refusal.notImplemented,
      `'${key}' is ${String(table[key])} for ${what} while the cluster speaks protocol version ${context.version()}: it takes ${Feature.goesWith}, which is spoken when all nodes do`,
    );
  const goesWith = connection === undefined ? undefined : ownerOf(connection);
  if (connection === undefined || goesWith === undefined) return {};
  checkNodeLives(planner, connection, what);
  return { goesWith };
}
