/**
 * Who there is, and who may do what: objects of the wiring like exchanges and queues, so that every node knows them and they come
 * through every failover. From protocol version 3 on.
 */
import type { Lsn } from '../../log/lsn.js';

/** How a password's hash was made. The last three are RabbitMQ's: base64 of four bytes of salt and the digest of salt and password. */
export const Hashing = {
  /** `ln=14,r=8,p=1$salt$key` (RFC 7914), salt and key in base64. */
  scrypt: 'understudy_password_hashing_scrypt',
  sha256: 'rabbit_password_hashing_sha256',
  sha512: 'rabbit_password_hashing_sha512',
  md5: 'rabbit_password_hashing_md5',
} as const;
export type Hashing = (typeof Hashing)[keyof typeof Hashing];

export interface UserObject {
  readonly kind: 'user';
  readonly position: Lsn;
  readonly name: string;
  /** `administrator` and others; what they allow is for those to say who ask for them. */
  readonly tags: readonly string[];
  readonly hashing: Hashing;
  /** '' = no password fits. */
  readonly hash: string;
  /** For SCRAM-SHA-256, as RFC 5803 has it: `iterations$salt$storedKey$serverKey`; '' = none, as of users with an imported hash. */
  readonly scram: string;
}

/** What a user may do in a vhost. Patterns as of policies; '' fits nothing. */
export interface PermissionObject {
  readonly kind: 'permission';
  readonly position: Lsn;
  readonly user: string;
  readonly vhost: string;
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

/** The routing keys that a user may publish with to a topic exchange, and bind with. Without any, all. */
export interface TopicPermissionObject {
  readonly kind: 'topicPermission';
  readonly position: Lsn;
  readonly user: string;
  readonly vhost: string;
  readonly exchange: string;
  /** May have `{username}` and `{vhost}` in them. */
  readonly write: string;
  readonly read: string;
}

export type GrantObject = PermissionObject | TopicPermissionObject;

/** What limits there are, as RabbitMQ names them. */
export const limitNames = {
  vhost: ['max-connections', 'max-queues'],
  user: ['max-connections', 'max-channels'],
} as const;
export type LimitedKind = keyof typeof limitNames;
export type LimitName = (typeof limitNames)[LimitedKind][number];

/** How much a vhost or a user may have. */
export interface LimitsObject {
  readonly kind: 'limits';
  readonly position: Lsn;
  readonly of: LimitedKind;
  readonly name: string;
  readonly limits: { readonly [name in LimitName]?: number };
}

/**
 * The cluster has its first users, and its vhost `/` by declaration. Before, `/` is there without one; after, nobody is who was not
 * declared, so that whoever deletes `guest` has deleted it for good.
 */
export interface FoundedObject {
  readonly kind: 'founded';
  readonly position: Lsn;
}

export type AccessObject = UserObject | GrantObject | LimitsObject | FoundedObject;

/** The object of a JSON body; undefined for a kind that is none of these. */
export function readAccessObject(json: Record<string, unknown>): AccessObject | undefined {
  const text = (key: string): string => String(json[key] ?? '');
  switch (json['kind']) {
    case 'user':
      return {
        kind: 'user',
        position: 0,
        name: text('name'),
        tags: ((json['tags'] ?? []) as unknown[]).map(String),
        hashing: text('hashing') as Hashing,
        hash: text('hash'),
        scram: text('scram'),
      };
    case 'permission':
      return {
        kind: 'permission',
        position: 0,
        user: text('user'),
        vhost: text('vhost'),
        configure: text('configure'),
        write: text('write'),
        read: text('read'),
      };
    case 'topicPermission':
      return {
        kind: 'topicPermission',
        position: 0,
        user: text('user'),
        vhost: text('vhost'),
        exchange: text('exchange'),
        write: text('write'),
        read: text('read'),
      };
    case 'limits':
      return {
        kind: 'limits',
        position: 0,
        of: json['of'] === 'user' ? 'user' : 'vhost',
        name: text('name'),
        limits: { ...(json['limits'] as LimitsObject['limits']) },
      };
    case 'founded':
      return { kind: 'founded', position: 0 };
    default:
      return undefined;
  }
}
