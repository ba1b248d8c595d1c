import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { nameKey } from '../wiring/footprint.js';
import { checkNameLength, type Planner } from '../wiring/planner.js';
import { defaultVhost } from '../wiring/vhost-names.js';
import { checkName, olderNodes } from './checks.js';
import { Hashing, type UserObject } from './objects.js';
import type { DeleteUser, Found, SetUser, UserDescription } from './operations.js';

const tagsMax = 32;
const hashLengthMax = 1024;

/** Whatever of it there is already stays; the mark that all of it is there comes last. */
export function planFound(planner: Planner, { users }: Found): void {
  const { context, tables, footprint, creates } = planner;
  if (context.version() < Feature.access) throw olderNodes(context.version());
  footprint.writes(nameKey.founded);
  const { access } = tables;
  if (access.isFounded) return;
  footprint.writes(nameKey.vhost(defaultVhost));
  if (tables.vhostNamed(defaultVhost) === undefined)
    creates.push({ kind: 'vhost', position: 0, name: defaultVhost, description: 'Default virtual host', tags: [] });
  for (const user of users) {
    const { name } = user;
    footprint.writes(nameKey.user(name));
    footprint.writes(nameKey.grant(name, defaultVhost));
    if (access.user(name) === undefined) creates.push({ kind: 'user', position: 0, ...user });
    if (access.permission(name, defaultVhost) === undefined) {
      const all = { configure: '.*', write: '.*', read: '.*' };
      creates.push({ kind: 'permission', position: 0, user: name, vhost: defaultVhost, ...all });
    }
  }
  creates.push({ kind: 'founded', position: 0 });
}

export function planSetUser(planner: Planner, { user }: SetUser): void {
  checkUser(user);
  planner.footprint.writes(nameKey.user(user.name));
  const { access } = planner.tables;
  const current = access.user(user.name);
  const older = access.usersNamed(user.name);
  const isSame = current !== undefined && isAs(current, user);
  if (isSame) planner.position = current.position;
  else {
    if (current === undefined) planner.checkRoom('user');
    const { name, tags, hashing, hash, scram } = user;
    planner.creates.push({ kind: 'user', position: 0, name, tags, hashing, hash, scram });
  }
  for (const one of older) if (!isSame || one !== current) planner.removal.other(one);
}

/** Whoever is not there is no error: deleting may be repeated. */
export function planDeleteUser(planner: Planner, { name }: DeleteUser): void {
  planner.footprint.writes(nameKey.user(name));
  for (const object of planner.tables.access.ofUser(name)) planner.removal.other(object);
}

/** @throws RefusedError precondition-failed */
export function checkUser({ name, tags, hashing, hash, scram }: UserDescription): void {
  const refuse = (why: string): never => {
    throw new RefusedError(Refusal.preconditionFailed, `user '${name.slice(0, 40)}' cannot be set: ${why}`);
  };
  checkName('user', name);
  if (tags.length > tagsMax) refuse(`it has ${tags.length} tags, ${tagsMax} are allowed`);
  for (const tag of tags) {
    if (tag === '' || /[\s,]/.test(tag)) refuse(`a tag has no spaces or commas: '${tag.slice(0, 40)}'`);
    checkNameLength('tag', tag);
  }
  const known: readonly string[] = Object.values(Hashing);
  if (!known.includes(hashing)) refuse(`'${String(hashing).slice(0, 40)}' is none of ${known.join(', ')}`);
  if (hash.length > hashLengthMax || scram.length > hashLengthMax)
    refuse(`a hash has ${hashLengthMax} characters at most`);
}

function isAs(current: UserObject, wanted: UserDescription): boolean {
  const { tags, hashing, hash, scram } = current;
  return (
    hashing === wanted.hashing &&
    hash === wanted.hash &&
    scram === wanted.scram &&
    tags.length === wanted.tags.length &&
    tags.every((tag, index) => tag === wanted.tags[index])
  );
}
