import { Refusal, RefusedError } from '../../base/errors.js';
import { argumentsEqual } from '../wiring/arguments.js';
import { nameKey } from '../wiring/footprint.js';
import { notFound, type Planner } from '../wiring/planner.js';
import { type LimitedKind, limitNames, type LimitsObject } from './objects.js';
import type { ClearLimit, SetLimit } from './operations.js';

export function planSetLimit(planner: Planner, { of, name, limit, value }: SetLimit): void {
  const known: readonly string[] = limitNames[of];
  if (!known.includes(limit)) throw refused(`'${limit}' is no limit of a ${of}: there are ${known.join(', ')}`);
  if (!Number.isSafeInteger(value)) throw refused(`${limit} is a whole number, or -1 for no limit`);
  checkThere(planner, of, name);
  change(planner, of, name, (limits) => ({ ...limits, [limit]: value }));
}

export function planClearLimit(planner: Planner, { of, name, limit }: ClearLimit): void {
  change(planner, of, name, (limits) => Object.fromEntries(Object.entries(limits).filter(([key]) => key !== limit)));
}

function change(
  planner: Planner,
  of: LimitedKind,
  name: string,
  changed: (limits: LimitsObject['limits']) => LimitsObject['limits'],
): void {
  planner.footprint.writes(nameKey.limits(of, name));
  const { access } = planner.tables;
  const current = access.limitsOf(of, name);
  const limits = changed(current?.limits ?? {});
  const isSame = argumentsEqual({ ...limits }, { ...current?.limits });
  if (!isSame && Object.keys(limits).length > 0)
    planner.creates.push({ kind: 'limits', position: 0, of, name, limits });
  for (const one of access.limitsNamed(of, name)) if (!isSame || one !== current) planner.removal.other(one);
}

/** @throws RefusedError not-found */
function checkThere(planner: Planner, of: LimitedKind, name: string): void {
  if (of === 'vhost') return planner.checkVhost(name);
  planner.footprint.reads(nameKey.user(name));
  if (planner.tables.access.user(name) === undefined) throw notFound(`user '${name}'`);
}

function refused(text: string): RefusedError {
  return new RefusedError(Refusal.preconditionFailed, text);
}
