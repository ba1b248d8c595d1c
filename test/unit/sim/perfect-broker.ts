/**
 * A broker for testing the simulator: all nodes share one memory that no crash touches. With no defect planted it keeps every
 * promise, so a finding is the simulator's own fault; with one planted, the checkers must find it.
 */
import { Refusal, RefusedError } from '../../../src/base/errors.js';
import type { Defects } from './defects.js';
import { NoAccess, NoPolicies } from './no-operators.js';
import { EnqueueView, encodeEnqueue, enqueueLength, type MessageParts } from '../../../src/log/record.js';
import { delayOf } from '../../../src/model/delay/delay-header.js';
import { MapKey } from '../../../src/cluster/map.js';
import type {
  Arguments,
  Broker,
  ConsumeRequest,
  DeliverySink,
  GetRequest,
  Holder,
  PublishOwner,
  QueueDeclaration,
  QueueInfo,
  Route,
  Subscription,
  Wiring,
} from '../../../src/model/broker.js';
import { FakeStops } from '../../fakes/fake-stops.js';
import { FakeTransactions } from '../../fakes/fake-transactions.js';
import { noTermini } from '../../fakes/no-termini.js';
import { FakeReplies } from '../../fakes/fake-replies.js';
import { delayingExchange } from '../../../sim/workload/declarer.js';
import type { ProcessFactory, SimPorts, SimProcess } from '../../../sim/node-ports.js';

interface Stored {
  position: number;
  record: Uint8Array;
  redelivered: boolean;
  holder: PerfectSubscription | undefined;
  /** It waits until then. */
  due: number;
}

class Queue {
  readonly incarnation: number;
  readonly declaration: QueueDeclaration;
  readonly messages: Stored[] = [];
  readonly subscriptions = new Set<PerfectSubscription>();
  next = 0;

  constructor(incarnation: number, declaration: QueueDeclaration) {
    this.incarnation = incarnation;
    this.declaration = declaration;
  }
}

class PerfectRoute implements Route {
  readonly version: number;
  readonly isKnown = true;
  readonly queues: Queue[];
  readonly delayMs: number;

  constructor(version: number, queues: Queue[], delayMs: number) {
    this.version = version;
    this.delayMs = delayMs;
    this.queues = queues;
  }
  get keyed(): boolean {
    return this.delayMs === 0;
  }
  get queueCount(): number {
    return this.queues.length;
  }
}

/** The memory that all nodes share. */
class Memory {
  readonly queues = new Map<string, Queue>();
  readonly fanned = new Set<string>();
  readonly boots = new Map<string, number>();
  readonly defects: Partial<Defects>;
  version = 1;
  position = 1;
  nextBoot = 1;
  kept: Stored[] = [];

  constructor(defects: Partial<Defects>) {
    this.defects = defects;
  }

  queue(name: string): Queue {
    const queue = this.queues.get(name);
    if (queue === undefined) throw new RefusedError('not-found', `no queue '${name}'`);
    return queue;
  }

  remove(name: string): void {
    const queue = this.queues.get(name);
    if (queue === undefined) return;
    if (this.defects.byName === true) this.kept = queue.messages.filter((message) => message.holder === undefined);
    this.queues.delete(name);
    this.fanned.delete(name);
    this.version++;
    queue.messages.length = 0;
    for (const subscription of queue.subscriptions) subscription.sink.cancelled(subscription, 'deleted');
    queue.subscriptions.clear();
  }
}

class PerfectSubscription implements Subscription, Holder {
  readonly cookie: unknown;
  readonly sink: DeliverySink;
  readonly queue: Queue;
  readonly noAck: boolean;
  readonly node: string;
  readonly broker: PerfectBroker;
  credit: number;
  private forgotten: Stored | undefined;

  constructor(
    broker: PerfectBroker,
    queue: Queue,
    request: { sink: DeliverySink; noAck: boolean },
    cookie: unknown,
    credit: number,
  ) {
    this.broker = broker;
    this.node = broker.node;
    this.queue = queue;
    this.sink = request.sink;
    this.noAck = request.noAck;
    this.cookie = cookie;
    this.credit = credit;
  }

