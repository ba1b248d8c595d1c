import { Refusal, RefusedError } from '../../base/errors.js';
import type { Arguments } from '../broker.js';
import { checkReplicate, Replicate, replicateAliases } from '../policy/definition.js';
import { argument, describeArgument } from './arguments.js';

/**
 * Exchanges and bindings are on all nodes: they hold nothing.
 * @throws RefusedError precondition-failed for a value that makes no sense, not-implemented for one that asks for less.
 */
export function checkReplicated(table: Arguments, what: string): void {
  for (const key of ['x-replicate', ...replicateAliases]) {
    const value = argument(table, key);
    if (value === undefined || value === Replicate.all || value === true) continue;
    const wanted = checkReplicate(value);
    if (wanted !== '')
      throw new RefusedError(
        Refusal.preconditionFailed,
        `invalid arg '${key}' for ${what}: ${describeArgument(value)} was received, ${wanted} is expected`,
      );
    throw new RefusedError(
      Refusal.notImplemented,
      `'${key}' is ${String(value)} for ${what}: exchanges and bindings are on all nodes, they hold no messages; leave it out, and say it of the queue`,
    );
  }
}
