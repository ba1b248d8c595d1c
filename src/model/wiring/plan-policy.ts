import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { alternateExchange } from '../exchange/target.js';
import { ApplyTo, definitionProblem } from '../policy/definition.js';
import { operatorDefinitionProblem } from '../policy/operator-definition.js';
import { PatternError } from '../policy/pattern-parser.js';
import { Pattern } from '../policy/pattern.js';
import { argumentsEqual } from './arguments.js';
import { nameKey } from './footprint.js';
import type { PolicyObject } from './objects.js';
import type { ClearPolicy, SetPolicy } from './operations.js';
import { checkNameLength, type Planner } from './planner.js';

/** For texts. */
export const policyTitle = { policy: 'policy', operatorPolicy: 'operator policy' } as const;

/** As in an AMQP integer. */
const priorityMax = 0x7fff_ffff;

export function planSetPolicy(planner: Planner, { op, policy }: SetPolicy): void {
  const { vhost, name } = policy;
  const kind = op === 'setPolicy' ? 'policy' : 'operatorPolicy';
  const version = planner.context.version();
  checkPoliciesSpoken(kind, name, version);
  planner.checkVhost(vhost);
  checkPolicy(kind, policy, planner.context.replicasMax());
  if (version < Feature.exchangeTypes && Object.hasOwn(policy.definition, alternateExchange))
    throw new RefusedError(
      Refusal.preconditionFailed,
      `policy '${name}' cannot set '${alternateExchange}' while the cluster speaks protocol version ${version}: it takes ${Feature.exchangeTypes}, which is spoken when all nodes do`,
    );
  planner.footprint.writes(nameKey.policy(kind, vhost, name));
  const names = planner.tables.policies.of(kind);
  const current = names.current(vhost, name);
  const older = names.named(vhost, name);
  if (current !== undefined && isSame(current, policy)) {
    planner.position = current.position;
    for (const one of older) if (one !== current) planner.removal.other(one);
    return;
  }
  const { pattern, priority, applyTo, definition } = policy;
  if (current === undefined) planner.checkRoom(kind);
  planner.creates.push({ kind, position: 0, vhost, name, pattern, priority, applyTo, definition });
  for (const one of older) planner.removal.other(one);
}

/** What is not there is not an error: clearing may be repeated. */
export function planClearPolicy(planner: Planner, { op, vhost, name }: ClearPolicy): void {
  const kind = op === 'clearPolicy' ? 'policy' : 'operatorPolicy';
  planner.checkVhost(vhost);
  planner.footprint.writes(nameKey.policy(kind, vhost, name));
  for (const policy of planner.tables.policies.of(kind).named(vhost, name)) {
    planner.position = policy.position;
    planner.removal.other(policy);
  }
}

/** @throws RefusedError precondition-failed while there are nodes that would not see it */
export function checkPoliciesSpoken(kind: PolicyObject['kind'], name: string, version: number): void {
  const needed = kind === 'policy' ? Feature.policies : Feature.operatorPolicies;
  if (version >= needed) return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `${policyTitle[kind]} '${name}' cannot be set while the cluster speaks protocol version ${version}: it takes ${needed}, which is spoken when all nodes do`,
  );
}

/** @throws RefusedError precondition-failed */
export function checkPolicy(kind: PolicyObject['kind'], policy: SetPolicy['policy'], replicasMax: number): void {
  const refuse = (why: string): never => {
    throw new RefusedError(Refusal.preconditionFailed, `${policyTitle[kind]} '${policy.name}' cannot be set: ${why}`);
  };
  if (policy.name === '') refuse('a name is missing');
  checkNameLength('policy name', policy.name);
  if (!Object.hasOwn(ApplyTo, policy.applyTo)) refuse(`'apply-to' is none of ${Object.keys(ApplyTo).join(', ')}`);
  if (!Number.isInteger(policy.priority) || Math.abs(policy.priority) > priorityMax)
    refuse(`'priority' is no integer from ${-priorityMax} to ${priorityMax}`);
  const judge = kind === 'policy' ? definitionProblem : operatorDefinitionProblem;
  const problem = judge(policy.definition, policy.applyTo);
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