  ack(position: number): void {
    const message = this.take(position);
    if (message !== undefined && this.broker.defect('forgetAck')) this.forgotten = message;
  }
  requeue(position: number): void {
    const message = this.find(position);
    if (message === undefined) return;
    message.holder = undefined;
    message.redelivered = this.broker.memory.defects.unflagged !== true;
    if (this.broker.memory.defects.requeueAtEnd === true) {
      this.queue.messages.splice(this.queue.messages.indexOf(message), 1);
      this.queue.messages.push(message);
    }
    this.broker.dispatch(this.queue);
  }
  putBack(position: number): void {
    this.requeue(position);
  }
  modify(position: number): void {
    this.requeue(position);
  }
  settleTold(): void {}
  drain(): void {}
  reject(position: number): void {
    const message = this.take(position);
    if (message !== undefined) this.broker.bury(this.queue, message);
  }
  release(position: number): void {
    const message = this.find(position);
    if (message !== undefined) message.holder = undefined;
  }
  grant(count: number): void {
    this.credit += count;
    this.broker.dispatch(this.queue);
  }
  cancel(): Promise<void> {
    this.leave();
    return Promise.resolve();
  }
  close(): void {
    this.leave();
    if (this.forgotten !== undefined)
      this.queue.messages.unshift(Object.assign(this.forgotten, { holder: undefined, redelivered: true }));
    for (const message of [...this.queue.messages]) if (message.holder === this) this.requeue(message.position);
  }

  private leave(): void {
    if (!this.queue.subscriptions.delete(this)) return;
    const { declaration, subscriptions } = this.queue;
    if (declaration.autoDelete && subscriptions.size === 0) this.broker.memory.remove(declaration.name);
  }
  private find(position: number): Stored | undefined {
    return this.queue.messages.find((message) => message.position === position && message.holder === this);
  }
  private take(position: number): Stored | undefined {
    const message = this.find(position);
    if (message !== undefined) this.queue.messages.splice(this.queue.messages.indexOf(message), 1);
    return message;
  }
}

class PerfectBroker implements Broker {
  readonly node: string;
  readonly keepsHidden = true;
  readonly keepsAmqp10 = true;
  readonly wiring: Wiring;
  readonly gate = { closed: '', onChange: () => ({ close(): void {} }) };
  readonly stops = new FakeStops(() => []);
  readonly replies = new FakeReplies();
  readonly transactions = new FakeTransactions(this);
  readonly termini: Broker['termini'] = noTermini;
  readonly memory: Memory;
  private readonly ports: SimPorts;

  constructor(memory: Memory, ports: SimPorts) {
    this.memory = memory;
    this.ports = ports;
    this.node = ports.name;
    this.wiring = this.createWiring();
  }

  defect(name: keyof Defects): boolean {
    return this.memory.defects[name] === true && this.ports.random.float() < 0.05;
  }

  hasVhost(name: string): boolean {
    return name === '/';
  }
  bindingsTo(): never[] {
    return [];
  }
  isTopicExchange(): boolean {
    return false;
  }
  get routingVersion(): number {
    return this.memory.version;
  }

  route(_vhost: string, exchange: string, routingKey: string, headers: () => Arguments = () => ({})): Route {
    const delayMs = exchange === delayingExchange ? delayOf(headers()) : 0;
    const bound = delayMs > 0 ? ['late'] : [...this.memory.fanned];
    const names = exchange === '' ? [routingKey] : bound;
    const queues = names.map((name) => this.memory.queues.get(name)).filter((queue) => queue !== undefined);
    return new PerfectRoute(this.memory.version, queues, delayMs);
  }

  publish(route: Route, parts: MessageParts, owner: PublishOwner, tag: number): number {
    const record = new Uint8Array(enqueueLength(parts, 1));
    encodeEnqueue(record, new DataView(record.buffer), 0, parts, [0], false, 0, 0);
    const { queues, delayMs } = route as PerfectRoute;
    for (const queue of queues) this.store(queue, record, this.ports.clock.wall() + delayMs);
    this.ports.clock.after(1, () => owner.completed(tag));
    return 1;
  }

  private store(queue: Queue, record: Uint8Array, due: number): void {
    if (this.defect('lose')) return;
    for (let copies = this.defect('double') ? 2 : 1; copies > 0; copies--) {
      const message = { position: this.memory.position++, record, redelivered: false, holder: undefined, due };
      const last = queue.messages.at(-1);
      if (this.defect('misorder') && last !== undefined && last.holder === undefined) {
        queue.messages.splice(-1, 0, message);
        [message.position, last.position] = [last.position, message.position];
      } else queue.messages.push(message);
    }
    this.dispatch(queue);
  }

