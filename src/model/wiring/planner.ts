import { Refusal, RefusedError } from '../../base/errors.js';
import type { Lsn } from '../../log/lsn.js';
import type { ConnectionId } from '../broker.js';
import { Footprint, nameKey } from './footprint.js';
import {
  type BindingObject,
  type ExchangeObject,
  encodeObject,
  type QueueObject,
  type WiringObject,
} from './objects.js';
import { ownerOf } from './operations.js';
import { Removal } from './removal.js';
import type { WiringTables } from './tables.js';

/** How many objects the wiring may have. Every node holds all of them in memory. */
export interface WiringLimits {
  readonly exchange: number;
  readonly queue: number;
  readonly binding: number;
  readonly policy: number;
  readonly operatorPolicy: number;
  readonly globalParameter: number;
  readonly vhost: number;
  readonly user: number;
  readonly permission: number;
  readonly topicPermission: number;
}

export const defaultLimits: WiringLimits = {
  exchange: 1_000_000,
  queue: 1_000_000,
  binding: 5_000_000,
  policy: 1000,
  operatorPolicy: 1000,
  globalParameter: 1000,
  vhost: 10_000,
  user: 100_000,
  permission: 200_000,
  topicPermission: 200_000,
};

/** What declarations are judged by, besides the wiring. */
export interface DeclarationContext {
  /** Replicas that a queue may have, at most. */
  replicasMax(): number;
  /** The protocol version in use. */
  version(): number;
  /** Whether this broker is no cluster's: there is nowhere else that anything could be. */
  readonly isAlone: boolean;
}

/** What planning looks at. */
export interface PlanContext extends DeclarationContext {
  readonly tables: WiringTables;
  readonly limits: WiringLimits;
  /**
   * The group for a new queue (its own `group` is 0), asked for at `node` ('' = by nobody's node). Undefined: one is being made, ask
   * again. Throws RefusedError if there can be none.
   */
  chooseGroup(queue: QueueObject, node: string): number | undefined;
  /** Is this boot of the node over? */
  isOver(node: string, boot: number): boolean;
  /** It is over, and what goes with it is being deleted: nothing can be declared for its connections any more. */
  isGone(node: string, boot: number): boolean;
}

/** The operation must wait for something outside of the wiring: it is to be said again. */
export class NotYet extends Error {}

/** AMQP short strings: names and keys. */
const nameBytesMax = 255;
const encoder = new TextEncoder();

/**
 * One operation being planned: what it looks at goes into the footprint, what it is to change into `creates` and `removal`.
 * Planning changes nothing.
 */
export class Planner {
  readonly context: PlanContext;
  readonly tables: WiringTables;
  readonly footprint: Footprint = new Footprint();
  readonly creates: WiringObject[] = [];
  readonly removal: Removal;
  /** Of the object that the answer is about. */
  position: Lsn = 0;
  group = 0;

  constructor(context: PlanContext) {
    this.context = context;
    this.tables = context.tables;
    this.removal = new Removal(context.tables, this.footprint);
  }

  /** It is there, and stays so for as long as this is under way. @throws RefusedError not-found */
  checkVhost(vhost: string): void {
    this.footprint.reads(nameKey.vhost(vhost));
    checkVhost(this.tables, vhost);
  }

  queue(vhost: string, name: string): QueueObject | undefined {
    this.footprint.reads(nameKey.queue(vhost, name));
    return this.tables.queue(vhost, name);
  }

  exchange(vhost: string, name: string): ExchangeObject | undefined {
    this.footprint.reads(nameKey.exchange(vhost, name));
    return this.staying(this.tables.exchange(vhost, name));
  }

  /**
   * What is to be found there, and to stay. Of a boot that is over things are on their way out: a client that has come over from
   * that node, and declares anew what it needs, is not to be told that it is there already.
   * @throws NotYet until it is gone.
   */
  staying<T extends ExchangeObject | BindingObject>(object: T | undefined): T | undefined {
    const owner = object?.goesWith;
    if (owner !== undefined && this.context.isOver(owner.node, owner.boot))
      throw new NotYet(`what goes with boot ${owner.boot} of ${owner.node} is being deleted`);
    return object;
  }

