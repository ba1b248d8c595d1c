/**
 * The broker that this node's protocols use: routes with the node's own copy of the wiring and leaves the rest to the clients
 * of the groups, which know who leads each. Nothing here depends on how many nodes there are: a broker that is alone is a
 * cluster of one.
 */
import type { Clock } from '../../base/clock.js';
import type { Random } from '../../base/random.js';
import type { Rules } from '../../base/rules.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import { Feature } from '../../base/versions.js';
import { type EnqueueView, enqueueLength, MessageParts } from '../../log/record.js';
import type {
  Arguments,
  BodySource,
  Binding,
  Broker,
  ConnectionId,
  ConsumeRequest,
  DeliverySink,
  GetRequest,
  PublisherStops,
  Holder,
  PublishGate,
  Properties,
  PublishOwner,
  QueueStatus,
  Route,
  Subscription,
  Upload,
  UploadOwner,
  Wiring,
} from '../../model/broker.js';
import { setDelayed } from '../../model/delay/delayed-record.js';
import { replyPrefix } from '../../model/replies.js';
import { checkArguments } from '../../model/wiring/arguments.js';
import type { Delay } from '../../model/exchange/router.js';
import { ExchangeType, type QueueObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { ClusterRoute } from './cluster-route.js';
import { DeferredPublishes, DeferredRoute, stillWaits } from './deferred-publishes.js';
import { DirectReplies } from './direct-replies.js';
import type { GroupClient } from './group-client.js';
import type { GroupClients } from './group-clients.js';
import type { Links } from '../link/links.js';
import type { GroupMembers } from './ports.js';
import type { SourcesGate } from './publish-gate.js';
import { ClusterStops } from './publisher-stops.js';
import type { QueueAccess } from './queue-access.js';
import { QueueContents } from './queue-contents.js';
import { queueRefused } from './refusal.js';
import { RouteCache } from './route-cache.js';
import { QueueHolder } from './subscription.js';
import type { TerminusPort } from '../../model/terminus/port.js';
import { ClusterTermini } from './cluster-termini.js';
import { Transactions } from './transactions.js';
import { ClusterUpload, type UploadSettings } from './upload.js';

/** The wiring with what concerns connections as a whole. */
export interface ConnectionWiring extends Wiring {
  connectionClosed(connection: ConnectionId): void;
}

export interface ClusterBrokerOptions {
  node: string;
  tables: WiringTables;
  clients: GroupClients;
  wiring: ConnectionWiring;
  gate: SourcesGate;
  members: GroupMembers;
  clock: Clock;
  rules: Rules;
  queues: QueueAccess;
  boot: number;
  /** Undefined for a broker that is alone. */
  links: Links | undefined;
  random: Random;
  /** The protocol version in use. */
  version(): number;
  /** Bodies of more bytes are large. */
  largeBytes: number;
  /** This node's wiring is known to be current: what others were told is complete is in it (rule 15). */
  mayRoute(): boolean;
}

const noProperties: Properties = () => '';

export class ClusterBroker implements Broker {
  readonly node: string;
  readonly wiring: Wiring;
  readonly gate: PublishGate;
  readonly stops: PublisherStops;
  readonly replies: DirectReplies;
  readonly transactions: Transactions;
  readonly termini: TerminusPort;
  private readonly options: ClusterBrokerOptions;
  private readonly tables: WiringTables;
  private readonly sourcesGate: SourcesGate;
  private readonly deferred: DeferredPublishes;
  private readonly contents: QueueContents;
  private readonly routes = new RouteCache();
  private readonly delayed = new MessageParts();
  private readonly uploads: UploadSettings;
  /** Sinks whose channels are gone: what they asked for and still waits for current wiring is not begun. */
  private readonly goneSinks = new WeakSet<DeliverySink>();

  constructor(options: ClusterBrokerOptions) {
    this.options = options;
    this.node = options.node;
    this.tables = options.tables;
    this.wiring = options.wiring;
    this.contents = new QueueContents(options.tables, options.clients);
    this.gate = options.gate;
    this.stops = new ClusterStops(options.clients.stops, options.tables);
    this.replies = new DirectReplies(options);
    this.transactions = new Transactions({
      tables: options.tables,
      clock: options.clock,
      version: () => options.version(),
      route: (...message) => this.route(...message),
      reply: (address, parts) => this.replies.send(address, parts),
      published: (bytes) => options.gate.published(bytes),
    });
    this.termini = new ClusterTermini(options);
    this.sourcesGate = options.gate;
    this.uploads = { ...options.clients.uploads, published: (bytes) => options.gate.published(bytes) };
    this.deferred = new DeferredPublishes({
      clock: options.clock,
      memory: options.clients.memory,
      mayRoute: () => options.mayRoute(),
      send: (route, parts, owner, tag) => this.publishDeferred(route, parts, owner, tag),
    });
  }

  hasVhost(name: string): boolean {
    return this.tables.hasVhost(name);
  }

  isTopicExchange(vhost: string, name: string): boolean {
    return this.tables.exchange(vhost, name)?.type === ExchangeType.topic;
  }

  get keepsHidden(): boolean {
    return this.options.version() >= Feature.hidden;
  }

  get keepsAmqp10(): boolean {
    return this.options.version() >= Feature.amqp10;
  }

  get routingVersion(): number {
    return this.deferred.mustWait || !this.deferred.isEmpty ? -1 : this.tables.routingVersion;
  }

  route(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys?: readonly string[],
    properties: Properties = noProperties,
  ): Route {
    if (this.deferred.mustWait)
      return new DeferredRoute(vhost, exchange, routingKey, headers(), moreKeys, undefined, properties);
    const route = this.routeNow(vhost, exchange, routingKey, headers, moreKeys, properties);
    if (!route.waits && this.deferred.isEmpty) return route;
    const queues = this.namesOf(route);
    const waits = route.waits || queues.some((queue) => this.deferred.holds(queue));
    return waits ? new DeferredRoute(vhost, exchange, routingKey, headers(), moreKeys, queues, properties) : route;
  }

  /** Names of the queues of a route. */
  private namesOf({ targets }: ClusterRoute): string[] {
    const names: string[] = [];
    for (const { incarnations } of targets)
      for (const incarnation of incarnations) {
        const queue = this.tables.queueAt(incarnation);
        if (queue !== undefined) names.push(`${queue.vhost}\0${queue.name}`);
      }
    return names;
  }

  private routeNow(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys: readonly string[] = noKeys,
    properties: Properties = noProperties,
  ): ClusterRoute {
    const version = this.tables.routingVersion;
    const isReply = exchange === '' && (routingKey.startsWith(replyPrefix) || moreKeys.some(isAddress));
    const known = moreKeys.length > 0 || isReply ? undefined : this.routes.find(version, vhost, exchange, routingKey);
    if (known !== undefined) return known;
    const routing = this.tables.route(vhost, exchange, routingKey, headers, moreKeys, properties);
    const make = (): ClusterRoute => {
      // A route to an address is not kept: there are many, and each is used a few times.
      const kept = isReply ? { ...routing, keyed: false } : routing;
      const route = new ClusterRoute(kept, version, this.options.clients, this.tables);
      if (isReply) route.replies = [...new Set([routingKey, ...moreKeys])].filter(isAddress);
      if (!this.options.rules.closingWaits) route.waits = false;
      return route;
    };
    if (!routing.keyed || isReply) return make();
    const { queues, waits } = routing;
    const route = queues.length === 1 && !waits ? this.routes.alone(version, queues[0]!.position, make) : make();
    this.routes.add(vhost, exchange, routingKey, route);
    return route;
  }

  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number {
    if (route instanceof DeferredRoute) {
      this.deferred.add(route, parts, owner, tag);
      this.sourcesGate.published(enqueueLength(parts, 0));
      return 1;
    }
    const { targets, refusing, replies } = route as ClusterRoute;
    if (replies !== undefined) for (const address of replies) this.replies.send(address, parts);
    if (refusing !== undefined) {
      refusing.client.refuse(owner, tag);
      return 1;
    }
    for (let i = 0; i < targets.length; i++) {
      const target = targets[i]!;
      const sent = target.delay === undefined ? parts : this.waiting(parts, target.delay);
      target.client.publish(sent, target.incarnations, target.durable && parts.persistent, owner, tag, target.gate);
    }
    this.sourcesGate.published(enqueueLength(parts, 0));
    return targets.length;
  }

  /** The message as it waits for its time. */
  private waiting(parts: MessageParts, { exchange, delayMs }: Delay): MessageParts {
    setDelayed(this.delayed, parts, delayMs, exchange.vhost, exchange.name);
    return this.delayed;
  }

  /** Routes with wiring that is current. */
  private publishDeferred(route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number): number {
    const { vhost, exchange, routingKey, moreKeys, properties } = route;
    const now = this.routeNow(vhost, exchange, routingKey, () => route.headers, moreKeys, properties);
    return now.waits ? stillWaits : this.publish(now, parts, owner, tag);
  }

  /** The node stops. */
  close(): void {
    this.deferred.close();
    this.transactions.close();
    this.options.queues.close();
  }

  get largeBytes(): number {
    return this.options.version() >= Feature.largeMessages ? this.options.largeBytes : Number.POSITIVE_INFINITY;
  }

  upload(route: Route, persistent: boolean, owner: UploadOwner): Upload | null | undefined {
    if (!(route instanceof ClusterRoute) || route.replies !== undefined) return undefined;
    if (route.targets.length === 0) return null;
    return new ClusterUpload(this.uploads, route.targets, persistent, owner);
  }

  body(holder: Holder, message: EnqueueView): BodySource {
    if (!(holder instanceof QueueHolder)) throw new TypeError('nobody but a queue has large messages');
    return (holder.client as GroupClient).bodies.open(message);
  }

  forgetPublisher(owner: PublishOwner): void {
    this.deferred.forget(owner);
    this.options.clients.forgetPublisher(owner);
  }

  async consume(request: ConsumeRequest): Promise<Subscription> {
    const { queues, clients } = this.options;
    const { vhost, connection } = request;
    const queue =
      queues.usable(vhost, request.queue, connection) ?? (await queues.usableSoon(vhost, request.queue, connection));
    // Now, and not when it must be said to a primary on another node, perhaps much later.
    checkArguments(request.arguments);
    if ((request.filter !== undefined || request.browses === true) && this.options.version() < Feature.filters)
      throw new RefusedError(Refusal.notImplemented, 'filters and browsing: there are nodes of an older program');
    if (this.goneSinks.has(request.sink)) throw new RefusedError(Refusal.internalError, 'the channel is gone');
    return clients.client(queue.group).consume(queue.position, request);
  }

  get(request: GetRequest): void {
    const { queues, clients } = this.options;
    const { vhost, connection } = request;
    const ask = (queue: QueueObject): void => clients.client(queue.group).get(queue.position, request);
    try {
      const queue = queues.usable(vhost, request.queue, connection);
      if (queue !== undefined) ask(queue);
      else
        queues.usableSoon(vhost, request.queue, connection).then(
          (found) => {
            if (!this.goneSinks.has(request.sink)) ask(found);
          },
          (error: Error) => request.failed(error),
        );
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      request.failed(error);
    }
  }

  forgetSink(sink: DeliverySink): void {
    this.goneSinks.add(sink);
    this.options.clients.forgetSink(sink);
  }

  connectionClosed(connection: ConnectionId): void {
    this.options.wiring.connectionClosed(connection);
  }

  bindingsTo(vhost: string, kind: Binding['destinationKind'], name: string): Binding[] {
    const target = kind === 'queue' ? this.tables.queueTarget(vhost, name) : this.tables.exchangeTarget(vhost, name);
    return [...(target?.inbound() ?? [])];
  }

  async queueStatus(vhost: string, name: string): Promise<QueueStatus> {
    const { members, queues } = this.options;
    const queue = queues.find(vhost, name) ?? (await queues.found(vhost, name));
    const { ready, unacknowledged, consumers } = await this.contents.count(queue);
    const { policy, operatorPolicy, definition } = this.tables.settings.of(queue).by;
    return {
      name,
      vhost,
      durable: queue.durable,
      exclusive: queue.owner !== '',
      autoDelete: queue.autoDelete,
      arguments: queue.arguments,
      policy: policy?.name ?? '',
      operatorPolicy: operatorPolicy?.name ?? '',
      policyDefinition: definition ?? {},
      moving: this.tables.moves.of(queue)?.stage ?? '',
      messages: ready,
      unacknowledged,
      consumers,
      group: queue.group,
      ...members.membersOf(queue.group),
    };
  }

  async reroute(vhost: string, name: string, to: { exchange?: string; routingKey?: string }): Promise<number> {
    const { queues, version } = this.options;
    const queue = queues.find(vhost, name) ?? (await queues.found(vhost, name));
    const { deadLetterExchange, deadLetterRoutingKey } = this.tables.settings.of(queue);
    const exchange = to.exchange ?? deadLetterExchange;
    const isOwn = to.exchange === undefined;
    const refuse = (kind: Refusal, text: string): never => {
      throw new RefusedError(kind, `queue '${name}' in vhost '${vhost}' cannot be rerouted: ${text}`);
    };
    if (version() < Feature.outbox) return refuse(Refusal.notImplemented, 'there are nodes of an older program');
    if (exchange === undefined)
      return refuse(Refusal.preconditionFailed, 'it has no dead-letter exchange, so an exchange must be named');
    if (exchange !== '' && this.tables.exchange(vhost, exchange) === undefined)
      return refuse(Refusal.notFound, `no exchange '${exchange}' in vhost '${vhost}'`);
    const routingKey = to.routingKey ?? (isOwn ? deadLetterRoutingKey : undefined);
    const { count, refusal } = await this.contents.purge(queue, { vhost, queue: name, exchange, routingKey });
    if (refusal !== '') throw queueRefused(refusal, vhost, name);
    return count;
  }
}

const noKeys: readonly string[] = [];

function isAddress(routingKey: string): boolean {
  return routingKey.startsWith(replyPrefix);
}
