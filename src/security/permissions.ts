/**
 * What one user may do in one vhost. Asked by a connection for everything that it does, so it remembers what is allowed, until
 * permissions change.
 */
import { Refusal, RefusedError } from '../base/errors.js';
import { PatternError } from '../model/policy/pattern-parser.js';
import { Pattern } from '../model/policy/pattern.js';
import { type Realm, Tag } from './realm.js';

export type Permission = 'configure' | 'write' | 'read';
export type ResourceKind = 'queue' | 'exchange';

/** Names that are remembered as allowed. */
const allowedMax = 1000;
/** By text; all connections share them. */
const patterns = new Map<string, Pattern | undefined>();
const patternsMax = 10_000;

export class Permissions {
  private readonly realm: Realm;
  private readonly user: string;
  private readonly vhost: string;
  private version = -1;
  /** As of that version. Undefined: nothing was asked yet, as of idle connections. */
  private allowed: Set<string> | undefined = undefined;
  /** Exchanges that may be written to, and whether the routing key matters there. */
  private writable: Map<string, boolean> | undefined = undefined;

  constructor(realm: Realm, user: string, vhost: string) {
    this.realm = realm;
    this.user = user;
    this.vhost = vhost;
  }

  /**
   * Of an exchange to publish to. Returns whether the routing key matters, if it is a topic exchange: see `requireTopic`.
   * @throws RefusedError access-refused
   */
  requireWrite(exchange: string): boolean {
    if (this.version === this.realm.version) {
      const known = this.writable?.get(exchange);
      if (known !== undefined) return known;
    }
    this.require('write', 'exchange', exchange);
    const hasTopics = this.realm.access.topicPermission(this.user, this.vhost, exchange) !== undefined;
    this.writable ??= new Map();
    if (this.writable.size >= allowedMax) this.writable.clear();
    this.writable.set(exchange, hasTopics);
    return hasTopics;
  }

  /** @throws RefusedError access-refused */
  require(permission: Permission, kind: ResourceKind, name: string): void {
    this.refresh();
    // The default exchange has no name.
    const shown = kind === 'exchange' && name === '' ? 'amq.default' : name;
    const key = `${permission}\0${kind}\0${shown}`;
    if (this.allowed?.has(key) === true) return;
    if (!this.isAllowed(permission, shown))
      throw this.refused(`${permission} access to ${kind} '${shown}' in vhost '${this.vhost}'`);
    this.allowed ??= new Set();
    if (this.allowed.size >= allowedMax) this.allowed.clear();
    this.allowed.add(key);
  }

  /** @throws RefusedError access-refused */
  requireTopic(permission: 'write' | 'read', exchange: string, routingKey: string): void {
    const topics = this.realm.access.topicPermission(this.user, this.vhost, exchange);
    if (topics === undefined || this.mayAll) return;
    const pattern = topics[permission]
      .replaceAll('{username}', () => quoted(this.user))
      .replaceAll('{vhost}', () => quoted(this.vhost));
    if (fits(pattern, routingKey)) return;
    throw this.refused(
      `${permission} access to topic '${routingKey}' in exchange '${exchange}' in vhost '${this.vhost}'`,
    );
  }

  /** Whether the user may publish in others' names. */
  get mayImpersonate(): boolean {
    return this.realm.hasTag(this.user, Tag.impersonator);
  }

  private get mayAll(): boolean {
    return this.realm.find(this.user)?.mayAll === true;
  }

  private isAllowed(permission: Permission, name: string): boolean {
    if (this.mayAll) return true;
    const permissions = this.realm.access.permission(this.user, this.vhost);
    return permissions !== undefined && fits(permissions[permission], name);
  }

  private refresh(): void {
    if (this.version === this.realm.version) return;
    this.version = this.realm.version;
    this.allowed = undefined;
    this.writable = undefined;
  }

  private refused(what: string): RefusedError {
    return new RefusedError(Refusal.accessRefused, `${what} refused for user '${this.user}'`);
  }
}

/** Found anywhere in the name. The empty pattern fits the empty name only, as in RabbitMQ. */
function fits(text: string, name: string): boolean {
  if (text === '') return name === '';
  if (text === '.*') return true;
  let pattern = patterns.get(text);
  if (pattern === undefined && !patterns.has(text)) {
    pattern = compile(text);
    if (patterns.size >= patternsMax) patterns.clear();
    patterns.set(text, pattern);
  }
  return pattern?.matches(name) === true;
}

/** What a newer node may know and we do not fits nothing. */
function compile(text: string): Pattern | undefined {
  try {
    return new Pattern(text);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

function quoted(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
