/** Users, permissions and limits, as far as this node knows the wiring. */
import { addNamed, type Newest, removeNamed } from '../exchange/newest.js';
import { Grants } from './grants.js';
import type {
  AccessObject,
  FoundedObject,
  LimitedKind,
  LimitName,
  LimitsObject,
  PermissionObject,
  TopicPermissionObject,
  UserObject,
} from './objects.js';

/** Names that nothing has any more. */
export interface Departed {
  readonly users: ReadonlySet<string>;
  readonly vhosts: ReadonlySet<string>;
}

export class AccessTables {
  /** Changes with every change of a user, permission or limit. */
  version = 0;
  readonly grants: Grants = new Grants();
  private readonly users = new Map<string, Newest<UserObject>>();
  private readonly limited = {
    vhost: new Map<string, Newest<LimitsObject>>(),
    user: new Map<string, Newest<LimitsObject>>(),
  };
  private readonly founded = new Set<FoundedObject>();
  private readonly listeners = new Set<(departed: Departed) => void>();
  private goneUsers = new Set<string>();
  private goneVhosts = new Set<string>();

  /** The cluster has users of its own (see FoundedObject). */
  get isFounded(): boolean {
    return this.founded.size > 0;
  }

  add(object: AccessObject): void {
    this.version++;
    switch (object.kind) {
      case 'user':
        addNamed(this.users, object);
        break;
      case 'limits':
        addNamed(this.limited[object.of], object);
        break;
      case 'founded':
        this.founded.add(object);
        break;
      default:
        this.grants.add(object);
    }
  }

  remove(object: AccessObject): void {
    this.version++;
    switch (object.kind) {
      case 'user':
        removeNamed(this.users, object);
        if (!this.users.has(object.name)) this.goneUsers.add(object.name);
        break;
      case 'limits':
        removeNamed(this.limited[object.of], object);
        break;
      case 'founded':
        this.founded.delete(object);
        break;
      default:
        this.grants.remove(object);
    }
  }

  user(name: string): UserObject | undefined {
    return this.users.get(name)?.current;
  }

  /** Those in effect, in no particular order. */
  *allUsers(): Generator<UserObject, void> {
    for (const { current } of this.users.values()) yield current!;
  }

  permission(user: string, vhost: string): PermissionObject | undefined {
    return this.grants.permission(user, vhost);
  }

  topicPermission(user: string, vhost: string, exchange: string): TopicPermissionObject | undefined {
    return this.grants.topicPermission(user, vhost, exchange);
  }

  /** Undefined: as much as it likes. */
  limit(of: LimitedKind, name: string, limit: LimitName): number | undefined {
    const value = this.limited[of].get(name)?.current?.limits[limit];
    return value === undefined || value < 0 ? undefined : value;
  }

  limitsOf(of: LimitedKind, name: string): LimitsObject | undefined {
    return this.limited[of].get(name)?.current;
  }

  *allLimits(of: LimitedKind): Generator<LimitsObject, void> {
    for (const { current } of this.limited[of].values()) yield current!;
  }

  /** All that have the name: one, or after an interrupted change more. */
  usersNamed(name: string): readonly UserObject[] {
    return this.users.get(name)?.all() ?? [];
  }

  limitsNamed(of: LimitedKind, name: string): readonly LimitsObject[] {
    return this.limited[of].get(name)?.all() ?? [];
  }

  /** Vhosts of which something is said here, whether they exist or not. */
  *vhosts(): Generator<string, void> {
    yield* this.grants.vhosts();
    yield* this.limited.vhost.keys();
  }

  /** What is said of a vhost. */
  *ofVhost(vhost: string): Generator<AccessObject, void> {
    yield* this.grants.ofVhost(vhost);
    yield* this.limitsNamed('vhost', vhost);
  }

  /** What is said of a user, itself included. */
  *ofUser(user: string): Generator<AccessObject, void> {
    yield* this.usersNamed(user);
    yield* this.grants.ofUser(user);
    yield* this.limitsNamed('user', user);
  }

  /** Told, when what a batch of changes did is complete, of names that went with it. */
  onDeparture(listener: (departed: Departed) => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => this.listeners.delete(listener) };
  }

  vhostGone(name: string): void {
    this.goneVhosts.add(name);
  }

  /** A batch of changes is complete. @param hasVhost as of now */
  settled(hasVhost: (name: string) => boolean): void {
    if (this.goneUsers.size === 0 && this.goneVhosts.size === 0) return;
    const users = new Set([...this.goneUsers].filter((name) => !this.users.has(name)));
    const vhosts = new Set([...this.goneVhosts].filter((name) => !hasVhost(name)));
    this.goneUsers = new Set();
    this.goneVhosts = new Set();
    if (users.size > 0 || vhosts.size > 0) for (const listener of this.listeners) listener({ users, vhosts });
  }
}
