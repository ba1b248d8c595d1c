/**
 * Wiring operations, as nodes send them to the primary of the system group, and their answers. Plain objects; `arguments`
 * hold decoded field tables, which `encodeOperation` turns into JSON.
 *
 * Every operation may be said again after a failure: a declaration of what is there and a deletion of what is not are
 * answered like the first time. Whoever deletes names the position that it means (0 = whatever has the name), so that a
 * repetition never hits a successor of the same name. For the same reason the asking node makes up server-given names.
 */
import type { Refusal } from '../../base/errors.js';
import type { Lsn } from '../../log/lsn.js';
import type { AccessOperation } from '../access/operations.js';
import type { Arguments, ConnectionId } from '../broker.js';
import type { MoveStage, NodeBoot, PolicyObject } from './objects.js';
import { argumentsFromJson, argumentsToJson, type Json } from './arguments.js';

export interface DeclareExchange {
  readonly op: 'declareExchange';
  readonly vhost: string;
  readonly name: string;
  readonly type: string;
  /** Asks only whether it exists; the other fields do not matter. */
  readonly passive: boolean;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: Arguments;
  /** Through which it is declared; nodes of protocol version 1 do not say. */
  readonly connection?: ConnectionId;
}

export interface DeleteExchange {
  readonly op: 'deleteExchange';
  readonly vhost: string;
  readonly name: string;
  readonly ifUnused: boolean;
  /** 0 = whatever has the name. */
  readonly position: Lsn;
}

export interface DeclareQueue {
  readonly op: 'declareQueue';
  readonly vhost: string;
  /** Never ''. */
  readonly name: string;
  /** The asking node made up the name for its client (`amq.gen-...`). */
  readonly serverNamed: boolean;
  readonly passive: boolean;
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: Arguments;
  readonly connection: ConnectionId;
}

export interface DeleteQueue {
  readonly op: 'deleteQueue';
  readonly vhost: string;
  readonly name: string;
  readonly incarnation: Lsn;
  readonly connection: ConnectionId;
}

/** Binds or unbinds. `connection` may hold the queue exclusively; what is not replicated goes with its node's boot. */
export interface ChangeBinding {
  readonly op: 'bind' | 'unbind';
  readonly vhost: string;
  readonly source: string;
  readonly destinationKind: 'queue' | 'exchange';
  readonly destination: string;
  readonly routingKey: string;
  readonly arguments: Arguments;
  readonly connection: ConnectionId;
}

/** Deletes the connection's exclusive queues. To be said when its declarations have all been answered. */
export interface ConnectionClosed {
  readonly op: 'connectionClosed';
  readonly connection: ConnectionId;
}

/** A boot of a node is over for good: deletes what goes with it (`OwnerBoots`) and with its earlier boots, `goneMax` at most. */
export interface NodeGone extends NodeBoot {
  readonly op: 'nodeGone';
}

/** An auto-delete queue has a consumer, says its group's primary, whose successors are to know it. */
export interface QueueUsed {
  readonly op: 'queueUsed';
  readonly incarnation: Lsn;
}

/** An auto-delete queue has lost its last consumer, or another one was not used for too long, says its group's primary. */
export interface QueueUnused {
  readonly op: 'queueUnused';
  readonly incarnation: Lsn;
}

/** The queue is to be where its policy wants it by now: it begins to move, if it is elsewhere. */
export interface MoveQueue {
  readonly op: 'moveQueue';
  readonly incarnation: Lsn;
  /** The node that leads it: if it is to be on one node only, on that. */
  readonly node: string;
}

/** A queue that moves has come so far. `over`: there is nothing left of the old one. */
export interface MoveOn {
  readonly op: 'moveOn';
  /** The old queue. */
  readonly incarnation: Lsn;
  readonly stage: MoveStage | 'over';
}

/** Sets a policy, instead of the one of that name if there is one. The node that is asked checks nothing. */
export interface SetPolicy {
  /** `setOperatorPolicy` from protocol version 3 on. */
  readonly op: 'setPolicy' | 'setOperatorPolicy';
  readonly policy: Omit<PolicyObject, 'kind' | 'position'>;
}

export interface ClearPolicy {
  readonly op: 'clearPolicy' | 'clearOperatorPolicy';
  readonly vhost: string;
  readonly name: string;
}

/** Sets a global parameter, instead of the one of that name if there is one. From protocol version 3 on. */
export interface SetGlobalParameter {
  readonly op: 'setGlobalParameter';
  readonly name: string;
  readonly value: Json;
}

export interface ClearGlobalParameter {
  readonly op: 'clearGlobalParameter';
  readonly name: string;
}

export type WiringOperation =
  | DeclareExchange
  | DeleteExchange
  | DeclareQueue
  | DeleteQueue
  | ChangeBinding
  | ConnectionClosed
  | NodeGone
  | QueueUsed
  | QueueUnused
  | MoveQueue
  | MoveOn
  | SetPolicy
  | ClearPolicy
  | SetGlobalParameter
  | ClearGlobalParameter
  | AccessOperation;

export interface WiringDone {
  readonly result: 'done';
  /** The wiring version that contains it. The client may hear when every ready node has applied that. */
  readonly version: Lsn;
  /** Of the object declared, bound or deleted; 0 = there was nothing to delete (or several, for connections and nodes). */
  readonly position: Lsn;
  /** Of the queue declared or deleted, else 0. */
  readonly group: number;
}

/** The client is to be told that it must not. Nothing was changed. */
export interface WiringRefused {
  readonly result: 'refused';
  readonly kind: Refusal;
  readonly text: string;
}

/** Not done, as far as is known: to be asked again, maybe of another primary. */
export interface WiringRetry {
  readonly result: 'retry';
  readonly reason: string;
}

export type WiringAnswer = WiringDone | WiringRefused | WiringRetry;

/** Node and boot of a connection's id, `<node>/<boot>/<n>`; undefined if it is none. */
export function ownerOf(connection: ConnectionId): NodeBoot | undefined {
  const last = connection.lastIndexOf('/');
  const middle = connection.lastIndexOf('/', last - 1);
  if (middle <= 0) return undefined;
  const boot = Number(connection.slice(middle + 1, last));
  return Number.isInteger(boot) ? { node: connection.slice(0, middle), boot } : undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @throws RefusedError (precondition-failed) if its arguments are nested too deep. */
export function encodeOperation(operation: WiringOperation): Uint8Array {
  const json = 'arguments' in operation ? { ...operation, arguments: argumentsToJson(operation.arguments) } : operation;
  return encoder.encode(JSON.stringify(json));
}

export function decodeOperation(bytes: Uint8Array): WiringOperation {
  const json = JSON.parse(decoder.decode(bytes)) as Record<string, Json>;
  const table = json['arguments'];
  return (table === undefined ? json : { ...json, arguments: argumentsFromJson(table) }) as unknown as WiringOperation;
}

export function encodeAnswer(answer: WiringAnswer): Uint8Array {
  return encoder.encode(JSON.stringify(answer));
}

export function decodeAnswer(bytes: Uint8Array): WiringAnswer {
  return JSON.parse(decoder.decode(bytes)) as WiringAnswer;
}
