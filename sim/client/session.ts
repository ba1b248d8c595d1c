/**
 * The node's side of a simulated client's connection: what the protocol layer does for a channel, without the protocol.
 * All of it runs in the node's context; a dead node's sessions never hear of anything again.
 */
import { RefusedError } from '../../src/base/errors.js';
import type { GroupClient } from '../../src/cluster/client/group-client.js';
import { QueueHolder } from '../../src/cluster/client/subscription.js';
import { MessageParts, type EnqueueView } from '../../src/log/record.js';
import type {
  Broker,
  DeliverySink,
  Holder,
  PublishOwner,
  Route,
  Subscription,
  StopWaiter,
  Upload,
} from '../../src/model/broker.js';
import type { ClusterAccess } from '../../src/cluster/wiring/cluster-access.js';
import { delayHeader } from '../../src/model/delay/delay-header.js';
import type { ClusterPolicies } from '../../src/cluster/wiring/cluster-policies.js';
import { Delivery, type Copy, type Message, type Send } from '../history.js';
import type { NodeProbe, SimProcess } from '../node-ports.js';
import type { SimRandom } from '../random.js';
import type { SimWorld } from '../world.js';
import { ArrivingBodies, SendingBody } from './bodies.js';
import type { BrowsedQueue } from './browsed-queue.js';
import { decodeMessage, encodeMessage, keyHeader, nameOf, noteBytes, noteOf } from './message.js';
import { SessionTransaction } from './transaction.js';

/** A consumer as client and session know it. */
export interface Consumer {
  readonly id: number;
  readonly queue: string;
  readonly noAck: boolean;
  /** Life of the queue's name when the client asked. */
  readonly life: number;
  subscription: Subscription | undefined;
  /** Of the consumer, see `Asker`. */
  readonly priority?: number;
  /** It wants messages with this key only. */
  readonly wants?: number;
  /** It browses. */
  readonly browsed?: BrowsedQueue;
}

export interface PublishRequest {
  message: Message;
  send: Send;
  exchange: string;
  routingKey: string;
  paddingBytes: number;
}

/** What the session tells its client; the connection puts the way back between them. */
export interface SessionClient {
  confirmed(message: Message): void;
  /** Too few replicas are in sync: nothing is promised. */
  refused(message: Message): void;
  unroutable(message: Message): void;
  delivered(delivery: Delivery, consumer: Consumer): void;
  cancelled(consumer: Consumer, reason: string): void;
  /** Runs something at the node. */
  later(delayMs: number, run: () => void): void;
  /** The node closes the connection. */
  cut(reason: string): void;
}

interface OpenPublish {
  message: Message;
  partsLeft: number;
  refused: boolean;
  /** It was found to lead nowhere after it was taken. */
  unroutable: boolean;
}

export class Session implements PublishOwner, DeliverySink, StopWaiter {
  readonly id: string;
  readonly broker: Broker;
  readonly policies: ClusterPolicies;
  readonly access: ClusterAccess;
  private readonly world: SimWorld;
  private readonly probe: NodeProbe;
  private readonly client: SessionClient;
  private readonly publishes = new Map<number, OpenPublish>();
  private readonly held = new Map<Delivery, Holder>();
  private readonly subscriptions = new Set<Subscription>();
  private readonly routes = new Map<string, Route>();
  private readonly parts = new MessageParts();
  /** What a publisher's socket holds while the node does not read from it. */
  private readonly unread: (() => void)[] = [];
  private readonly gateWatch: { close(): void };
  private isStopped = false;
  private readonly random: SimRandom;
  /** A large message is being sent: what comes behind it waits in the socket. */
  private sending: SendingBody | undefined;
  private readonly arriving: ArrivingBodies;
  private nextTag = 1;
  private closed = false;
  /** For what the session has besides. */
  readonly onClose: (() => void)[] = [];

  constructor(world: SimWorld, id: string, { broker, policies, access, probe }: SimProcess, client: SessionClient) {
    this.world = world;
    this.id = id;
    this.broker = broker;
    this.policies = policies;
    this.access = access;
    this.probe = probe;
    this.client = client;
    this.gateWatch = broker.gate.onChange(() => this.readAgain());
    this.random = world.random.fork(`bodies of ${id}`);
    this.arriving = new ArrivingBodies(broker, this.random, client.later, client.cut);
  }

