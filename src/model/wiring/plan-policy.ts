import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { alternateExchange } from '../exchange/target.js';
import { ApplyTo, definitionProblem } from '../policy/definition.js';
import { PatternError } from '../policy/pattern-parser.js';
import { Pattern } from '../policy/pattern.js';
import { argumentsEqual } from './arguments.js';
import { nameKey } from './footprint.js';
import type { PolicyObject } from './objects.js';
import type { ClearPolicy, SetPolicy } from './operations.js';
import { checkNameLength, type Planner } from './planner.js';

/** As in an AMQP integer. */
const priorityMax = 0x7fff_ffff;

export function planSetPolicy(planner: Planner, { policy }: SetPolicy): void {
  const { vhost, name } = policy;
  const version = planner.context.version();
  if (version < Feature.policies)
    throw new RefusedError(
      Refusal.preconditionFailed,
      `policy '${name}' cannot be set while the cluster speaks protocol version ${version}: it takes ${Feature.policies}, which is spoken when all nodes do`,
    );
  planner.checkVhost(vhost);
  checkPolicy(policy, planner.context.replicasMax());
  if (version < Feature.exchangeTypes && Object.hasOwn(policy.definition, alternateExchange))
    throw new RefusedError(
      Refusal.preconditionFailed,
      `policy '${name}' cannot set '${alternateExchange}' while the cluster speaks protocol version ${version}: it takes ${Feature.exchangeTypes}, which is spoken when all nodes do`,
    );
  planner.footprint.writes(nameKey.policy(vhost, name));
  const current = planner.tables.policies.find(vhost, name);
  const older = planner.tables.policies.named(vhost, name);
  if (current !== undefined && isSame(current, policy)) {
    planner.position = current.position;
    for (const one of older) if (one !== current) planner.removal.other(one);
    return;
  }
  const { pattern, priority, applyTo, definition } = policy;
  if (current === undefined) planner.checkRoom('policy');
  planner.creates.push({ kind: 'policy', position: 0, vhost, name, pattern, priority, applyTo, definition });
  for (const one of older) planner.removal.other(one);
}

/** What is not there is not an error: clearing may be repeated. */
export function planClearPolicy(planner: Planner, { vhost, name }: ClearPolicy): void {
  planner.checkVhost(vhost);
  planner.footprint.writes(nameKey.policy(vhost, name));
  for (const policy of planner.tables.policies.named(vhost, name)) {
    planner.position = policy.position;
    planner.removal.other(policy);
  }
}

/** @throws RefusedError precondition-failed */
function checkPolicy(policy: SetPolicy['policy'], replicasMax: number): void {
  const refuse = (why: string): never => {
    throw new RefusedError(Refusal.preconditionFailed, `policy '${policy.name}' cannot be set: ${why}`);
  };
  if (policy.name === '') refuse('a name is missing');
  checkNameLength('policy name', policy.name);
  if (!Object.hasOwn(ApplyTo, policy.applyTo)) refuse(`'apply-to' is none of ${Object.keys(ApplyTo).join(', ')}`);
  if (!Number.isInteger(policy.priority) || Math.abs(policy.priority) > priorityMax)
    refuse(`'priority' is no integer from ${-priorityMax} to ${priorityMax}`);
  const problem = definitionProblem(policy.definition, policy.applyTo);
  if (problem !== '') refuse(problem);
  const minInSync = policy.definition['min-in-sync'];
  if (typeof minInSync === 'number' && minInSync > replicasMax)
    refuse(`'min-in-sync' is ${minInSync}, and queues have ${replicasMax} replicas: nothing would ever be confirmed`);
  try {
    new Pattern(policy.pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    refuse(`'pattern' is no regular expression that can be used: ${error.message}`);
  }
}

function isSame(current: PolicyObject, wanted: SetPolicy['policy']): boolean {
  return (
    current.pattern === wanted.pattern &&
    current.priority === wanted.priority &&
    current.applyTo === wanted.applyTo &&
    argumentsEqual(current.definition, wanted.definition)
  );
}
