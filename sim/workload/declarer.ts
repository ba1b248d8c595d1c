import { Refusal } from '../../src/base/errors.js';
import { protocolVersions } from '../../src/base/versions.js';
import type { Arguments } from '../../src/model/broker.js';
import type { Session } from '../client/session.js';
import { QueueLife } from '../history.js';
import { lostWithReplicas } from '../survivors.js';
import { plainKind, type QueueKind } from '../queue-kind.js';
import type { SimWorld } from '../world.js';
import { Actor, type Settled } from './actor.js';

export interface QueuePlan {
  name: string;
  durable: boolean;
  /** Bound to the fan-out exchange. */
  fanned: boolean;
  arguments: Arguments;
  /** By its arguments or by policies it is, or may be, `confirm: replicated`. */
  relaxed?: boolean;
  /** It moves between groups. */
  moves?: boolean;
  /** What leaves it unconsumed goes to a queue with `isGrave`, to which nobody publishes. */
  dies?: boolean;
  isGrave?: boolean;
  /** Messages come to it by way of an exchange that delays them. */
  isLate?: boolean;
  /** It has publishers and consumers of its own. */
  isApart?: boolean;
  /** What it does besides, with its arguments. */
  kind?: QueueKind;
  /** Exchanges that lead to it, and by which keys. */
  bindings?: readonly [source: string, routingKey: string][];
}

export interface ExchangePlan {
  name: string;
  type: string;
  arguments: Arguments;
}

export const fanoutExchange = 'fan';
/** To which the queues are bound that are late. */
export const delayingExchange = 'wait';

/** Of bindings: they go with the boot of the node through which they were made (checkers/wiring-equal.ts). */
const briefly: Arguments = { 'x-replicate': 'none' };

function declaration(
  { name, durable, arguments: args }: Pick<QueuePlan, 'name' | 'durable' | 'arguments'>,
  session: Session,
): Parameters<Session['broker']['wiring']['declareQueue']>[0] {
  return {
    vhost: '/',
    name,
    passive: false,
    durable,
    exclusive: false,
    autoDelete: false,
    arguments: args,
    connection: session.id,
  };
}

/** Declares what the others use, again and again as careful clients do, and asks about it. */
export class Declarer extends Actor {
  private readonly plans: readonly QueuePlan[];
  /** Besides those that are always there. */
  readonly exchanges: ExchangePlan[] = [];
  /** All nodes have always spoken the newest version: bindings may go with a boot. */
  private mayGoWithBoot = false;

  constructor(world: SimWorld, name: string, plans: readonly QueuePlan[]) {
    super(world, name);
    this.plans = plans;
  }

  /** Everything is declared when this resolves. */
  async setUp(): Promise<void> {
    this.mayGoWithBoot = this.world.nodes.every((node) => node.versions.max === protocolVersions.max);
    await this.declareExchange(fanoutExchange, 'fanout', {});
    if (this.plans.some(({ isLate }) => isLate === true))
      await this.declareExchange(delayingExchange, 'x-delayed-message', { 'x-delayed-type': 'fanout' });
    for (const exchange of this.exchanges) await this.declareExchange(exchange.name, exchange.type, exchange.arguments);
    for (const plan of this.plans) {
      const life = new QueueLife(plan.name, 1, { ...plan, exclusive: false, autoDelete: false }, this.world.loop.now);
      life.relaxed = plan.relaxed === true;
      life.moves = plan.moves === true;
      life.dies = plan.dies === true;
      life.isGrave = plan.isGrave === true;
      life.isLate = plan.isLate === true;
      life.kind = plan.kind ?? plainKind;
      if (life.isGrave) life.publishExcuse = 'comes by dying';
      this.world.history.queue(life);
      await this.declare(plan);
    }
  }

