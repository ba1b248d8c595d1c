import { nameKey } from '../wiring/footprint.js';
import { notFound, type Planner } from '../wiring/planner.js';
import { checkPattern } from './checks.js';
import type { GrantObject } from './objects.js';
import type { ClearPermission, ClearTopicPermission, SetPermission, SetTopicPermission } from './operations.js';

export function planSetPermission(planner: Planner, { permission }: SetPermission): void {
  const { user, vhost, configure, write, read } = permission;
  checkUserAndVhost(planner, user, vhost);
  for (const what of ['configure', 'write', 'read'] as const) checkPattern(what, permission[what]);
  planner.footprint.writes(nameKey.grant(user, vhost));
  const current = planner.tables.access.permission(user, vhost);
  if (current === undefined) planner.checkRoom('permission');
  const isSame = current?.configure === configure && current.write === write && current.read === read;
  set(planner, { kind: 'permission', position: 0, user, vhost, configure, write, read }, isSame ? current : undefined);
}

export function planClearPermission(planner: Planner, { user, vhost }: ClearPermission): void {
  planner.footprint.writes(nameKey.grant(user, vhost));
  const current = planner.tables.access.permission(user, vhost);
  if (current !== undefined) removeAlike(planner, current);
}

export function planSetTopicPermission(planner: Planner, { permission }: SetTopicPermission): void {
  const { user, vhost, exchange, write, read } = permission;
  checkUserAndVhost(planner, user, vhost);
  for (const what of ['write', 'read'] as const) checkPattern(what, permission[what]);
  planner.footprint.writes(nameKey.grant(user, vhost, exchange));
  const current = planner.tables.access.topicPermission(user, vhost, exchange);
  if (current === undefined) planner.checkRoom('topicPermission');
  const isSame = current?.write === write && current.read === read;
  const wanted = { kind: 'topicPermission', position: 0, user, vhost, exchange, write, read } as const;
  set(planner, wanted, isSame ? current : undefined);
}

export function planClearTopicPermission(planner: Planner, { user, vhost, exchange }: ClearTopicPermission): void {
  // All of a user's permissions are named by the user, so that none comes in between.
  planner.footprint.writes(nameKey.user(user));
  for (const grant of planner.tables.access.grants.ofUser(user)) {
    if (grant.kind !== 'topicPermission' || grant.vhost !== vhost) continue;
    if (exchange === undefined || grant.exchange === exchange) planner.removal.other(grant);
  }
}

/** Both stay for as long as this is under way. @throws RefusedError not-found */
function checkUserAndVhost(planner: Planner, user: string, vhost: string): void {
  planner.checkVhost(vhost);
  planner.footprint.reads(nameKey.user(user));
  if (planner.tables.access.user(user) === undefined) throw notFound(`user '${user}'`);
}

/** @param same what is there already and as it is wanted */
function set(planner: Planner, wanted: GrantObject, same: GrantObject | undefined): void {
  if (same === undefined) planner.creates.push(wanted);
  else planner.position = same.position;
  removeAlike(planner, wanted, same);
}

function removeAlike(planner: Planner, grant: GrantObject, but?: GrantObject): void {
  for (const one of planner.tables.access.grants.like(grant)) if (one !== but) planner.removal.other(one);
}
