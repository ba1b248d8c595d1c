/** The clients of one run: a few queues of every kind, and actors that use them through any node. */
import type { SimRandom } from './random.js';
import type { QueueKind } from './queue-kind.js';
import type { SimWorld } from './world.js';
import type { Actor } from './workload/actor.js';
import { ConsumingClient, type ConsumerStyle } from './workload/consumer.js';
import { Feature, protocolVersions } from '../src/base/versions.js';
import type { Arguments } from '../src/model/broker.js';
import { Declarer, delayingExchange, fanoutExchange, type QueuePlan } from './workload/declarer.js';
import { drawKinds, kindMessages, type KindLoad, type KindName } from './workload/kinds.js';
import { MovePolicies } from './workload/move-policies.js';
import { PolicyMaker } from './workload/policy-maker.js';
import { Publisher, type Target } from './workload/publisher.js';
import { Warden } from './workload/warden.js';
import { Transactor, transactionInput, transactionOutputs } from './workload/transactor.js';
import { ResumedBook, ResumingPublisher, ResumingWorker } from './workload/resumer.js';
import { Getter, Loner, Purger, Recycler } from './workload/spoilers.js';

export interface WorkloadOptions {
  /** Messages to be published, all publishers together. */
  messages: number;
  /** For so long, about. */
  durationMs: number;
  /** How all consumers are; what is left out is drawn for each. */
  consumers?: Partial<ConsumerStyle>;
  /** There is a queue that is deleted and declared again all the time; without it there may be one. */
  recycles?: boolean;
  /** Policies come and go; without it they do in some runs. */
  policies?: boolean;
  /** There is a queue with `confirm: replicated`; without it there may be one. */
  relaxed?: boolean;
  /** There are queues with numbers of replicas of their own; without it there may be some. */
  sized?: boolean;
  /** There is a queue that moves between groups, as its policy changes; without it there may be one. */
  moves?: boolean;
  /** There is a queue whose messages die, and one where they go; without it there may be. */
  deaths?: boolean;
  /** Users and vhosts come and go; without it they do in some runs. */
  access?: boolean;
  /** There is an exchange that has messages wait for their time; without it there may be. */
  delays?: boolean;
  /** There is a queue that has publishers wait; without it there may be. */
  flows?: boolean;
  /** Some clients work in transactions; without it they do in some runs. */
  transactions?: boolean;
  /** Some clients resume their links; without it they do in some runs. */
  resumes?: boolean;
  /** Which queues there are that do something besides; without it the seed says it. */
  kinds?: readonly KindName[];
}

const draining: ConsumerStyle = {
  noAck: false,
  requeue: 0.1,
  reject: 0,
  keep: 0,
  thinkMs: 1,
  lifeMs: Number.POSITIVE_INFINITY,
};

type Running = { actor: Actor; done: Promise<void>; over: boolean };

export class Workload {
  readonly queues: QueuePlan[] = [];
  private kinds: readonly KindLoad[] = [];
  private readonly world: SimWorld;
  private readonly random: SimRandom;
  private readonly settings: SimRandom;
  private readonly options: WorkloadOptions;
  private readonly declarer: Declarer;
  /** The queue that some clients take from without acknowledgement; '' = none. */
  private readonly withoutAck: string;
  private readonly producing: Running[] = [];
  private readonly consuming: Running[] = [];

  constructor(world: SimWorld, options: WorkloadOptions) {
    this.world = world;
    this.options = options;
    this.random = world.random.fork('workload');
    this.settings = world.random.fork('settings of queues');
    this.queues.push(
      { name: 'durable-1', durable: true, fanned: true, arguments: {} },
      { name: 'durable-2', durable: true, fanned: false, arguments: this.ownSettings('durable-2') },
    );
    this.queues.push({ name: 'transient', durable: false, fanned: true, arguments: {} });
    if (this.random.chance(0.3)) this.queues.push({ name: 'purged', durable: true, fanned: false, arguments: {} });
    if (this.random.chance(0.4) || options.recycles === true)
      this.queues.push({ name: 'recycled', durable: this.random.chance(0.5), fanned: false, arguments: {} });
    if (options.relaxed ?? this.settings.chance(0.35)) this.queues.push(this.relaxedQueue());
    this.withoutAck = this.random.chance(0.25) ? this.random.pick(this.queues).name : '';
    this.declarer = new Declarer(world, 'declarer', this.queues);
  }

