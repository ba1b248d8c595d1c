/**
 * A broker in memory, for unit tests of the protocols: one node, no log, no disk. It keeps to the contract of
 * `src/model/broker.ts` and lets a test hold things back: answers to wiring changes and confirms.
 */
import { Refusal, RefusedError } from '../../src/base/errors.js';
import { Phase, type Turn } from '../../src/base/turn.js';
import type { MessageParts } from '../../src/log/record.js';
import type {
  Arguments,
  Binding,
  Broker,
  ConnectionId,
  ConsumeRequest,
  DeliverySink,
  ExchangeDeclaration,
  GetRequest,
  PublishGate,
  PublishOwner,
  QueueDeclaration,
  QueueInfo,
  QueueStatus,
  Route,
  Subscription,
  Wiring,
} from '../../src/model/broker.js';
import { FakeStops } from './fake-stops.js';
import { FakeTransactions } from './fake-transactions.js';
import { noTermini } from './no-termini.js';
import type { TerminusPort } from '../../src/model/terminus/port.js';
import { FakeReplies } from './fake-replies.js';
import { type FakeHolder, FakeQueue, FakeSubscription, fakeMessage } from './fake-queue.js';

interface FakeRoute extends Route {
  addresses: string[];
  queues: FakeQueue[];
}

/** A gate that a test opens and closes. */
export class FakeGate implements PublishGate {
  closed = '';
  private readonly listeners: Set<(reason: string) => void> = new Set();

  set(reason: string): void {
    this.closed = reason;
    for (const listener of [...this.listeners]) listener(reason);
  }

  onChange(listener: (reason: string) => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => void this.listeners.delete(listener) };
  }
}

export class FakeBroker implements Broker, Wiring {
  readonly node = 'fake';
  readonly wiring: Wiring = this;
  readonly gate: FakeGate = new FakeGate();
  readonly stops: FakeStops = new FakeStops((route) => (route as FakeRoute).queues);
  readonly replies: FakeReplies = new FakeReplies();
  readonly transactions: FakeTransactions = new FakeTransactions(this);
  readonly termini: TerminusPort = noTermini;
  routingVersion = 1;
  /** Wiring changes and consumes wait for it. */
  pause: Promise<void> = Promise.resolve();
  keepsHidden = true;
  keepsAmqp10 = true;
  /** True: confirms wait for `confirm`. */
  holdConfirms = false;
  /** Publishes that are not completed: owner and tag, oldest first. */
  readonly unconfirmed: { owner: PublishOwner; tag: number }[] = [];
  readonly queues: Map<string, FakeQueue> = new Map();
  readonly exchanges: Map<string, ExchangeDeclaration> = new Map();
  /** How often `route` was asked. */
  routeCount = 0;
  readonly forgottenSinks: Set<DeliverySink> = new Set();
  private bindings: Binding[] = [];
  private readonly getHolders: Map<DeliverySink, Set<FakeHolder>> = new Map();
  private readonly turn: Turn;
  private position = 0;
  private names = 0;
  private confirmsDue = false;

  constructor(turn: Turn) {
    this.turn = turn;
    for (const [name, type] of [
      ['', 'direct'],
      ['amq.direct', 'direct'],
      ['amq.fanout', 'fanout'],
      ['amq.topic', 'topic'],
      ['amq.headers', 'headers'],
    ] as const) {
      this.exchanges.set(name, {
        vhost: '/',
        name,
        type,
        passive: false,
        durable: true,
        autoDelete: false,
        internal: false,
        arguments: {},
        connection: '',
      });
    }
  }

  hasVhost(name: string): boolean {
    return name === '/';
  }

  isTopicExchange(_vhost: string, name: string): boolean {
    return this.exchanges.get(name)?.type === 'topic';
  }

  // Wiring

  async declareExchange(declaration: ExchangeDeclaration): Promise<void> {
    await this.pause;
    const { name, type } = declaration;
    refuseDefault(name);
    const old = this.exchanges.get(name);
    if (declaration.passive) {
      if (!old) throw noExchange(name);
      return;
    }
    if (old && old.type !== type) {
      throw new RefusedError(
        Refusal.preconditionFailed,
        `inequivalent arg 'type' for exchange '${name}' in vhost '/': received '${type}' but current is '${old.type}'`,
      );
    }
    if (!old) refuseReserved('exchange', name);
    if (!old) this.exchanges.set(name, declaration);
    this.routingVersion++;
  }

  async deleteExchange(_vhost: string, name: string, options: { ifUnused: boolean }): Promise<void> {
    await this.pause;
    refuseDefault(name);
    const used = this.bindings.some((binding) => binding.source === name);
    if (options.ifUnused && used) {
      throw new RefusedError(Refusal.preconditionFailed, `exchange '${name}' in vhost '/' in use`);
    }
    this.exchanges.delete(name);
    this.bindings = this.bindings.filter((binding) => binding.source !== name);
    this.routingVersion++;
  }