  get isClosed(): boolean {
    return this.closed;
  }

  // ---- publishing ----

  publish(request: PublishRequest): void {
    if (!this.isRead || this.unread.length > 0) {
      this.unread.push(() => this.publish(request));
      return;
    }
    this.publishNow(request);
  }

  /** `upload` has all of the body. False: it is not known yet where the message goes. */
  private publishNow(request: PublishRequest, upload?: Upload): boolean {
    const { message, send } = request;
    const route = this.route(request.exchange, request.routingKey, request.message.delayMs);
    if (upload !== undefined && route !== undefined && !(route.isKnown && upload.isAt(route))) {
      this.client.later(5, () => this.publishSent(request, upload));
      return false;
    }
    if (route === undefined || route.queueCount === 0) {
      upload?.abort();
      this.world.history.taken(message, send, 0);
      this.client.unroutable(message);
      return true;
    }
    const wire = { publisher: this.world.publisherNumber(message.publisher), number: message.number };
    const { exchange, routingKey, paddingBytes } = request;
    const isNamed = this.world.options.large;
    const { persistent, labels } = message;
    encodeMessage(this.parts, wire, exchange, routingKey, persistent, paddingBytes, labels, isNamed);
    if (labels.lifeMs > 0) this.parts.expiresAt = this.world.wall() + labels.lifeMs;
    if (upload === undefined) {
      this.sending = SendingBody.begin(this.broker, route, this.parts, this.random, this.client.later, (sent) =>
        this.publishSent(request, sent),
      );
      if (this.sending !== undefined) return true;
    }
    const tag = this.nextTag++;
    const open: OpenPublish = { message, partsLeft: 0, refused: false, unroutable: false };
    this.publishes.set(tag, open);
    open.partsLeft = (upload ?? this.broker).publish(route, this.parts, this, tag);
    // The bytes are copied before publish returns.
    this.parts.bodyBytes.fill(0xee);
    this.parts.metaBytes.fill(0xee);
    this.parts.headerBytes.fill(0xee);
    const { stops } = this.broker;
    if (stops.isAny) this.isStopped = stops.stops(route) && stops.await(route, this) !== '';
    // A node that may have missed wiring takes a message without knowing where it goes.
    this.world.history.taken(message, send, route.isKnown ? route.queueCount : -1);
    return true;
  }

  /** A large message is complete. */
  private publishSent(request: PublishRequest, upload: Upload): void {
    if (this.closed) return upload.abort();
    if (!this.publishNow(request, upload)) return;
    this.sending = undefined;
    this.readAgain();
  }