  /** Sometimes it is so by a policy only, which may come and go. */
  private relaxedQueue(): QueuePlan {
    const plan = { name: 'relaxed', durable: true, fanned: true, relaxed: true };
    const isByArgument = this.options.relaxed === true || this.settings.chance(0.5);
    return { ...plan, arguments: isByArgument ? { 'x-confirm': 'replicated' } : {} };
  }

  /** Queues in groups of another size: they are made when such a queue is declared. */
  private addSized(): void {
    const add = (name: string, replicas: number, args: Arguments): void => {
      this.queues.push({ name, durable: true, fanned: this.settings.chance(0.5), arguments: args });
      this.world.settings.replicas.set(name, replicas);
    };
    if (this.options.sized ?? this.settings.chance(0.25)) add('two', 2, { 'x-replicas': 2 });
    if (this.options.sized ?? this.settings.chance(0.25)) add('home', 1, { 'x-replicate': 'none' });
  }

  private addMoving(): void {
    const random = this.world.random.fork('queues that move');
    if (!(this.options.moves ?? random.chance(0.25))) return;
    this.queues.push({ name: 'moving', durable: true, fanned: random.chance(0.5), arguments: {}, moves: true });
  }

  private addDeaths(): void {
    const random = this.world.random.fork('queues where messages die');
    if (this.world.nodes.some((node) => node.versions.max < Feature.outbox)) return;
    if (!(this.options.deaths ?? random.chance(0.25))) return;
    const to = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'grave' };
    const ttlMs = random.pick([1, 20, 200]);
    const returnsMax = random.int(3);
    const ways: readonly [Arguments, QueueKind][] = [
      [{ 'x-message-ttl': ttlMs }, { ttlMs }],
      [{ 'x-max-length': random.int(4) }, {}],
      [{ 'x-delivery-limit': returnsMax }, { returnsMax }],
      [{}, {}],
    ];
    const [how, kind] = random.pick(ways);
    this.queues.push({ name: 'mortal', durable: true, fanned: false, arguments: { ...to, ...how }, dies: true, kind });
    // With another number of replicas it is in another group.
    const isApart = random.chance(0.7);
    if (isApart) this.world.settings.replicas.set('grave', 2);
    const where: Arguments = isApart ? { 'x-replicas': 2 } : {};
    this.queues.push({ name: 'grave', durable: true, fanned: false, arguments: where, isGrave: true });
  }

  private addDelays(): void {
    const random = this.world.random.fork('messages that wait');
    if (this.options.delays ?? random.chance(0.25))
      this.queues.push({ name: 'late', durable: true, fanned: false, arguments: {}, isLate: true });
  }

  /** Publishers wait for a queue that is too full, until consumers have made room. */
  private addFlows(): void {
    const random = this.world.random.fork('publishers that wait');
    if (this.world.nodes.some((node) => node.versions.max < Feature.flows)) return;
    if (!(this.options.flows ?? random.chance(0.2))) return;
    const stop = 1 + random.int(5);
    const args = { 'x-flow-stop-count': stop, 'x-flow-resume-count': 1 + random.int(stop) };
    this.queues.push({ name: 'limited', durable: random.chance(0.7), fanned: random.chance(0.5), arguments: args });
  }

  private addTransactions(): void {
    const random = this.world.random.fork('transactions');
    if (this.world.nodes.some((node) => node.versions.max < Feature.transactions)) return;
    if (!(this.options.transactions ?? random.chance(0.2))) return;
    for (const name of [transactionInput, ...transactionOutputs])
      this.queues.push({ name, durable: true, fanned: false, arguments: {} });
  }

  private addKinds(): void {
    this.kinds = drawKinds(this.world, this.options.kinds);
    for (const { queues, exchanges } of this.kinds) {
      this.queues.push(...queues);
      this.declarer.exchanges.push(...exchanges);
    }
  }

  /** Arguments that go before policies. */
  private ownSettings(queue: string): Arguments {
    if (!this.settings.chance(0.3)) return {};
    const minInSync = 1 + this.settings.int(2);
    this.world.settings.minInSync.set(queue, minInSync);
    return { 'x-min-in-sync': minInSync };
  }

  /** Declares everything. */
  setUp(): Promise<void> {
    if (this.world.nodes.every((node) => node.versions.max >= protocolVersions.max)) {
      this.addSized();
      this.addMoving();
      this.addDeaths();
      this.addDelays();
      this.addFlows();
      this.addTransactions();
      this.addKinds();
    }
    return this.declarer.setUp();
  }

  /** Sets all clients going. */
  start(): void {
    const { world, random } = this;
    const { durationMs } = this.options;
    const messages = this.options.messages - kindMessages * this.kinds.length;
    const publishers = 2 + random.int(3);
    for (let i = 1; i <= publishers; i++) {
      const targets = this.targets();
      this.produce(new Publisher(world, `pub${i}`, targets, Math.ceil(messages / publishers), durationMs));
    }
    this.produce(this.declarer);
    if (this.options.policies ?? this.settings.chance(0.5)) this.produce(new PolicyMaker(world, 'policies'));
    // Sometimes queues fill before anyone consumes.
    const late = random.pick([0, 0, 400, 1000]);
    const common = this.queues.filter(({ isApart }) => isApart !== true);
    for (const plan of common) {
      const { name } = plan;
      if (name === transactionInput) continue;
      const redeclare = (): Promise<void> => this.declarer.declare(plan);
      const count = 1 + random.int(2);
      for (let i = 1; i <= count; i++)
        this.consume(new ConsumingClient(world, `con-${name}-${i}`, name, this.style(name), redeclare), late);
    }
    for (const kind of this.kinds) this.startKind(kind, late);
    const got = random.pick(common).name;
    this.produce(new Getter(world, 'getter', got, got === this.withoutAck));
    if (this.mayChangeAccess()) this.produce(new Warden(world, 'warden'));
    if (this.has('purged')) this.produce(new Purger(world, 'purger', 'purged'));
    if (this.has('moving')) this.produce(new MovePolicies(world, 'moves', 'moving'));
    if (this.has('recycled')) this.produce(new Recycler(world, 'recycler', 'recycled'));
    if (this.has(transactionInput))
      for (let i = 1; i <= 2; i++) this.consume(new Transactor(world, `transactor${i}`), late);
    if (this.haveLinksResumed()) this.resume();
    if (random.chance(0.4)) this.produce(new Loner(world, 'exclusive', true));
    if (random.chance(0.4)) this.produce(new Loner(world, 'auto-delete', false));
  }

  private startKind({ queues, targets, consumers, isGot, clients }: KindLoad, late: number): void {
    const { world, options } = this;
    for (const client of clients(world)) this.produce(client);
    const [first] = queues;
    if (first === undefined) return;
    this.produce(new Publisher(world, `pub-${first.name}`, targets, kindMessages, options.durationMs));
    for (const { name } of queues)
      for (const [i, style] of consumers.entries()) {
        const whole = { ...this.style(name), noAck: false, ...style };
        this.consume(new ConsumingClient(world, `con-${name}-${i + 1}`, name, whole), late);
      }
    if (isGot) this.produce(new Getter(world, `getter-${first.name}`, first.name, false));
  }

  private haveLinksResumed(): boolean {
    const { nodes, random } = this.world;
    if (nodes.some((node) => node.versions.max < Feature.amqp10)) return false;
    return this.options.resumes ?? random.fork('links that are resumed').chance(0.15);
  }

  private resume(): void {
    const book = new ResumedBook();
    const count = this.options.resumes === true ? 200 : 40;
    this.produce(new ResumingPublisher(this.world, 'resuming-pub', book, count));
    this.consume(new ResumingWorker(this.world, 'resuming-worker', book));
  }

  private mayChangeAccess(): boolean {
    const { nodes, random } = this.world;
    if (nodes.some((node) => node.versions.max < Feature.access)) return false;
    return this.options.access ?? random.fork('users').chance(0.25);
  }

  /** One more publisher, with `count` messages for a durable queue. */
  topUp(count: number): void {
    const target = { exchange: '', routingKey: 'durable-1', queues: ['durable-1'] };
    this.produce(new Publisher(this.world, 'pub-rest', [target], count, 1000));
  }

  /** Nothing new from now on. Clients end when what they began has been answered. */
  stopProducing(): void {
    for (const { actor } of this.producing) actor.stop();
  }

  stopConsuming(): void {
    for (const { actor } of this.consuming) actor.stop();
  }

  /** New consumers that take everything, through all nodes. */
  drain(): void {
    this.consuming.length = 0;
    for (const { name } of this.queues) {
      const { drains = [{}, {}] } = this.kinds.find(({ queues }) => queues.some((queue) => queue.name === name)) ?? {};
      for (const [i, style] of drains.entries())
        this.consume(new ConsumingClient(this.world, `drain-${name}-${i + 1}`, name, { ...draining, ...style }));
    }
  }

  /** '' or which clients have not ended. */
  stillProducing(): string {
    return this.running(this.producing);
  }

  stillConsuming(): string {
    return this.running(this.consuming);
  }

  private running(list: readonly Running[]): string {
    return list
      .filter((entry) => !entry.over)
      .map((entry) => entry.actor.toString())
      .join('; ');
  }

  private has(queue: string): boolean {
    return this.queues.some((plan) => plan.name === queue);
  }

  private produce(actor: Actor & { run(): Promise<void> }): void {
    this.producing.push(this.launch(actor));
  }

  private consume(actor: Actor & { run(): Promise<void> }, delayMs = 0): void {
    this.consuming.push(this.launch(actor, delayMs));
  }

  private launch(actor: Actor & { run(): Promise<void> }, delayMs = 0): Running {
    const done = delayMs === 0 ? actor.run() : this.world.loop.sleep(delayMs).then(() => actor.run());
    const running: Running = { actor, done, over: false };
    running.done.then(
      () => {
        running.over = true;
      },
      (error: unknown) => this.world.fault(error, actor.name),
    );
    return running;
  }

  /** Some of the queues, directly or through the fan-out. */
  private targets(): Target[] {
    const targets: Target[] = this.queues
      .filter(({ isGrave, isLate, isApart }) => isGrave !== true && isLate !== true && isApart !== true)
      .map(({ name, dies }) => ({ exchange: '', routingKey: name, queues: dies === true ? [name, 'grave'] : [name] }));
    if (this.has('late'))
      targets.push({ exchange: delayingExchange, routingKey: 'any', queues: ['late'], delays: true });
    const fanned = this.queues.filter((queue) => queue.fanned).map((queue) => queue.name);
    targets.push({ exchange: fanoutExchange, routingKey: 'any', queues: fanned });
    return this.random.shuffle(targets).slice(0, 1 + this.random.int(targets.length));
  }

  private style(queue: string): ConsumerStyle {
    const { random } = this;
    return {
      noAck: this.withoutAck === queue && random.chance(0.5),
      requeue: random.pick([0, 0.05, 0.3]),
      reject: queue === 'mortal' ? 0.5 : random.pick([0, 0.02]),
      keep: random.pick([0, 0.05, 0.2]),
      thinkMs: random.pick([0, 5, 50]),
      lifeMs: random.pick([500, 3000, 20_000]),
      ...this.options.consumers,
    };
  }
}