  /** The answer is about this queue. */
  about(queue: QueueObject): void {
    this.position = queue.position;
    this.group = queue.group;
  }

  /**
   * @throws RefusedError if there is no room for it: too many objects, or too large an object.
   */
  create(object: ExchangeObject | QueueObject | BindingObject): void {
    this.checkRoom(object.kind);
    if (Object.keys(object.arguments).length > 0) encodeObject(object);
    this.creates.push(object);
  }

  /** @throws RefusedError if there are too many of the kind. */
  checkRoom(kind: keyof WiringLimits): void {
    const max = this.context.limits[kind];
    if (this.tables.count(kind) < max) return;
    throw new RefusedError(
      Refusal.preconditionFailed,
      `cannot create another ${kind}: the limit of ${max} is reached; delete some first`,
    );
  }
}

export function describeQueue(vhost: string, name: string): string {
  return `queue '${name}' in vhost '${vhost}'`;
}

export function describeExchange(vhost: string, name: string): string {
  return `exchange '${name}' in vhost '${vhost}'`;
}

export function notFound(what: string): RefusedError {
  return new RefusedError(Refusal.notFound, `no ${what}`);
}

/** @throws RefusedError not-allowed if the connection's node is gone, and what goes with it. */
export function checkNodeLives(planner: Planner, connection: ConnectionId, what: string): void {
  const owner = ownerOf(connection);
  if (owner === undefined) return;
  planner.footprint.reads(nameKey.node(owner.node));
  if (planner.context.isGone(owner.node, owner.boot)) {
    throw new RefusedError(
      Refusal.notAllowed,
      `${what} cannot be declared: the node of its connection ${connection} is gone`,
    );
  }
}

/** @throws RefusedError precondition-failed */
export function checkNameLength(kind: string, name: string): void {
  if (name.length * 3 > nameBytesMax && encoder.encode(name).length > nameBytesMax) {
    throw new RefusedError(
      Refusal.preconditionFailed,
      `the ${kind} '${name.slice(0, 40)}...' is longer than ${nameBytesMax} bytes`,
    );
  }
}

/** Names that begin with "amq." are the broker's (AMQP 0-9-1 §3.1.4). @throws RefusedError access-refused */
export function checkNotReserved(kind: 'queue' | 'exchange', name: string): void {
  if (name.startsWith('amq.')) {
    throw new RefusedError(Refusal.accessRefused, `${kind} name '${name}' contains reserved prefix 'amq.*'`);
  }
}

/** @throws RefusedError resource-locked if the queue is exclusive to another connection. */
export function checkMayUse(queue: QueueObject, connection: ConnectionId): void {
  if (queue.owner !== '' && queue.owner !== connection) throw locked(queue);
}

export function locked(queue: QueueObject): RefusedError {
  return new RefusedError(
    Refusal.resourceLocked,
    `cannot obtain exclusive access to locked ${describeQueue(queue.vhost, queue.name)}. It could be originally ` +
      'declared on another connection or the exclusive property value does not match that of the original declaration.',
  );
}

/** @throws RefusedError precondition-failed if a declaration differs from what is there. */
export function checkEquivalent(
  arg: string,
  what: string,
  received: string | boolean,
  current: string | boolean,
): void {
  if (received !== current) throw inequivalent(arg, what, `'${received}'`, `'${current}'`);
}

export function inequivalent(arg: string, what: string, received: string, current: string): RefusedError {
  return new RefusedError(
    Refusal.preconditionFailed,
    `inequivalent arg '${arg}' for ${what}: received ${received} but current is ${current}`,
  );
}

/** @throws RefusedError not-found */
export function checkVhost(tables: WiringTables, vhost: string): void {
  if (!tables.hasVhost(vhost)) throw notFound(`vhost '${vhost}'`);
}