  async declareQueue(declaration: QueueDeclaration): Promise<QueueInfo> {
    await this.pause;
    const name = declaration.name || `amq.gen-${++this.names}`;
    const old = this.queues.get(name);
    if (old) {
      this.checkExclusive(old, declaration.connection);
      if (!declaration.passive && old.declaration.durable !== declaration.durable) {
        throw new RefusedError(
          Refusal.preconditionFailed,
          `inequivalent arg 'durable' for queue '${name}' in vhost '/': received '${declaration.durable}' but current is '${old.declaration.durable}'`,
        );
      }
      return old.info();
    }
    if (declaration.passive) throw noQueue(name);
    refuseReserved('queue', declaration.name);
    const queue = new FakeQueue({ ...declaration, name }, this.turn);
    this.queues.set(name, queue);
    this.routingVersion++;
    return queue.info();
  }

  async deleteQueue(
    _vhost: string,
    name: string,
    options: { ifUnused: boolean; ifEmpty: boolean; connection: ConnectionId },
  ): Promise<number> {
    await this.pause;
    const queue = this.queues.get(name);
    if (!queue) return 0;
    this.checkExclusive(queue, options.connection);
    if (options.ifUnused && queue.subscriptions.length > 0) {
      throw new RefusedError(Refusal.preconditionFailed, `queue '${name}' in vhost '/' in use`);
    }
    if (options.ifEmpty && queue.readyCount > 0) {
      throw new RefusedError(Refusal.preconditionFailed, `queue '${name}' in vhost '/' not empty`);
    }
    return this.drop(queue);
  }

  async bind(binding: Binding): Promise<void> {
    await this.pause;
    refuseDefault(binding.source);
    if (!this.exchanges.has(binding.source)) throw noExchange(binding.source);
    if (binding.destinationKind === 'queue' && !this.queues.has(binding.destination))
      throw noQueue(binding.destination);
    this.bindings.push(binding);
    this.routingVersion++;
  }

  async unbind(binding: Binding): Promise<void> {
    await this.pause;
    this.bindings = this.bindings.filter(
      (old) =>
        old.source !== binding.source ||
        old.destination !== binding.destination ||
        old.destinationKind !== binding.destinationKind ||
        old.routingKey !== binding.routingKey,
    );
    this.routingVersion++;
  }

  async purgeQueue(_vhost: string, name: string, connection: ConnectionId): Promise<number> {
    await this.pause;
    const queue = this.mustFind(name, connection);
    return queue.purge();
  }

  // Messages

  route(
    _vhost: string,
    exchange: string,
    routingKey: string,
    headers: () => Arguments,
    moreKeys: readonly string[] = [],
  ): FakeRoute {
    this.routeCount++;
    const declaration = this.exchanges.get(exchange);
    if (!declaration) throw noExchange(exchange);
    if (declaration.internal) {
      throw new RefusedError(Refusal.accessRefused, `cannot publish to internal exchange '${exchange}' in vhost '/'`);
    }
    const queues = new Set<FakeQueue>();
    const keys = [routingKey, ...moreKeys];
    for (const key of keys) this.collect(exchange, key, headers, queues);
    const addresses = exchange === '' ? keys.filter((key) => this.replies.sinks.has(key)) : [];
    return {
      addresses,
      version: this.routingVersion,
      keyed: declaration.type !== 'headers' && keys.length === 1 && addresses.length === 0,
      queueCount: queues.size,
      isKnown: true,
      queues: [...queues],
    };
  }

  publish(route: FakeRoute, parts: MessageParts, owner: PublishOwner, tag: number): number {
    for (const address of route.addresses) this.replies.send(address, parts);
    if (route.queues.length === 0) return 0;
    for (const queue of route.queues) queue.enqueue(fakeMessage(parts, ++this.position));
    this.unconfirmed.push({ owner, tag });
    if (!this.holdConfirms && !this.confirmsDue) {
      this.confirmsDue = true;
      this.turn.add(Phase.log, this);
    }
    return 1;
  }

  /** Confirms the publishes with these tags, in this order; all without an argument. */
  confirm(tags: number[] = this.unconfirmed.map((entry) => entry.tag)): void {
    for (const tag of tags) {
      const index = this.unconfirmed.findIndex((entry) => entry.tag === tag);
      const [entry] = this.unconfirmed.splice(index, 1);
      entry!.owner.completed(tag);
    }
  }

  flush(): void {
    this.confirmsDue = false;
    for (const { owner, tag } of this.unconfirmed.splice(0)) owner.completed(tag);
  }

  readonly largeBytes: number = Number.POSITIVE_INFINITY;

  upload(): undefined {
    return undefined;
  }

  body(): never {
    throw new Error('there are no large messages here');
  }

  forgetPublisher(owner: PublishOwner): void {
    const kept = this.unconfirmed.filter((entry) => entry.owner !== owner);
    this.unconfirmed.splice(0, this.unconfirmed.length, ...kept);
  }

