import { Newest } from '../exchange/newest.js';
import type { GrantObject, PermissionObject, TopicPermissionObject } from './objects.js';

/** Permissions, of topics too, by user and by vhost. */
export class Grants {
  private readonly byKey = new Map<string, Newest<GrantObject>>();
  private readonly byUser = new Map<string, Set<GrantObject>>();
  private readonly byVhost = new Map<string, Set<GrantObject>>();

  add(grant: GrantObject): void {
    const key = keyOf(grant);
    let named = this.byKey.get(key);
    if (named === undefined) {
      named = new Newest();
      this.byKey.set(key, named);
    }
    named.add(grant);
    put(this.byUser, grant.user, grant);
    put(this.byVhost, grant.vhost, grant);
  }

  remove(grant: GrantObject): void {
    const key = keyOf(grant);
    const named = this.byKey.get(key);
    named?.remove(grant);
    if (named?.current === undefined) this.byKey.delete(key);
    take(this.byUser, grant.user, grant);
    take(this.byVhost, grant.vhost, grant);
  }

  permission(user: string, vhost: string): PermissionObject | undefined {
    return this.byKey.get(permissionKey(user, vhost))?.current as PermissionObject | undefined;
  }

  topicPermission(user: string, vhost: string, exchange: string): TopicPermissionObject | undefined {
    return this.byKey.get(topicKey(user, vhost, exchange))?.current as TopicPermissionObject | undefined;
  }

  /** Those that stand in the way of another for the same: one, or more after an interrupted change. */
  like(grant: GrantObject): readonly GrantObject[] {
    return this.byKey.get(keyOf(grant))?.all() ?? [];
  }

  /** All of it, whether in effect or not. */
  ofUser(user: string): Iterable<GrantObject> {
    return this.byUser.get(user) ?? [];
  }

  ofVhost(vhost: string): Iterable<GrantObject> {
    return this.byVhost.get(vhost) ?? [];
  }

  /** Vhosts that somebody has a permission for, whether they exist or not. */
  vhosts(): Iterable<string> {
    return this.byVhost.keys();
  }

  /** Those in effect. */
  *all(): Generator<GrantObject, void> {
    for (const { current } of this.byKey.values()) yield current!;
  }
}

// No name has a NUL in it.
function permissionKey(user: string, vhost: string): string {
  return `${user}\0${vhost}`;
}

function topicKey(user: string, vhost: string, exchange: string): string {
  return `${user}\0${vhost}\0${exchange}`;
}

function keyOf(grant: GrantObject): string {
  const { user, vhost } = grant;
  return grant.kind === 'permission' ? permissionKey(user, vhost) : topicKey(user, vhost, grant.exchange);
}

function put(index: Map<string, Set<GrantObject>>, name: string, grant: GrantObject): void {
  const grants = index.get(name);
  if (grants === undefined) index.set(name, new Set([grant]));
  else grants.add(grant);
}

function take(index: Map<string, Set<GrantObject>>, name: string, grant: GrantObject): void {
  const grants = index.get(name);
  grants?.delete(grant);
  if (grants?.size === 0) index.delete(name);
}
