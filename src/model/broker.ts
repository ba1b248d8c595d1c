/**
 * The broker as a protocol sees it: what AMQP 0-9-1, later AMQP 1.0, the embedding API and the simulator's clients call.
 * Control path: promises that reject with RefusedError. Data path: plain calls, no promise or closure per message.
 */
import type { EnqueueView, MessageParts } from '../log/record.js';
import type { MoveStage } from './wiring/objects.js';
import type { Definition } from './policy/definition.js';
import type { Replies } from './replies.js';
import type { FilterDefinition } from './selection/message-filter.js';
import type { TerminusPort } from './terminus/port.js';
import type { TransactionPort } from './transaction.js';

/** A client connection, unique in the cluster: `<node>/<boot>/<n>`. It owns exclusive queues. */
export type ConnectionId = string;

/** Decoded argument tables: what field tables become. Timestamps, decimals and byte arrays keep their types. */
export type ArgumentValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | Timestamp
  | Decimal
  | ArgumentValue[]
  | { [key: string]: ArgumentValue };
export type Arguments = { [key: string]: ArgumentValue };

export class Timestamp {
  /** Seconds since 1970. */
  readonly seconds: number;
  constructor(seconds: number) {
    this.seconds = seconds;
  }
}

export class Decimal {
  readonly scale: number;
  readonly value: number;
  constructor(scale: number, value: number) {
    this.scale = scale;
    this.value = value;
  }
}

export interface ExchangeDeclaration {
  vhost: string;
  name: string;
  type: string;
  passive: boolean;
  durable: boolean;
  autoDelete: boolean;
  internal: boolean;
  arguments: Arguments;
  connection: ConnectionId;
}

export interface QueueDeclaration {
  vhost: string;
  /** '' = the server makes a name. */
  name: string;
  /** It has made the name before, here or elsewhere: it may be one of those that clients cannot choose. */
  serverNamed?: boolean;
  passive: boolean;
  durable: boolean;
  exclusive: boolean;
  autoDelete: boolean;
  arguments: Arguments;
  connection: ConnectionId;
}

export interface Binding {
  vhost: string;
  /** Source exchange. */
  source: string;
  destination: string;
  destinationKind: 'queue' | 'exchange';
  routingKey: string;
  arguments: Arguments;
}

export interface QueueInfo {
  name: string;
  /** Messages ready for delivery. */
  messages: number;
  consumers: number;
}

export interface QueueStatus extends QueueInfo {
  vhost: string;
  durable: boolean;
  exclusive: boolean;
  autoDelete: boolean;
  arguments: Arguments;
  /** The policies that apply, '' = none, and what they set together. */
  policy: string;
  operatorPolicy: string;
  policyDefinition: Definition;
  /** How far it is on its way to another group; '' = it stays where it is. */
  moving: MoveStage | '';
  unacknowledged: number;
  group: number;
  /** Node names: primary, replicas wanted, replicas in sync. */
  leader: string;
  members: string[];
  online: string[];
}

/** Changes of the wiring. A promise that resolves means: every ready node has it, on disk where durable. */
export interface Wiring {
  declareExchange(declaration: ExchangeDeclaration): Promise<void>;
  deleteExchange(vhost: string, name: string, options: { ifUnused: boolean }): Promise<void>;
  declareQueue(declaration: QueueDeclaration): Promise<QueueInfo>;
  /** Resolves to the number of messages deleted with it. */
  deleteQueue(
    vhost: string,
    name: string,
    options: { ifUnused: boolean; ifEmpty: boolean; connection: ConnectionId },
  ): Promise<number>;
  bind(binding: Binding, connection: ConnectionId): Promise<void>;
  unbind(binding: Binding, connection: ConnectionId): Promise<void>;
  /** Resolves to the number of messages purged. */
  purgeQueue(vhost: string, name: string, connection: ConnectionId): Promise<number>;
}

/** What an exchange may hash, of a message's properties. */
export const messageProperties = ['message_id', 'correlation_id', 'timestamp'] as const;
export type MessageProperty = (typeof messageProperties)[number];
/** '' if the message does not have it. */
export type Properties = (name: MessageProperty) => string;

/** Where a message goes: made by `route`, may be kept and used again while `version` equals the broker's `routingVersion`. */
export interface Route {
  readonly version: number;
  /** False if the answer depends on the message's headers: do not keep it. */
  readonly keyed: boolean;
  /** Queues it reaches; 0 = unroutable. */
  readonly queueCount: number;
  /** False: where it leads is found out after `publish`; its owner is told if it leads nowhere. */
  readonly isKnown: boolean;
}

