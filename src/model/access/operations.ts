/** Changes of users, vhosts, permissions and limits (see wiring/operations.ts for what all operations have in common). */
import type { VhostObject } from '../wiring/objects.js';
import type { LimitedKind, LimitName, PermissionObject, TopicPermissionObject, UserObject } from './objects.js';

export type VhostDescription = Omit<VhostObject, 'kind' | 'position'>;
export type UserDescription = Omit<UserObject, 'kind' | 'position'>;
export type PermissionDescription = Omit<PermissionObject, 'kind' | 'position'>;
export type TopicPermissionDescription = Omit<TopicPermissionObject, 'kind' | 'position'>;

/** The cluster gets its first users, who may do everything in `/`; nothing happens if it has had some. */
export interface Found {
  readonly op: 'found';
  readonly users: readonly UserDescription[];
}

/** Declares a vhost, or changes what is noted about it. */
export interface SetVhost {
  readonly op: 'setVhost';
  readonly vhost: VhostDescription;
}

/** The vhost is no more; what is in it goes by and by (VhostGone). */
export interface DeleteVhost {
  readonly op: 'deleteVhost';
  readonly name: string;
}

/** The vhost is not there: deletes what is in it, `goneMax` objects at most. */
export interface VhostGone {
  readonly op: 'vhostGone';
  readonly vhost: string;
}

/** Sets a user with everything about it, instead of the one of that name if there is one. */
export interface SetUser {
  readonly op: 'setUser';
  readonly user: UserDescription;
}

/** The user goes, with its permissions and limits. */
export interface DeleteUser {
  readonly op: 'deleteUser';
  readonly name: string;
}

export interface SetPermission {
  readonly op: 'setPermission';
  readonly permission: PermissionDescription;
}

export interface ClearPermission {
  readonly op: 'clearPermission';
  readonly user: string;
  readonly vhost: string;
}

export interface SetTopicPermission {
  readonly op: 'setTopicPermission';
  readonly permission: TopicPermissionDescription;
}

/** `exchange` undefined: of all exchanges of the vhost. */
export interface ClearTopicPermission {
  readonly op: 'clearTopicPermission';
  readonly user: string;
  readonly vhost: string;
  readonly exchange?: string;
}

/** `value` below 0: as much as it likes. */
export interface SetLimit {
  readonly op: 'setLimit';
  readonly of: LimitedKind;
  readonly name: string;
  readonly limit: LimitName;
  readonly value: number;
}

export interface ClearLimit {
  readonly op: 'clearLimit';
  readonly of: LimitedKind;
  readonly name: string;
  readonly limit: LimitName;
}

export type AccessOperation =
  | Found
  | SetVhost
  | DeleteVhost
  | VhostGone
  | SetUser
  | DeleteUser
  | SetPermission
  | ClearPermission
  | SetTopicPermission
  | ClearTopicPermission
  | SetLimit
  | ClearLimit;