  private async declareExchange(name: string, type: string, args: Arguments): Promise<void> {
    await this.insist(`declare exchange ${name}`, (session) =>
      session.broker.wiring.declareExchange({
        vhost: '/',
        name,
        type,
        passive: false,
        durable: true,
        autoDelete: false,
        internal: false,
        arguments: args,
        connection: session.id,
      }),
    );
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      await this.sleep(50, 600);
      await this.random.pick([this.redeclare, this.ask, this.askForNothing, this.bindAndUnbind]).call(this);
    }
    this.disconnect();
  }

  /** What was not durable may have been lost with all its replicas: clients that need it declare it again. */
  async declare(plan: QueuePlan): Promise<void> {
    const life = this.world.history.newestLife(plan.name)!;
    const startedAt = this.world.loop.now;
    const outcome = await this.insist(`declare ${plan.name}`, (session) =>
      session.broker.wiring.declareQueue(declaration(plan, session)),
    );
    if (outcome.kind === 'refused') this.world.fail('declarations', `declare ${plan.name}: ${outcome.error.message}`);
    if (plan.fanned) await this.bindTo(fanoutExchange, plan.name);
    if (plan.isLate === true) await this.bindTo(delayingExchange, plan.name);
    for (const [source, routingKey] of plan.bindings ?? []) await this.bindTo(source, plan.name, routingKey);
    life.declaredAt = this.world.loop.now;
    if (life.publishExcuse === lostWithReplicas && life.lostAt < startedAt) life.publishExcuse = '';
  }

  private async bindTo(source: string, queue: string, routingKey: string = ''): Promise<void> {
    const binding = { vhost: '/', source, destination: queue, routingKey, arguments: {} } as const;
    const outcome = await this.insist(`bind ${queue}`, (session) =>
      session.broker.wiring.bind({ ...binding, destinationKind: 'queue' }, session.id),
    );
    this.refusedOnlyIfLost(outcome, queue);
  }

  private refusedOnlyIfLost(outcome: Settled<unknown>, queue: string): void {
    if (outcome.kind === 'ok') return;
    const life = this.world.history.newestLife(queue)!;
    if (life.publishExcuse === '')
      this.world.fail('declarations', `${queue} is declared, but: ${outcome.error.message}`);
  }

  private async redeclare(): Promise<void> {
    await this.declare(this.random.pick(this.plans));
  }

  private async ask(): Promise<void> {
    const plan = this.random.pick(this.plans);
    const outcome = await this.insist(`status of ${plan.name}`, (session) =>
      this.random.chance(0.5)
        ? session.broker.queueStatus('/', plan.name)
        : session.broker.wiring.declareQueue({ ...declaration(plan, session), passive: true }),
    );
    this.refusedOnlyIfLost(outcome, plan.name);
  }

  private async askForNothing(): Promise<void> {
    const outcome = await this.insist('passive declaration of a queue that does not exist', (session) =>
      session.broker.wiring.declareQueue({
        ...declaration({ name: 'no-such-queue', durable: true, arguments: {} }, session),
        passive: true,
      }),
    );
    if (outcome.kind === 'ok') this.world.fail('declarations', 'a queue that nobody declared exists');
  }

  private async bindAndUnbind(): Promise<void> {
    const plan = this.random.pick(this.plans);
    const number = this.random.int(3);
    const key = `key.${number}`;
    const isBrief = number === 2 && this.mayGoWithBoot;
    const binding = {
      vhost: '/',
      source: 'amq.topic',
      destination: plan.name,
      routingKey: key,
      arguments: isBrief ? briefly : {},
    } as const;
    for (const verb of ['bind', 'unbind'] as const) {
      const outcome = await this.insist(`${verb} ${plan.name} by ${key}`, (session) =>
        session.broker.wiring[verb]({ ...binding, destinationKind: 'queue' }, session.id),
      );
      // Said through a node that the others have given up.
      const isTooLate = isBrief && outcome.kind === 'refused' && outcome.error.kind === Refusal.notAllowed;
      if (!isTooLate) this.refusedOnlyIfLost(outcome, plan.name);
      if (outcome.kind === 'refused') return;
      if (this.random.chance(0.3)) return;
    }
  }
}