  /** Publishes and settles in one transaction; resolves when it is safe. */
  transact(requests: readonly PublishRequest[], inputs: readonly Delivery[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        if (this.isRead && this.unread.length === 0) this.commit(requests, inputs, resolve, reject);
        else this.unread.push(begin);
      };
      begin();
    });
  }

  private commit(
    requests: readonly PublishRequest[],
    inputs: readonly Delivery[],
    resolve: () => void,
    reject: (error: Error) => void,
  ): void {
    const { history } = this.world;
    const publisherNumber = (name: string): number => this.world.publisherNumber(name);
    const isClosed = (): boolean => this.closed;
    const transaction = new SessionTransaction(requests, publisherNumber, inputs, this.held, isClosed, (error) => {
      if (this.closed) return;
      if (error !== undefined) return reject(error);
      for (const { message } of requests)
        if (!transaction.nowhere.has(message)) history.confirmed(message, this.broker.node);
      resolve();
    });
    for (const { message, send } of requests) history.taken(message, send, -1);
    this.broker.transactions.commit(transaction);
  }

  unroutable(tag: number): void {
    const open = this.publishes.get(tag);
    if (open === undefined) this.world.fail('calls', `publish ${tag} of ${this.id} led nowhere when it was done with`);
    else open.unroutable = true;
  }

  failed(tag: number): void {
    this.unroutable(tag);
    this.completed(tag);
  }

  /** Publishers are read: the node takes messages, no queue that this one published to is too full, and no large message is being sent. */
  private get isRead(): boolean {
    return this.broker.gate.closed === '' && !this.isStopped && this.sending === undefined;
  }

  /** StopWaiter. */
  goOn(): void {
    this.isStopped = false;
    this.readAgain();
  }

  /** The node reads from publishers again. */
  private readAgain(): void {
    if (this.closed || !this.isRead) return;
    for (const read of this.unread.splice(0)) read();
  }

  refused(tag: number): void {
    const open = this.publishes.get(tag);
    if (open !== undefined) open.refused = true;
    this.completed(tag);
  }

  completed(tag: number): void {
    const open = this.publishes.get(tag);
    if (open === undefined) {
      this.world.fail('calls', `publish ${tag} of ${this.id} completed once too often`);
      return;
    }
    if (--open.partsLeft > 0) return;
    this.publishes.delete(tag);
    if (this.closed) return;
    if (open.refused) {
      this.world.history.refused(open.message, this.broker.node);
      this.client.refused(open.message);
      return;
    }
    if (open.unroutable) {
      this.client.unroutable(open.message);
      return;
    }
    this.world.history.confirmed(open.message, this.broker.node);
    this.client.confirmed(open.message);
  }

  private route(exchange: string, routingKey: string, delayMs: number): Route | undefined {
    const key = `${exchange} ${routingKey}`;
    const known = this.routes.get(key);
    if (known !== undefined && known.version === this.broker.routingVersion) return known;
    try {
      const headers = delayMs === 0 ? {} : { [delayHeader]: delayMs };
      const route = this.broker.route('/', exchange, routingKey, () => headers);
      if (route.keyed) this.routes.set(key, route);
      return route;
    } catch (error) {
      if (error instanceof RefusedError) return undefined;
      throw error;
    }
  }

  // ---- consuming ----

  /** Nothing happens after the end, as with what a channel had not come to yet. */
  async consume(consumer: Consumer, credit: number): Promise<void> {
    if (this.closed) return;
    const subscription = await this.broker.consume({
      vhost: '/',
      queue: consumer.queue,
      consumerTag: `c${consumer.id}`,
      noAck: consumer.noAck,
      exclusive: false,
      arguments: consumer.priority === undefined ? {} : { 'x-priority': consumer.priority },
      connection: this.id,
      credit,
      sink: this,
      cookie: consumer,
      ...(consumer.wants === undefined ? {} : { filter: { headers: { [keyHeader]: consumer.wants } } }),
      ...(consumer.browsed === undefined ? {} : { browses: true }),
    });
    this.joined(consumer, subscription);
  }

  /** The connection may have been closed while the answer was on its way: so was the subscription. */
  private joined(consumer: Consumer, subscription: Subscription): void {
    consumer.subscription = subscription;
    if (!this.closed) this.subscriptions.add(subscription);
  }

  async cancel(consumer: Consumer): Promise<void> {
    if (consumer.subscription === undefined) return;
    await consumer.subscription.cancel();
  }

  deliver(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const consumer = subscription.cookie as Consumer;
    if (consumer.browsed !== undefined) {
      const wrong = consumer.browsed.shown(subscription, position, this.random);
      if (wrong !== '' && this.copyOf(consumer, message) !== undefined)
        this.world.fail('browsers', `${consumer.id}: ${wrong}`);
      return;
    }
    if (consumer.wants !== undefined && this.copyOf(consumer, message)?.message.labels.key !== consumer.wants)
      this.world.fail('filters', `consumer ${consumer.id} wants ${consumer.wants}, and gets ${position}`);
    this.whenWhole(consumer, subscription, position, redelivered, message, returns, (delivery) =>
      this.client.delivered(delivery, consumer),
    );
  }

  /** Calls `take` when the message is there, all of it. */
  private whenWhole(
    consumer: Consumer,
    holder: Holder,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
    take: (delivery: Delivery) => void,
  ): void {
    const delivery = this.record(consumer, holder, position, redelivered, message, returns);
    if (delivery === undefined) return;
    if (!consumer.noAck) this.held.set(delivery, holder);
    if (this.arriving.isEmpty && !message.isLarge) return take(delivery);
    this.arriving.add(holder, message, (whole) => {
      if (this.copyOf(consumer, whole) === delivery.facts.copy) take(delivery);
      else this.world.fail('calls', `the body of a large message from ${consumer.queue} is that of another one`);
    });
  }

  cancelled(subscription: Subscription, reason: string): void {
    this.subscriptions.delete(subscription);
    this.client.cancelled(subscription.cookie as Consumer, reason);
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    for (const [delivery, holder] of this.held) visit(holder, delivery.position);
  }

  /** `got` is called with the delivery, or undefined for an empty queue; `failed` with the refusal. */
  get(consumer: Consumer, got: (delivery: Delivery | undefined) => void, failed: (error: Error) => void): void {
    if (this.closed) return;
    this.broker.get({
      vhost: '/',
      queue: consumer.queue,
      noAck: consumer.noAck,
      connection: this.id,
      sink: this,
      got: (message, position, redelivered, _remaining, holder, returns) =>
        this.whenWhole(consumer, holder, position, redelivered, message, returns, got),
      empty: () => got(undefined),
      failed,
    });
  }

  /** The client has settled a delivery. */
  settle(delivery: Delivery): void {
    const holder = this.held.get(delivery);
    if (holder === undefined) return;
    this.held.delete(delivery);
    if (delivery.state === 'acked') holder.ack(delivery.position);
    else if (delivery.state === 'rejected') holder.reject(delivery.position);
    else if (delivery.state === 'requeued') this.giveBack(delivery, holder);
  }

  /** In one of the ways that there are. */
  private giveBack({ position, note, copy }: Delivery, holder: Holder): void {
    if (note > 0) holder.modify(position, { isCounted: note % 2 === 0, annotations: noteBytes(note) });
    else if (copy.queue.kind.isNoted === true && position % 2 === 0) holder.putBack(position);
    else holder.requeue(position);
  }

  grant(consumer: Consumer, count: number): void {
    if (consumer.subscription !== undefined && this.subscriptions.has(consumer.subscription))
      consumer.subscription.grant(count);
  }

  /** The connection is over, as this node sees it. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.gateWatch.close();
    for (const run of this.onClose) run();
    this.broker.stops.forget(this);
    this.sending?.abort();
    for (const subscription of this.subscriptions) subscription.close();
    this.broker.forgetSink(this);
    this.broker.forgetPublisher(this);
    this.arriving.close();
    for (const delivery of this.held.keys()) this.world.history.settle(delivery, 'dropped');
    this.held.clear();
    this.broker.connectionClosed(this.id);
  }

  private record(
    consumer: Consumer,
    holder: Holder,
    position: number,
    redelivered: boolean,
    view: EnqueueView,
    returns: number,
  ): Delivery | undefined {
    const { world } = this;
    if (this.closed) {
      world.fail('calls', `a delivery to the closed session ${this.id}`);
      return undefined;
    }
    const copy = this.copyOf(consumer, view);
    if (copy === undefined) return undefined;
    // Its holder's, not that of the queue which has the name now: that may be another life of it, in another group.
    const group = holder instanceof QueueHolder ? (holder.client as GroupClient).group : -1;
    const epoch = group < 0 ? 0 : this.probe.attachedEpoch(group);
    const delivery = new Delivery({
      copy,
      at: world.loop.now,
      node: this.broker.node,
      consumer: consumer.id,
      consumerLife: consumer.life,
      incarnation: holder instanceof QueueHolder ? holder.incarnation : 0,
      position,
      redelivered,
      noAck: consumer.noAck,
      group,
      epoch,
      attachment: group < 0 ? undefined : this.probe.attachment(group),
      returns,
      note: copy.queue.kind.isNoted === true ? noteOf(view) : 0,
    });
    world.history.delivered(delivery);
    return delivery;
  }

  private copyOf(consumer: Consumer, view: EnqueueView): Copy | undefined {
    const { world } = this;
    let wire: { publisher: number; number: number };
    try {
      wire = view.isLarge ? nameOf(view) : decodeMessage(view);
    } catch (error) {
      world.fail('calls', `a damaged message from ${consumer.queue}: ${String(error)}`);
      return undefined;
    }
    const message = world.history.find(world.publisherName(wire.publisher), wire.number);
    const copy = message?.copies.find((candidate) => candidate.queue.name === consumer.queue);
    if (copy === undefined) {
      world.fail('calls', `${wire.publisher}#${wire.number} was never sent to ${consumer.queue}`);
    }
    return copy;
  }
}