  /** What is rejected goes where its queue says, over the default exchange. */
  bury({ declaration }: Queue, message: Stored): void {
    const to = this.memory.queues.get(String(declaration.arguments['x-dead-letter-routing-key'] ?? ''));
    if (to === undefined) return;
    to.messages.push({ ...message, position: this.memory.position++, redelivered: false, holder: undefined });
    this.dispatch(to);
  }

  /** In a later event, so that nobody is called while it calls. */
  dispatch(queue: Queue): void {
    this.ports.clock.after(0.1, () => this.dispatchNow(queue));
  }

  private dispatchNow(queue: Queue): void {
    const now = this.ports.clock.wall();
    let next = Number.POSITIVE_INFINITY;
    for (const message of [...queue.messages]) {
      if (message.holder !== undefined) continue;
      if (message.due > now) {
        next = Math.min(next, message.due);
        continue;
      }
      const ready = [...queue.subscriptions].filter(
        (candidate) => candidate.credit > 0 && candidate.node === this.node,
      );
      const subscription = ready[queue.next++ % Math.max(1, ready.length)];
      if (subscription === undefined) return;
      this.send(queue, subscription, message);
      const second = ready.find((candidate) => candidate !== subscription);
      if (second !== undefined && this.defect('twoHolders')) {
        message.redelivered = true;
        this.send(queue, second, message);
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.ports.clock.after(next - now, () => this.dispatchNow(queue));
  }

  private send(queue: Queue, subscription: PerfectSubscription, message: Stored): void {
    subscription.credit--;
    if (subscription.noAck) queue.messages.splice(queue.messages.indexOf(message), 1);
    else message.holder = subscription;
    subscription.sink.deliver(subscription, message.position, message.redelivered, view(message.record), 0);
  }

  readonly largeBytes: number = Number.POSITIVE_INFINITY;
  upload(): undefined {
    return undefined;
  }
  body(): never {
    throw new Error('there are no large messages here');
  }

  forgetPublisher(): void {}

  consume(request: ConsumeRequest): Promise<Subscription> {
    const queue = this.memory.queues.get(request.queue);
    if (queue === undefined) return Promise.reject(new RefusedError('not-found', `no queue '${request.queue}'`));
    const subscription = new PerfectSubscription(this, queue, request, request.cookie, request.credit);
    queue.subscriptions.add(subscription);
    this.dispatch(queue);
    return Promise.resolve(subscription);
  }

  get(request: GetRequest): void {
    const queue = this.memory.queues.get(request.queue);
    if (queue === undefined) {
      request.failed(new RefusedError('not-found', `no queue '${request.queue}'`));
      return;
    }
    const now = this.ports.clock.wall();
    const message = queue.messages.find((candidate) => candidate.holder === undefined && candidate.due <= now);
    if (message === undefined) {
      request.empty();
      return;
    }
    const holder = new PerfectSubscription(this, queue, request, undefined, 0);
    if (request.noAck) queue.messages.splice(queue.messages.indexOf(message), 1);
    else message.holder = holder;
    request.got(view(message.record), message.position, message.redelivered, queue.messages.length, holder, 0);
  }

  forgetSink(sink: DeliverySink): void {
    for (const queue of this.memory.queues.values()) {
      for (const message of queue.messages) if (message.holder?.sink === sink) message.holder.requeue(message.position);
    }
  }

  connectionClosed(connection: string): void {
    for (const queue of [...this.memory.queues.values()]) {
      const { exclusive, name } = queue.declaration;
      if (exclusive && queue.declaration.connection === connection) this.memory.remove(name);
    }
  }

  /** The life before this one is over: what its clients held comes again. */
  reap(): void {
    for (const queue of [...this.memory.queues.values()]) {
      for (const subscription of [...queue.subscriptions]) if (subscription.node === this.node) subscription.close();
      for (const message of queue.messages)
        if (message.holder?.node === this.node) message.holder.requeue(message.position);
      if (queue.declaration.exclusive && queue.declaration.connection.startsWith(`${this.node}/`))
        this.memory.remove(queue.declaration.name);
    }
  }

  async reroute(): Promise<never> {
    throw new RefusedError(Refusal.notImplemented, 'nothing is sent elsewhere');
  }
  async queueStatus(_vhost: string, name: string): Promise<never> {
    this.memory.queue(name);
    return {} as never;
  }

  private createWiring(): Wiring {
    const { memory } = this;
    return {
      declareExchange: async () => {},
      deleteExchange: async () => {},
      declareQueue: async (declaration): Promise<QueueInfo> => {
        if (this.defect('hang')) return new Promise(() => {});
        if (!declaration.passive && !memory.queues.has(declaration.name)) {
          const queue = new Queue(memory.position++, declaration);
          memory.queues.set(declaration.name, queue);
          memory.version++;
          queue.messages.push(...memory.kept);
          memory.kept = [];
        }
        return { name: declaration.name, messages: memory.queue(declaration.name).messages.length, consumers: 0 };
      },
      deleteQueue: async (_vhost, name) => {
        memory.remove(name);
        return 0;
      },
      bind: async (binding) => {
        memory.queue(binding.destination);
        if (binding.source === 'fan') memory.fanned.add(binding.destination);
        memory.version++;
      },
      unbind: async (binding) => {
        memory.queue(binding.destination);
      },
      purgeQueue: async (_vhost, name) => {
        const queue = memory.queue(name);
        const ready = queue.messages.filter((message) => message.holder === undefined);
        for (const message of ready) queue.messages.splice(queue.messages.indexOf(message), 1);
        return ready.length;
      },
    };
  }
}

function view(record: Uint8Array): EnqueueView {
  const copy = record.slice();
  return new EnqueueView().set(copy, new DataView(copy.buffer), 0);
}

/** A factory for the nodes of one world. */
export function perfectBrokers(defects: Partial<Defects> = {}): ProcessFactory {
  const memory = new Memory(defects);
  return (ports): SimProcess => {
    const broker = new PerfectBroker(memory, ports);
    const boot = memory.nextBoot++;
    memory.boots.set(ports.name, boot);
    return {
      broker,
      policies: new NoPolicies() as unknown as SimProcess['policies'],
      access: new NoAccess() as unknown as SimProcess['access'],
      start: async () => {
        broker.reap();
        ports.clock.every(50, () => void register(ports, memory).catch(() => {}));
        ports.clock.every(5, () => {
          for (const queue of memory.queues.values()) broker.dispatch(queue);
        });
        await new Promise<void>((resolve) => {
          ports.clock.after(5, resolve);
        });
      },
      stop: () => Promise.resolve(),
      operator: {
        override: () => Promise.resolve('nobody waits'),
        forget: () => Promise.resolve('everybody is needed'),
        transfer: () => Promise.resolve(),
        transferReplica: () => Promise.resolve(),
        drain: () => Promise.resolve(),
        revive: () => Promise.resolve(),
      },
      probe: {
        boot,
        ready: true,
        broken: '',
        groups: () =>
          Array.from({ length: ports.options.groups + 1 }, (_, group) => ({
            group,
            role: ports.name === 'n1' ? 'primary' : 'backup',
            epoch: memory.boots.get('n1') ?? 0,
            settled: true,
          })),
        logEnd: () => 0,
        attachedEpoch: () => 1,
        attachment: () => undefined,
        moves: () => [],
        delayGroup: () => 1,
        groupOf: (_vhost, name) => (memory.queues.has(name) ? 1 : -1),
        incarnationOf: (_vhost, name) => memory.queues.get(name)?.incarnation ?? 0,
        queues: () =>
          [...memory.queues.values()].map(({ incarnation, declaration, messages }) => ({
            incarnation,
            durable: declaration.durable,
            positions: messages.map((message) => message.position),
            returns: '',
          })),
        hasQueue: (_group, incarnation) =>
          [...memory.queues.values()].some((queue) => queue.incarnation === incarnation),
        has: (_group, incarnation, position) =>
          [...memory.queues.values()].some(
            (queue) =>
              queue.incarnation === incarnation && queue.messages.some((message) => message.position === position),
          ),
        wiring: () => [...memory.queues.keys()].sort().map((name) => JSON.stringify({ name })),
        owed: () => 0,
        residue: () => ({}),
      },
    };
  };
}

/** Group records that say that all is well: every node in sync in its present boot. */
async function register(ports: SimPorts, memory: Memory): Promise<void> {
  const known = await ports.coordinator.read('groups/');
  const inSync = [...memory.boots].map(([node, boot]) => ({ node, store: node, boot }));
  for (let group = 0; group <= ports.options.groups; group++) {
    const entry = known.find((candidate) => candidate.key === MapKey.group(group));
    const boot = memory.boots.get('n1') ?? 0;
    const primary = { node: 'n1', store: 'n1', boot };
    const record = { group, epoch: boot, primary, inSync, replicas: [...memory.boots.keys()] };
    const value = JSON.stringify(record);
    if (entry?.value !== value)
      await ports.coordinator.swap([{ key: MapKey.group(group), expect: entry?.version ?? 0, value }]);
  }
}
