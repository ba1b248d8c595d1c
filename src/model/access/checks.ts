import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { PatternError } from '../policy/pattern-parser.js';
import { Pattern } from '../policy/pattern.js';
import { checkNameLength } from '../wiring/planner.js';

/** @throws RefusedError precondition-failed for what no user and no vhost may be called. */
export function checkName(what: 'user' | 'vhost', name: string): void {
  const refuse = (why: string): never => {
    throw new RefusedError(Refusal.preconditionFailed, `the name of a ${what} ${why}`);
  };
  if (name === '') refuse('is missing');
  if (name.includes('\0')) refuse('has a NUL in it');
  checkNameLength(`${what} name`, name);
}

/** @throws RefusedError precondition-failed for a pattern that cannot be used. */
export function checkPattern(what: string, text: string): void {
  try {
    new Pattern(text);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new RefusedError(
      Refusal.preconditionFailed,
      `'${what}' is no regular expression that can be used: ${error.message}`,
    );
  }
}

/** Why users and vhosts cannot be changed. */
export function olderNodes(version: number): RefusedError {
  return new RefusedError(
    Refusal.preconditionFailed,
    `users, vhosts and permissions cannot be changed while the cluster speaks protocol version ${version}: it takes ${Feature.access}, which is spoken when all nodes do`,
  );
}
