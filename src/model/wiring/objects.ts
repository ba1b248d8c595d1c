/**
 * The objects of the wiring. Each live one is an enqueue record of the system group whose body is its JSON; the record's
 * position is the object's identity, a queue's incarnation. Objects never change: to change is to delete and create.
 * In the JSON, fields are only ever added; a reader passes over fields and kinds that it does not know.
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Lsn } from '../../log/lsn.js';
import { type AccessObject, readAccessObject } from '../access/objects.js';
import type { Arguments, ConnectionId } from '../broker.js';
import type { ApplyTo, Definition } from '../policy/definition.js';
import { argumentsFromJson, argumentsKey, argumentsToJson, type Json } from './arguments.js';

/** Bytes of one object's JSON, at most. */
export const objectBytesMax: number = 256 * 1024;

/** One life of a node. */
export interface NodeBoot {
  readonly node: string;
  readonly boot: number;
}

export interface VhostObject {
  readonly kind: 'vhost';
  /** Identity: the lsn of its declaration. 0 = planned, or one of those that exist without a declaration. */
  readonly position: Lsn;
  readonly name: string;
  /** What operators have noted about it. */
  readonly description: string;
  readonly tags: readonly string[];
  /** The type of queues that are declared in it without one. */
  readonly defaultQueueType?: QueueType;
}

export const QueueType = { classic: 'classic', quorum: 'quorum' } as const;
export type QueueType = (typeof QueueType)[keyof typeof QueueType];

export const ExchangeType = {
  direct: 'direct',
  fanout: 'fanout',
  topic: 'topic',
  headers: 'headers',
  // RabbitMQ's plugins; from protocol version 3 on.
  'x-consistent-hash': 'x-consistent-hash',
  'x-random': 'x-random',
  'x-modulus-hash': 'x-modulus-hash',
  'x-delayed-message': 'x-delayed-message',
} as const;
export type ExchangeType = (typeof ExchangeType)[keyof typeof ExchangeType];

export interface ExchangeObject {
  readonly kind: 'exchange';
  readonly position: Lsn;
  readonly vhost: string;
  readonly name: string;
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  /** No client may publish to it; only other exchanges lead there. */
  readonly internal: boolean;
  readonly arguments: Arguments;
  /** It is not replicated: with the end of this boot it goes, with its bindings. From protocol version 2 on. */
  readonly goesWith?: NodeBoot;
}

export interface QueueObject {
  readonly kind: 'queue';
  /** The queue's incarnation. */
  readonly position: Lsn;
  readonly vhost: string;
  readonly name: string;
  readonly durable: boolean;
  /** The connection that it is exclusive to; '' = none. */
  readonly owner: ConnectionId | '';
  readonly autoDelete: boolean;
  readonly arguments: Arguments;
  /** The group that holds its messages, for as long as it lives. */
  readonly group: number;
  /** How many replicas that group has, if another number than the cluster's was asked for. */
  readonly replicas?: number;
  /**
   * The queue that had its name before it, in another group. While that lives its messages are on their way here (see MoveStage).
   * From protocol version 2 on.
   */
  readonly movesFrom?: Lsn;
}

/**
 * How far a queue has come that moves to another group: `movesFrom` names it. Each stage is committed wiring, and begins when every
 * ready node has it.
 *
 *   draining   consumers are at the new queue, publishes go to the old one; what waits there is passed on, from the front to the back
 *   closing    little is left: publishes wait at their nodes until everything before them has been passed on
 *   late       publishes go to the new queue; what a node that was out of reach published before is passed on, flagged
 *   swept      no such publish can come any more; what clients hold of the old queue is theirs to settle
 *
 * Then the old queue is deleted.
 */
export const MoveStage = { draining: 'draining', closing: 'closing', late: 'late', swept: 'swept' } as const;
export type MoveStage = (typeof MoveStage)[keyof typeof MoveStage];

/** A queue that moves is further than `draining`. One for each; while it is replaced, two. */
export interface MoveObject {
  readonly kind: 'move';
  readonly position: Lsn;
  /** The old queue's incarnation. */
  readonly queue: Lsn;
  readonly stage: MoveStage;
  /** As the queue is. */
  readonly durable: boolean;
}

export interface BindingObject {
  readonly kind: 'binding';
  readonly position: Lsn;
  readonly vhost: string;
  /** Name of the exchange. */
  readonly source: string;
  readonly destinationKind: 'queue' | 'exchange';
  readonly destination: string;
  readonly routingKey: string;
  readonly arguments: Arguments;
  /** Both ends are durable (see `isDurable`), and it stays: it comes back after all nodes went down. */
  readonly durable: boolean;
  /** As of an exchange. */
  readonly goesWith?: NodeBoot;
}

/** The mark of an auto-delete queue that has had a consumer: once it has none, it is to go. */
export interface UseObject {
  readonly kind: 'use';
  readonly position: Lsn;
  /** The queue's incarnation. */
  readonly queue: Lsn;
  /** As the queue is. */
  readonly durable: boolean;
}

/**
 * Settings for queues or exchanges by name. One of a name; while it is replaced, two. An operator's policy is one of its own kind, with
 * names of its own: it goes beside the other, and limits what that may set. From protocol version 3 on.
 */
export interface PolicyObject {
  readonly kind: 'policy' | 'operatorPolicy';
  readonly position: Lsn;
  readonly vhost: string;
  readonly name: string;
  /** A regular expression, found anywhere in a name. */
  readonly pattern: string;
  readonly priority: number;
  readonly applyTo: ApplyTo;
  readonly definition: Definition;
}

/** Something that operators and their tools note about the cluster, such as its name; it means nothing to the broker. From protocol version 3 on. */
export interface GlobalParameterObject {
  readonly kind: 'globalParameter';
  readonly position: Lsn;
  readonly name: string;
  readonly value: Json;
}