/** Told when a publish is safe. */
export interface PublishOwner {
  /** One of the parts of the publish `tag` is safe (see Broker.publish). Never called before `publish` returned. */
  completed(tag: number): void;
  /**
   * Instead of `completed`: nothing is promised about the part, since too few replicas are in sync; it may be in its queue all the
   * same.
   */
  refused(tag: number): void;
  /** A publish by a route that was not known reaches no queue; `completed` follows. The parts are valid during the call only. */
  unroutable?(tag: number, message: MessageParts): void;
  /** Instead of `completed`: a publish by a route that was not known goes nowhere, for its exchange is gone, or takes none. */
  failed?(tag: number, error: Error): void;
}

/** Owns publishes that nobody wants to be told of. */
export const nobody: PublishOwner = { completed(): void {}, refused(): void {} };

/** Told when what its client said of a message is safe. */
export interface SettlementOwner {
  settlementSafe(tag: number): void;
}

/** How a message changes that a client gives back. */
export interface Modification {
  /** It counts as one of the times that it came back (`x-delivery-limit`). */
  readonly isCounted: boolean;
  /** An encoded map of AMQP 1.0, or several back to back. */
  readonly annotations: Uint8Array;
}

/** Whoever was given messages and owes an answer for each. Positions are those of the deliveries. */
export interface Holder {
  ack(position: number): void;
  /** Back to its place in the queue, flagged redelivered. */
  requeue(position: number): void;
  /** Refused for good: discarded (dead-lettered, when that exists). */
  reject(position: number): void;
  /** Back to its place, as if it had never been delivered: the client did not see it. */
  release(position: number): void;
  /** Back to its place, flagged redelivered, but that it came back does not count. */
  putBack(position: number): void;
  /** Back to its place, flagged redelivered, and changed. */
  modify(position: number, modification: Modification): void;
  /** As `ack`, or `reject`; the owner is told when every in-sync replica knows it, in a later phase or turn. */
  settleTold(position: number, rejects: boolean, owner: SettlementOwner, tag: number): void;
}

export interface Subscription extends Holder {
  /** Whatever the sink gave with its request. */
  readonly cookie: unknown;
  /** Allows `count` more deliveries; without acknowledgements those of big messages count more, see `deliveryCost`. */
  grant(count: number): void;
  /** The sink's `drained` follows behind all deliveries that there are for its credit; once for however many of these. */
  drain(): void;
  /** No deliveries after it resolved. What is held stays held. */
  cancel(): Promise<void>;
  /** Forgets the subscription and requeues all it holds, flagged; for channels and connections that end. */
  close(): void;
}

