/** Users, vhosts, permissions and limits of the cluster, as operators of this node see and change them. */
import { Feature } from '../../base/versions.js';
import type { AccessTables } from '../../model/access/access-tables.js';
import { olderNodes } from '../../model/access/checks.js';
import type {
  LimitedKind,
  LimitName,
  LimitsObject,
  PermissionObject,
  TopicPermissionObject,
  UserObject,
} from '../../model/access/objects.js';
import type {
  AccessOperation,
  PermissionDescription,
  TopicPermissionDescription,
  UserDescription,
  VhostDescription,
} from '../../model/access/operations.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiringClient } from './wiring-client.js';

/**
 * Changes resolve when they are in effect on every ready node. They reject with RefusedError: not-found without the user or vhost;
 * precondition-failed if they make no sense, or not all nodes would understand. Deleting what is not there succeeds.
 */
export class ClusterAccess {
  private readonly tables: WiringTables;
  private readonly access: AccessTables;
  private readonly client: WiringClient;
  private readonly version: () => number;

  constructor(tables: WiringTables, client: WiringClient, version: () => number) {
    this.tables = tables;
    this.access = tables.access;
    this.client = client;
    this.version = version;
  }

  /** By name. */
  vhosts(): VhostDescription[] {
    const names = [...this.tables.vhostNames()].sort();
    return names.map((name) => this.vhost(name)!);
  }

  vhost(name: string): VhostDescription | undefined {
    if (!this.tables.hasVhost(name)) return undefined;
    return this.tables.vhostNamed(name) ?? { name, description: '', tags: [] };
  }

  /** Resolves to true if there was none of that name. */
  async setVhost(vhost: VhostDescription): Promise<boolean> {
    const isNew = !this.tables.hasVhost(vhost.name);
    await this.run({ op: 'setVhost', vhost });
    return isNew;
  }

  /** Resolves when it is no more; what is in it goes by and by. */
  async deleteVhost(name: string): Promise<void> {
    await this.run({ op: 'deleteVhost', name });
  }

  users(): UserObject[] {
    return [...this.access.allUsers()].sort((a, b) => compare(a.name, b.name));
  }

  user(name: string): UserObject | undefined {
    return this.access.user(name);
  }

  async setUser(user: UserDescription): Promise<boolean> {
    const isNew = this.user(user.name) === undefined;
    await this.run({ op: 'setUser', user });
    return isNew;
  }

  async deleteUser(name: string): Promise<void> {
    await this.run({ op: 'deleteUser', name });
  }

  permissions(): PermissionObject[] {
    return this.grants('permission');
  }

  permission(user: string, vhost: string): PermissionObject | undefined {
    return this.access.permission(user, vhost);
  }

  async setPermission(permission: PermissionDescription): Promise<boolean> {
    const isNew = this.permission(permission.user, permission.vhost) === undefined;
    await this.run({ op: 'setPermission', permission });
    return isNew;
  }

  async clearPermission(user: string, vhost: string): Promise<void> {
    await this.run({ op: 'clearPermission', user, vhost });
  }

  topicPermissions(): TopicPermissionObject[] {
    return this.grants('topicPermission');
  }

  async setTopicPermission(permission: TopicPermissionDescription): Promise<boolean> {
    const { user, vhost, exchange } = permission;
    const isNew = this.access.topicPermission(user, vhost, exchange) === undefined;
    await this.run({ op: 'setTopicPermission', permission });
    return isNew;
  }

  /** Without an exchange: of all of the vhost. */
  async clearTopicPermission(user: string, vhost: string, exchange?: string): Promise<void> {
    await this.run({ op: 'clearTopicPermission', user, vhost, ...(exchange === undefined ? {} : { exchange }) });
  }

  limits(of: LimitedKind): LimitsObject[] {
    return [...this.access.allLimits(of)].sort((a, b) => compare(a.name, b.name));
  }

  async setLimit(of: LimitedKind, name: string, limit: LimitName, value: number): Promise<void> {
    await this.run({ op: 'setLimit', of, name, limit, value });
  }

  async clearLimit(of: LimitedKind, name: string, limit: LimitName): Promise<void> {
    await this.run({ op: 'clearLimit', of, name, limit });
  }

  private grants<K extends 'permission' | 'topicPermission'>(
    kind: K,
  ): (K extends 'permission' ? PermissionObject : TopicPermissionObject)[] {
    const all = [...this.access.grants.all()].filter((grant) => grant.kind === kind);
    all.sort((a, b) => compare(a.vhost, b.vhost) || compare(a.user, b.user));
    return all as ReturnType<typeof this.grants<K>>;
  }

  /** An older primary would not know the operation, and answer all the same. */
  private async run(operation: AccessOperation): Promise<void> {
    const version = this.version();
    if (version < Feature.access) throw olderNodes(version);
    await this.client.run(operation);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
