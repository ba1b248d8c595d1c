/** Users, vhosts, permissions and limits of definitions, one at a time. All throw HttpError or RefusedError. */
import { checkPattern } from '../../model/access/checks.js';
import { Hashing, limitNames, type LimitedKind, type LimitsObject } from '../../model/access/objects.js';
import type {
  PermissionDescription,
  TopicPermissionDescription,
  VhostDescription,
} from '../../model/access/operations.js';
import { checkUser } from '../../model/access/plan-users.js';
import { checkVhostDescription } from '../../model/access/plan-vhosts.js';
import type { QueueType } from '../../model/wiring/objects.js';
import { hashProblem } from '../../security/password-hash.js';
import { parseScramKeys } from '../../security/scram-keys.js';
import { badRequest, optionalText, requiredName, requiredText, tagList } from '../read.js';
import type { ImportedUser } from './plan.js';

type Fields = Record<string, unknown>;

/** Before, RabbitMQ's hashes were MD5 and did not say so. */
const sha256Since = [3, 6];

/** @param rabbitVersion of whoever has written the hash, for one that does not say how it was made. */
export function userOf(fields: Fields, rabbitVersion: string): ImportedUser {
  const name = requiredName(fields, 'name');
  const tags = tagList(fields['tags']);
  const limits = limitsOf('user', fields['limits']);
  const password = optionalText(fields, 'password') ?? '';
  const hash = optionalText(fields, 'password_hash') ?? '';
  if (password !== '' && hash !== '') throw badRequest('"password" and "password_hash" exclude each other');
  const hashing = (optionalText(fields, 'hashing_algorithm') ?? unsaidHashing(rabbitVersion)) as Hashing;
  const scram = optionalText(fields, 'scram_sha_256') ?? '';
  const problem = hash === '' ? '' : hashProblem(hashing, hash);
  if (problem !== '') throw badRequest(`"password_hash" cannot be used: ${problem}`);
  if (scram !== '' && parseScramKeys(scram) === undefined) throw badRequest('"scram_sha_256" cannot be used');
  checkUser({ name, tags, hashing, hash, scram });
  return password === '' ? { name, tags, hashing, hash, scram, limits } : { name, tags, password, limits };
}

function unsaidHashing(rabbitVersion: string): Hashing {
  const [major = 0, minor = 0] = rabbitVersion.split('.').map(Number);
  const isOld = rabbitVersion !== '' && (major < sha256Since[0]! || (major === 3 && minor < sha256Since[1]!));
  return isOld ? Hashing.md5 : Hashing.sha256;
}

/** @param current what is noted about it so far: it stays, unless something else is said. */
export function vhostOf(fields: Fields, current: (name: string) => VhostDescription | undefined): VhostDescription {
  const metadata = (fields['metadata'] ?? {}) as Fields;
  const said: Fields = { ...metadata, ...fields };
  const type = optionalText(said, 'default_queue_type') ?? 'undefined';
  const name = requiredName(fields, 'name');
  const known = current(name);
  const vhost: VhostDescription = {
    name,
    description: optionalText(said, 'description') ?? known?.description ?? '',
    tags: said['tags'] === undefined ? (known?.tags ?? []) : tagList(said['tags']),
    ...(type === 'undefined' || type === '' ? {} : { defaultQueueType: type as QueueType }),
  };
  checkVhostDescription(vhost);
  return vhost;
}

export function permissionOf(fields: Fields, vhost: string): PermissionDescription {
  const [configure, write, read] = ['configure', 'write', 'read'].map((key) => patternOf(fields, key));
  return { user: requiredName(fields, 'user'), vhost, configure: configure!, write: write!, read: read! };
}

export function topicPermissionOf(fields: Fields, vhost: string): TopicPermissionDescription {
  const [write, read] = ['write', 'read'].map((key) => patternOf(fields, key));
  const exchange = requiredText(fields, 'exchange');
  return { user: requiredName(fields, 'user'), vhost, exchange, write: write!, read: read! };
}

function patternOf(fields: Fields, key: string): string {
  const text = requiredText(fields, key);
  checkPattern(key, text);
  return text;
}

/** An object, or nothing; an empty list is one too. */
export function limitsOf(of: LimitedKind, written: unknown): LimitsObject['limits'] {
  const known: readonly string[] = limitNames[of];
  if (typeof written !== 'object') {
    if (written === undefined) return {};
    throw badRequest('"limits" must be an object');
  }
  const limits = (written ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(limits)) {
    if (!known.includes(name)) throw badRequest(`'${name}' is no limit of a ${of}: there are ${known.join(', ')}`);
    if (!Number.isSafeInteger(value)) throw badRequest(`${name} is a whole number, or -1 for no limit`);
  }
  return limits as LimitsObject['limits'];
}