/** Takes deliveries. One per channel. */
export interface DeliverySink {
  /**
   * One message, within the credit granted. The view is valid during the call only. `returns`: how often it came back, where that is
   * counted.
   */
  deliver(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void;
  /** The queue has no more for the subscription now (see its `drain`): what it had was delivered. */
  drained?(subscription: Subscription): void;
  /** The broker ended the subscription (queue deleted, or its node lost). */
  cancelled(subscription: Subscription, reason: string): void;
  /** Calls `visit` for every message that this sink's client holds unsettled, in order of delivery (rule 13). */
  forEachHeld(visit: (holder: Holder, position: number) => void): void;
}

export interface ConsumeRequest {
  vhost: string;
  queue: string;
  consumerTag: string;
  noAck: boolean;
  exclusive: boolean;
  arguments: Arguments;
  connection: ConnectionId;
  /** Deliveries allowed at first, counted as in `Subscription.grant`. */
  credit: number;
  sink: DeliverySink;
  cookie: unknown;
  /** What it wants of the queue's messages; `browses`: to look at them, and take none. Both take `Broker.keepsAmqp10`. */
  filter?: FilterDefinition | undefined;
  browses?: boolean;
  /** It is about this queue, and stays with it when it moves (`QueueObject.movesFrom`): the broker's own. */
  stays?: boolean;
}

export interface GetRequest {
  vhost: string;
  queue: string;
  noAck: boolean;
  connection: ConnectionId;
  sink: DeliverySink;
  /** `holder` settles the message unless noAck. The view is valid during the call only. `remaining`: messages still ready. */
  got(
    message: EnqueueView,
    position: number,
    redelivered: boolean,
    remaining: number,
    holder: Holder,
    returns: number,
  ): void;
  empty(): void;
  failed(error: Error): void;
}

/** The body of a large message: it comes part by part, as it is asked for. */
export interface BodySource {
  readonly size: number;
  /** Begins, with so many parts asked for. */
  read(sink: BodySink, ahead: number): void;
  /** Asks for one part more. */
  more(): void;
  /** No more is wanted. To be called unless all has come. */
  close(): void;
}

export interface BodySink {
  /** The next bytes of the body; valid during the call only. */
  part(bytes: Uint8Array, start: number, end: number, isLast: boolean): void;
  /** The rest never comes. */
  lost(reason: string): void;
}

/** A large message on its way: its body is taken as it comes. */
export interface Upload {
  /** So much is on its way that no more is to be written before `UploadOwner.uploadGoesOn`. */
  readonly isFull: boolean;
  /** The next bytes of the body. They are copied. */
  write(bytes: Uint8Array, start: number, end: number): void;
  /**
   * The body, which is complete, is wherever that route leads, so that the message may be published by it. If not, since the message goes
   * elsewhere by now than it did when its upload began, it is being copied there: it is to be asked again, with the route of then, and nothing
   * behind it may be published meanwhile.
   */
  isAt(route: Route): boolean;
  /** Sends the message on its way, as `Broker.publish` does. The route must be known, and the body be there. */
  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number;
  /** The rest of the body never comes. */
  abort(): void;
}

export interface UploadOwner {
  uploadGoesOn(): void;
}

/** Says when publishers must wait: memory, disk or cluster cannot take more. */
export interface PublishGate {
  /** '' = open; else the reason. */
  readonly closed: string;
  onChange(listener: (reason: string) => void): { close(): void };
}

/** Is told once that it may go on. */
export interface StopWaiter {
  goOn(): void;
}

/** Says of which queues publishers must wait since they are too full (`x-flow-stop-count`). */
export interface PublisherStops {
  /** There are some: to be asked for each publish. */
  readonly isAny: boolean;
  /** Publishers by the route must wait: to be asked for each publish while there are some. */
  stops(route: Route): boolean;
  /**
   * Why publishers by the route must wait; '' = they need not. If they must, `waiter` is told when they need not any more, for no queue
   * of the route.
   */
  await(route: Route, waiter: StopWaiter): string;
  /** The waiter is not to be told any more. Takes a step for each such queue. */
  forget(waiter: StopWaiter): void;
  /** What is held is of such a queue: it waits for what the client says of it. */
  concerns(holder: Holder): boolean;
}

export interface Broker {
  readonly node: string;
  readonly wiring: Wiring;
  readonly gate: PublishGate;
  readonly stops: PublisherStops;
  readonly replies: Replies;
  readonly transactions: TransactionPort;
  readonly termini: TerminusPort;
  hasVhost(name: string): boolean;
  /** Whether the exchange of this name, if there is one, is of the type topic. */
  isTopicExchange(vhost: string, name: string): boolean;
  /** All nodes know of `MessageParts.hidden`: what clients are not shown of a message can be kept with it. */
  readonly keepsHidden: boolean;
  /** All nodes know of messages in the encoding of AMQP 1.0 (`MessageParts.format`). */
  readonly keepsAmqp10: boolean;
  /** What leads to a queue or an exchange, as far as this node knows; not what the default exchange does. */
  bindingsTo(vhost: string, kind: Binding['destinationKind'], name: string): Binding[];
  /** Changes whenever routes may have changed. */
  readonly routingVersion: number;
  /**
   * Finds the queues for a message with this node's own wiring. `headers` and `properties` (default: it has none) are called only if an
   * exchange needs them. Throws RefusedError (not-found, or access-refused for an internal exchange).
   * @param moreKeys routing keys with which it is published as well (CC, BCC): each queue gets it once
   */
  route(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys?: readonly string[],
    properties?: Properties,
  ): Route;
  /**
   * Sends a message on its way. Returns the number of parts, one per group; `owner.completed(tag)` is called once for each
   * when it is safe on every in-sync replica (at once in a later phase of this turn where nothing must be waited for), and
   * `min-in-sync` of its queues allows it.
   * The parts' bytes are copied before this returns.
   */
  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number;
  /** A body of more bytes is large: it is to be sent by `upload`, if that can be. */
  readonly largeBytes: number;
  /**
   * Begins a large message, whose body comes in pieces. Null: it goes nowhere. Undefined: it cannot be sent so, since it goes to a waiting
   * client. The route must be known.
   */
  upload(route: Route, persistent: boolean, owner: UploadOwner): Upload | null | undefined;
  /** The body of a large message that is being delivered or got. `holder`: what came with it. */
  body(holder: Holder, message: EnqueueView): BodySource;
  /** The owner's channel is gone: nobody is to be told. */
  forgetPublisher(owner: PublishOwner): void;
  consume(request: ConsumeRequest): Promise<Subscription>;
  get(request: GetRequest): void;
  /**
   * The sink's channel is gone: what it holds by `get` is requeued, and subscriptions that it has asked for and not got yet are closed.
   * (It closes those that it has.)
   */
  forgetSink(sink: DeliverySink): void;
  /** The connection is gone: deletes its exclusive queues. */
  connectionClosed(connection: ConnectionId): void;
  queueStatus(vhost: string, name: string): Promise<QueueStatus>;
  /**
   * Sends what is ready in a queue on through an exchange, with its own or another routing key, as dead letters are sent on. Resolves to
   * how many that were, when all is safe: in the outbox of the queue's group, or beyond.
   * @param to `exchange` undefined: the queue's dead-letter exchange, and its routing key
   * @throws RefusedError not-found for queue or exchange; precondition-failed if there is no dead-letter exchange
   */
  reroute(vhost: string, name: string, to: { exchange?: string; routingKey?: string }): Promise<number>;
}
