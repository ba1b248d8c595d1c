import { Refusal, RefusedError } from '../../base/errors.js';
import { nameKey } from '../wiring/footprint.js';
import { QueueType, type VhostObject } from '../wiring/objects.js';
import { goneMax } from '../wiring/plan-node.js';
import { NotYet, type Planner } from '../wiring/planner.js';
import { checkName } from './checks.js';
import type { DeleteVhost, SetVhost, VhostDescription, VhostGone } from './operations.js';

const descriptionLengthMax = 1024;
const tagsMax = 32;

/** Not before all is gone that an earlier one of that name has left: nobody is to find it in a new vhost. */
export function planSetVhost(planner: Planner, { vhost }: SetVhost): void {
  const { name, description, tags, defaultQueueType } = vhost;
  checkVhostDescription(vhost);
  planner.footprint.writes(nameKey.vhost(name));
  const current = planner.tables.vhostNamed(name);
  if (current === undefined) {
    for (const _ of planner.tables.contentsOf(name)) throw new NotYet(`what was in vhost '${name}' is being deleted`);
    planner.checkRoom('vhost');
  } else if (isAs(current, vhost)) {
    planner.position = current.position;
    return;
  }
  planner.creates.push({
    kind: 'vhost',
    position: 0,
    name,
    description,
    tags,
    ...(defaultQueueType === undefined ? {} : { defaultQueueType }),
  });
  for (const older of planner.tables.vhostsNamed(name)) planner.removal.other(older);
}

/** @throws RefusedError precondition-failed */
export function checkVhostDescription({ name, description, tags, defaultQueueType }: VhostDescription): void {
  checkName('vhost', name);
  const refuse = (why: string): never => {
    throw new RefusedError(Refusal.preconditionFailed, `vhost '${name}' cannot be set: ${why}`);
  };
  if (description.length > descriptionLengthMax || tags.length > tagsMax)
    refuse(`its description has ${descriptionLengthMax} characters at most, and there are ${tagsMax} tags`);
  if (defaultQueueType !== undefined && !Object.hasOwn(QueueType, defaultQueueType))
    refuse(
      `its default queue type is '${String(defaultQueueType).slice(0, 40)}': there are ${Object.keys(QueueType).join(', ')}`,
    );
}

function isAs(current: VhostObject, wanted: VhostDescription): boolean {
  return (
    current.description === wanted.description &&
    String(current.tags) === String(wanted.tags) &&
    current.defaultQueueType === wanted.defaultQueueType
  );
}

/** What is not there is no error: deleting may be repeated. */
export function planDeleteVhost(planner: Planner, { name }: DeleteVhost): void {
  planner.footprint.writes(nameKey.vhost(name));
  for (const vhost of planner.tables.vhostsNamed(name)) planner.removal.other(vhost);
}

export function planVhostGone(planner: Planner, { vhost }: VhostGone): void {
  const { tables, footprint, removal } = planner;
  footprint.writes(nameKey.vhost(vhost));
  if (tables.hasVhost(vhost)) return;
  for (const object of tables.contentsOf(vhost)) {
    if (removal.size >= goneMax) return;
    removal.any(object);
  }
}