export type WiringObject =
  | VhostObject
  | ExchangeObject
  | QueueObject
  | BindingObject
  | UseObject
  | PolicyObject
  | GlobalParameterObject
  | MoveObject
  | AccessObject;

/**
 * Must the object's records be on disk before they count? Never of what goes with a connection or a boot, whatever its
 * `durable` flag says.
 */
export function isDurable(object: WiringObject): boolean {
  switch (object.kind) {
    case 'vhost':
    case 'policy':
    case 'operatorPolicy':
    case 'globalParameter':
    case 'user':
    case 'permission':
    case 'topicPermission':
    case 'limits':
    case 'founded':
      return true;
    case 'queue':
      return object.durable && object.owner === '';
    case 'exchange':
      return object.durable && object.goesWith === undefined;
    default:
      return object.durable;
  }
}

/** Tells bindings apart that leave the same exchange (AMQP: same source, destination, key and arguments are one binding). */
export function bindingKey(binding: {
  readonly destinationKind: 'queue' | 'exchange';
  readonly destination: string;
  readonly routingKey: string;
  readonly arguments: Arguments;
}): string {
  const kind = binding.destinationKind === 'queue' ? 'q' : 'x';
  return `${kind}${binding.destination}\0${binding.routingKey}\0${argumentsKey(binding.arguments)}`;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The object's body in the wiring log, without its position.
 * @throws RefusedError (precondition-failed) if it is larger than `objectBytesMax` or its arguments are nested too deep.
 */
export function encodeObject(object: WiringObject): Uint8Array {
  const { position: _, ...fields } = object;
  const json = 'arguments' in fields ? { ...fields, arguments: argumentsToJson(fields.arguments) } : fields;
  const bytes = encoder.encode(JSON.stringify({ v: 1, ...json }));
  if (bytes.length > objectBytesMax) {
    throw new RefusedError(
      Refusal.preconditionFailed,
      `the ${object.kind} with its arguments takes ${bytes.length} bytes, ${objectBytesMax} are allowed; use smaller arguments`,
    );
  }
  return bytes;
}

/** The object of a body; its position is 0 (the tables set it). Undefined for a kind that this version does not know. */
export function decodeObject(bytes: Uint8Array): WiringObject | undefined {
  const json = JSON.parse(decoder.decode(bytes)) as Record<string, Json>;
  switch (json['kind']) {
    case 'vhost':
      return decodeVhost(json);
    case 'exchange':
      return {
        kind: 'exchange',
        position: 0,
        vhost: String(json['vhost']),
        name: String(json['name']),
        type: json['type'] as ExchangeType,
        durable: json['durable'] === true,
        autoDelete: json['autoDelete'] === true,
        internal: json['internal'] === true,
        arguments: argumentsOf(json['arguments']),
        ...goesWith(json['goesWith']),
      };
    case 'queue':
      return {
        kind: 'queue',
        position: 0,
        vhost: String(json['vhost']),
        name: String(json['name']),
        durable: json['durable'] === true,
        owner: String(json['owner'] ?? ''),
        autoDelete: json['autoDelete'] === true,
        arguments: argumentsOf(json['arguments']),
        group: Number(json['group']),
        ...(json['replicas'] === undefined ? {} : { replicas: Number(json['replicas']) }),
        ...(json['movesFrom'] === undefined ? {} : { movesFrom: Number(json['movesFrom']) }),
      };
    case 'binding':
      return {
        kind: 'binding',
        position: 0,
        vhost: String(json['vhost']),
        source: String(json['source']),
        destinationKind: json['destinationKind'] === 'exchange' ? 'exchange' : 'queue',
        destination: String(json['destination']),
        routingKey: String(json['routingKey']),
        arguments: argumentsOf(json['arguments']),
        durable: json['durable'] === true,
        ...goesWith(json['goesWith']),
      };
    case 'use':
      return { kind: 'use', position: 0, queue: Number(json['queue']), durable: json['durable'] === true };
    case 'move':
      return {
        kind: 'move',
        position: 0,
        queue: Number(json['queue']),
        stage: json['stage'] as MoveStage,
        durable: json['durable'] === true,
      };
    case 'policy':
    case 'operatorPolicy':
      return decodePolicy(json['kind'], json);
    case 'globalParameter':
      return { kind: 'globalParameter', position: 0, name: String(json['name']), value: json['value'] ?? null };
    default:
      return readAccessObject(json);
  }
}

function decodePolicy(kind: PolicyObject['kind'], json: Record<string, Json>): PolicyObject {
  return {
    kind,
    position: 0,
    vhost: String(json['vhost']),
    name: String(json['name']),
    pattern: String(json['pattern']),
    priority: Number(json['priority']),
    applyTo: json['applyTo'] as ApplyTo,
    definition: json['definition'] as Definition,
  };
}

function decodeVhost({ name, description = '', tags = [], defaultQueueType }: Record<string, Json>): VhostObject {
  return {
    kind: 'vhost',
    position: 0,
    name: String(name),
    description: String(description),
    tags: (tags as Json[]).map(String),
    ...(defaultQueueType === undefined ? {} : { defaultQueueType: defaultQueueType as QueueType }),
  };
}

/** Most have none: they share it. */
const noArguments: Arguments = Object.freeze({});

function argumentsOf(json: Json | undefined): Arguments {
  if (json === undefined || Object.keys(json as object).length === 0) return noArguments;
  return argumentsFromJson(json);
}

function goesWith(json: Json | undefined): { goesWith?: NodeBoot } {
  if (json === undefined) return {};
  const { node, boot } = json as { node: string; boot: number };
  return { goesWith: { node, boot } };
}
