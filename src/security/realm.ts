/**
 * Who there is: users of the cluster, those of the program that the broker is part of, and, as long as the cluster has no users of
 * its own, the ones that it is going to begin with.
 */
import type { AccessTables } from '../model/access/access-tables.js';
import type { LimitedKind, LimitName, UserObject } from '../model/access/objects.js';

export const Tag = {
  administrator: 'administrator',
  monitoring: 'monitoring',
  policymaker: 'policymaker',
  management: 'management',
  /** May say in `user-id` that others have published. */
  impersonator: 'impersonator',
} as const;

/** What a password is compared with. */
export type Proof = { readonly password: string } | Pick<UserObject, 'hashing' | 'hash' | 'scram'>;

export interface Person {
  readonly name: string;
  readonly tags: readonly string[];
  readonly proof: Proof;
  /** No permissions are looked at. */
  readonly mayAll: boolean;
}

export interface RealmOptions {
  access: AccessTables;
  /** Passwords by name of those that the program names: on this node they are always there, and may do everything. */
  own: ReadonlyMap<string, string>;
  /** Of those with whom the cluster begins. */
  first: ReadonlyMap<string, string>;
  /**
   * It is known whether the cluster has users. Until then those who would be the first ones may look only: it may have done away
   * with them.
   */
  isSettled: () => boolean;
  /** What is known of them before that; undefined: nothing. */
  earlier?: () => AccessTables | undefined;
}

export class Realm {
  readonly access: AccessTables;
  private readonly options: RealmOptions;

  constructor(options: RealmOptions) {
    this.options = options;
    this.access = options.access;
  }

  /** Changes with everything that may change what somebody may do. */
  get version(): number {
    return this.access.version;
  }

  find(name: string): Person | undefined {
    const { own, first, isSettled, earlier } = this.options;
    const ownPassword = own.get(name);
    if (ownPassword !== undefined) return all(name, [Tag.administrator], ownPassword);
    const tables = this.access.isFounded || isSettled() ? this.access : (earlier?.() ?? this.access);
    if (tables.isFounded) {
      const user = tables.user(name);
      return user === undefined ? undefined : { name, tags: user.tags, proof: user, mayAll: false };
    }
    const password = first.get(name);
    if (password === undefined) return undefined;
    return all(name, [isSettled() ? Tag.administrator : Tag.monitoring], password);
  }

  /** The user has some permission in the vhost. */
  mayEnter(user: string, vhost: string): boolean {
    return this.find(user)?.mayAll === true || this.access.permission(user, vhost) !== undefined;
  }

  hasTag(user: string, tag: string): boolean {
    return this.find(user)?.tags.includes(tag) === true;
  }

  /** Undefined: as much as it likes. */
  limit(of: LimitedKind, name: string, limit: LimitName): number | undefined {
    return this.access.limit(of, name, limit);
  }
}

function all(name: string, tags: readonly string[], password: string): Person {
  return { name, tags, proof: { password }, mayAll: true };
}