  async consume(request: ConsumeRequest): Promise<Subscription> {
    await this.pause;
    const queue = this.mustFind(request.queue, request.connection);
    const exclusive = queue.subscriptions.some((other) => other.request.exclusive);
    if (exclusive || (request.exclusive && queue.subscriptions.length > 0)) {
      throw new RefusedError(Refusal.accessRefused, `queue '${request.queue}' in vhost '/' in exclusive use`);
    }
    return new FakeSubscription(queue, request);
  }

  get(request: GetRequest): void {
    void this.pause.then(() => {
      let queue: FakeQueue;
      try {
        queue = this.mustFind(request.queue, request.connection);
      } catch (error) {
        request.failed(error as Error);
        return;
      }
      let holders = this.getHolders.get(request.sink);
      if (!holders) this.getHolders.set(request.sink, (holders = new Set()));
      queue.get(request, holders);
    });
  }

  forgetSink(sink: DeliverySink): void {
    this.forgottenSinks.add(sink);
    for (const holder of this.getHolders.get(sink) ?? []) holder.requeueAll();
    this.getHolders.delete(sink);
  }

  connectionClosed(connection: ConnectionId): void {
    for (const queue of [...this.queues.values()]) {
      if (queue.declaration.exclusive && queue.declaration.connection === connection) this.drop(queue);
    }
  }

  reroute(): Promise<number> {
    return Promise.reject(new RefusedError(Refusal.notImplemented, 'the fake broker sends nothing elsewhere'));
  }

  bindingsTo(vhost: string, kind: Binding['destinationKind'], name: string): Binding[] {
    return this.bindings.filter(
      (one) => one.vhost === vhost && one.destinationKind === kind && one.destination === name,
    );
  }

  queueStatus(_vhost: string, name: string): Promise<QueueStatus> {
    const queue = this.queues.get(name);
    if (!queue) return Promise.reject(noQueue(name));
    const { vhost, durable, exclusive, autoDelete, arguments: args } = queue.declaration;
    return Promise.resolve({
      ...queue.info(),
      vhost,
      durable,
      exclusive,
      autoDelete,
      arguments: args,
      policy: '',
      operatorPolicy: '',
      policyDefinition: {},
      moving: '',
      unacknowledged: queue.held.size,
      group: 1,
      leader: this.node,
      members: [this.node],
      online: [this.node],
    });
  }

  private collect(exchange: string, routingKey: string, headers: () => Arguments, queues: Set<FakeQueue>): void {
    if (exchange === '') {
      const queue = this.queues.get(routingKey);
      if (queue) queues.add(queue);
      return;
    }
    const type = this.exchanges.get(exchange)?.type;
    for (const binding of this.bindings) {
      if (binding.source !== exchange) continue;
      if (type === 'headers') {
        const actual = headers();
        const matches = Object.entries(binding.arguments).every(([key, value]) => actual[key] === value);
        if (!matches) continue;
      } else if (type !== 'fanout' && binding.routingKey !== routingKey) {
        continue;
      }
      if (binding.destinationKind === 'exchange') this.collect(binding.destination, routingKey, headers, queues);
      else queues.add(this.queues.get(binding.destination)!);
    }
  }

  private drop(queue: FakeQueue): number {
    this.queues.delete(queue.name);
    this.bindings = this.bindings.filter((b) => b.destinationKind !== 'queue' || b.destination !== queue.name);
    this.routingVersion++;
    for (const subscription of [...queue.subscriptions]) {
      subscription.leave();
      subscription.request.sink.cancelled(subscription, 'queue deleted');
    }
    return queue.purge();
  }

  private mustFind(name: string, connection: ConnectionId): FakeQueue {
    const queue = this.queues.get(name);
    if (!queue) throw noQueue(name);
    this.checkExclusive(queue, connection);
    return queue;
  }

  private checkExclusive(queue: FakeQueue, connection: ConnectionId): void {
    const { exclusive, connection: owner } = queue.declaration;
    if (exclusive && owner !== connection) {
      throw new RefusedError(
        Refusal.resourceLocked,
        `cannot obtain exclusive access to locked queue '${queue.name}' in vhost '/'`,
      );
    }
  }
}

function noQueue(name: string): RefusedError {
  return new RefusedError(Refusal.notFound, `no queue '${name}' in vhost '/'`);
}

function noExchange(name: string): RefusedError {
  return new RefusedError(Refusal.notFound, `no exchange '${name}' in vhost '/'`);
}

function refuseDefault(exchange: string): void {
  if (exchange === '') throw new RefusedError(Refusal.accessRefused, 'operation not permitted on the default exchange');
}

function refuseReserved(kind: string, name: string): void {
  if (!name.startsWith('amq.')) return;
  throw new RefusedError(Refusal.accessRefused, `${kind} name '${name}' contains reserved prefix 'amq.*'`);
}
