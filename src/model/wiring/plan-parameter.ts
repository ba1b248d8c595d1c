import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { argumentsEqual } from './arguments.js';
import { nameKey } from './footprint.js';
import { encodeObject, type GlobalParameterObject } from './objects.js';
import type { ClearGlobalParameter, SetGlobalParameter } from './operations.js';
import { checkNameLength, type Planner } from './planner.js';

export function planSetGlobalParameter(planner: Planner, { name, value }: SetGlobalParameter): void {
  checkParametersSpoken(name, planner.context.version());
  const wanted = globalParameter(name, value);
  planner.footprint.writes(nameKey.globalParameter(name));
  const { tables } = planner;
  const current = tables.globalParameter(name);
  const isSame = current !== undefined && argumentsEqual(current.value, value);
  if (isSame) planner.position = current.position;
  else {
    if (current === undefined) planner.checkRoom('globalParameter');
    planner.creates.push(wanted);
  }
  for (const one of tables.globalParametersNamed(name)) if (!isSame || one !== current) planner.removal.other(one);
}

/** What is not there is not an error: clearing may be repeated. */
export function planClearGlobalParameter(planner: Planner, { name }: ClearGlobalParameter): void {
  planner.footprint.writes(nameKey.globalParameter(name));
  for (const one of planner.tables.globalParametersNamed(name)) planner.removal.other(one);
}

/** A new one. @throws RefusedError precondition-failed if it cannot be */
export function globalParameter(name: string, value: GlobalParameterObject['value']): GlobalParameterObject {
  if (name === '') throw new RefusedError(Refusal.preconditionFailed, 'the name of a global parameter is missing');
  checkNameLength('name of a global parameter', name);
  const object = { kind: 'globalParameter', position: 0, name, value } as const;
  encodeObject(object);
  return object;
}

/** @throws RefusedError precondition-failed while there are nodes that would not see it */
export function checkParametersSpoken(name: string, version: number): void {
  if (version >= Feature.globalParameters) return;
  throw new RefusedError(
    Refusal.preconditionFailed,
    `global parameter '${name}' cannot be set while the cluster speaks protocol version ${version}: it takes ${Feature.globalParameters}, which is spoken when all nodes do`,
  );
}
