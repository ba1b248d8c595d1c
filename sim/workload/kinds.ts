/**
 * Queues that do more than keep what they are given: for each kind its queues, who publishes there and who consumes. A run has a few
 * of them; each has publishers and consumers of its own, for whom the checkers know what to expect.
 */
import { Feature } from '../../src/base/versions.js';
import type { Arguments } from '../../src/model/broker.js';
import { keyHeader } from '../client/message.js';
import { type Labels, noLabels, plainKind, type QueueKind } from '../queue-kind.js';
import type { SimRandom } from '../random.js';
import type { SimWorld } from '../world.js';
import type { Actor } from './actor.js';
import type { ConsumerStyle } from './consumer.js';
import { Correspondent } from './correspondent.js';
import type { ExchangePlan, QueuePlan } from './declarer.js';
import { smallPadding, type Target } from './publisher.js';
import { Tenant } from './tenant.js';

/** One kind in a run. */
export interface KindLoad {
  readonly queues: readonly QueuePlan[];
  readonly exchanges: readonly ExchangePlan[];
  /** Where its publisher sends. */
  readonly targets: readonly Target[];
  /** Of each of its queues: what its consumers are like. One for each. */
  readonly consumers: readonly Partial<ConsumerStyle>[];
  /** The same for those that drain it in the end. */
  readonly drains: readonly Partial<ConsumerStyle>[];
  /** Somebody gets messages, too. */
  readonly isGot: boolean;
  /** Who else uses it. */
  readonly clients: (world: SimWorld) => readonly (Actor & { run(): Promise<void> })[];
}

const nobody = (): readonly [] => [];
const noLoad: KindLoad = {
  ...{ queues: [], exchanges: [], targets: [], consumers: [], drains: [], isGot: false, clients: nobody },
};

/** Messages for each kind. */
export const kindMessages = 24;
/** Bytes of a small message's body, as queues count them. */
const bodyBytes = 6 + smallPadding;
const ownRestMs = 1500;

const makers = {
  /** Priorities. */
  rank(random: SimRandom): KindLoad {
    const priorityMax = random.pick([1, 3, 9]);
    const labels = (one: SimRandom): Labels => ({ ...noLabels, priority: one.int(5) });
    const style = { credit: 1, thinkMs: random.pick([0, 20, 100]), restMs: ownRestMs };
    const consumers = [style, style].slice(random.int(2));
    return load(
      'rank',
      { 'x-max-priority': priorityMax },
      { priorityMax },
      { labels, consumers, drains: [{ credit: 1 }] },
    );
  },
  /** Groups of messages. */
  clan(random: SimRandom): KindLoad {
    const labels = (one: SimRandom): Labels => ({ ...noLabels, key: one.int(4) });
    const consumer = (): Partial<ConsumerStyle> => ({ credit: random.pick([1, 2, 5]), keep: 0.2, lifeMs: 1500 });
    const parts = { labels, consumers: [consumer(), consumer(), consumer()], isGot: random.chance(0.3) };
    return load('clan', { 'x-group-key': keyHeader }, { isGrouped: true }, parts);
  },
  /** The newest message of each key. */
  last(random: SimRandom): KindLoad {
    const labels = (one: SimRandom): Labels => ({ ...noLabels, key: 1 + one.int(4) });
    const consumers = [{ credit: random.pick([1, 2, 5]), keep: 0.4, requeue: 0.3, lifeMs: 500, restMs: ownRestMs }];
    return load('last', { 'x-last-value-key': keyHeader }, { keepsNewest: true }, { labels, consumers });
  },
  /** The newest messages, so many. */
  ring(random: SimRandom): KindLoad {
    const lengthMax = random.pick([1, 3, 5]);
    const consumers = [{ keep: 0.2, requeue: 0.3, lifeMs: 300, restMs: ownRestMs }];
    return load('ring', bound(random, lengthMax), { lengthMax }, { consumers });
  },
  /** No more than so many; and beside it a queue that gets some of the messages, too, and has room. */
  full(random: SimRandom): KindLoad {
    const refusesOver = random.pick([1, 3, 5]);
    const args = { ...bound(random, refusesOver), 'x-overflow': 'reject-publish' };
    const consumers = [{ credit: random.pick([1, 2]), lifeMs: 300, restMs: ownRestMs }];
    const alone = load('full', args, { refusesOver }, { consumers });
    const [full] = alone.queues;
    const bindings: QueuePlan['bindings'] = [['crowd', '']];
    const roomy = { ...full!, name: 'roomy', arguments: {}, kind: plainKind, bindings };
    const labels = (): Labels => noLabels;
    return {
      ...alone,
      queues: [{ ...full!, bindings }, roomy],
      exchanges: [{ name: 'crowd', type: 'fanout', arguments: {} }],
      targets: [...alone.targets, { exchange: 'crowd', routingKey: '', queues: ['full', 'roomy'], labels }],
    };
  },
  /** No more than so many, and what is too much goes elsewhere. */
  picky(random: SimRandom): KindLoad {
    const refusesOver = random.pick([1, 3]);
    const to = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'bin' };
    const args = { ...bound(random, refusesOver), ...to, 'x-overflow': 'reject-publish-dlx' };
    const consumers = [{ credit: random.pick([1, 2]), lifeMs: 300, restMs: ownRestMs }];
    const alone = load('picky', args, { refusesOver }, { consumers });
    const [picky] = alone.queues;
    const elsewhere: Arguments = random.chance(0.5) ? { 'x-replicas': 2 } : {};
    const bin = { ...picky!, name: 'bin', arguments: elsewhere, kind: plainKind, isGrave: true };
    const [target] = alone.targets;
    return {
      ...alone,
      queues: [{ ...picky!, dies: true }, bin],
      targets: [{ ...target!, queues: ['picky', 'bin'] }],
    };
  },
  /** Messages that came back too often. */
  tired(random: SimRandom): KindLoad {
    const returnsMax = random.pick([1, 2, 4]);
    const consumer = { credit: random.pick([1, 2, 5]), requeue: 0.6, lifeMs: random.pick([500, 20_000]) };
    return load('tired', { 'x-delivery-limit': returnsMax }, { returnsMax }, { consumers: [consumer, consumer] });
  },
  /** One active consumer. */
  solo(random: SimRandom): KindLoad {
    const consumer = (): Partial<ConsumerStyle> => ({
      credit: random.pick([1, 2, 5]),
      lifeMs: random.pick([300, 1500]),
    });
    const consumers = [consumer(), consumer(), consumer()];
    return load('solo', { 'x-single-active-consumer': true }, { isSingle: true }, { consumers });
  },
  /** Consumers with priorities. */
  first(random: SimRandom): KindLoad {
    const consumers = [0, 1, 2].map((priority) => ({ priority, credit: random.pick([1, 2, 5]), restMs: 300 }));
    const drains = consumers.map(({ priority }) => ({ priority, credit: 1 }));
    return load('first', {}, { hasPreferences: true }, { consumers, drains });
  },
  /** Messages that expire. */
  brief(random: SimRandom): KindLoad {
    const ttlMs = random.pick([0, 10, 300]);
    const lives = [0, 5, 100, 1000];
    const labels = (one: SimRandom): Labels => ({ ...noLabels, lifeMs: one.pick(lives) });
    const args: Arguments = ttlMs === 0 ? {} : { 'x-message-ttl': ttlMs };
    const kind = { isBrief: true, ...(ttlMs === 0 ? {} : { ttlMs }) };
    const consumers = [{ credit: 1, requeue: 0.2, keep: 0.2, lifeMs: 500, restMs: ownRestMs }];
    return load('brief', args, kind, { labels, consumers });
  },
  /** Messages that go nowhere else, by way of an alternate exchange. */
  stray(): KindLoad {
    const labels = (): Labels => noLabels;
    const queue = (name: string, source: string, key: string): QueuePlan => ({
      ...{ name, durable: true, fanned: false, arguments: {}, isApart: true, bindings: [[source, key]] },
    });
    return {
      exchanges: [
        { name: 'astray', type: 'fanout', arguments: {} },
        { name: 'roads', type: 'direct', arguments: { 'alternate-exchange': 'astray' } },
      ],
      queues: [queue('road', 'roads', 'known'), queue('stray', 'astray', '')],
      targets: [
        { exchange: 'roads', routingKey: 'known', queues: ['road'], labels },
        { exchange: 'roads', routingKey: 'unknown', queues: ['stray'], labels },
      ],
      consumers: [{}],
      drains: [{}],
      isGot: false,
      clients: nobody,
    };
  },
  /** Queues that go when they are not used. */
  tenant: (): KindLoad => ({ ...noLoad, clients: (world) => [new Tenant(world, 'tenant')] }),
  /** Replies to waiting clients. */
  reply: (): KindLoad => ({
    ...noLoad,
    clients: (world) => [new Correspondent(world, 'correspondent1'), new Correspondent(world, 'correspondent2')],
  }),
} as const;

/** Those that only directed scenarios have. */
const directed = {
  /** Consumers that choose; and somebody who looks at everything. */
  choosy(random: SimRandom): KindLoad {
    const labels = (one: SimRandom): Labels => ({ ...noLabels, key: 1 + one.int(3) });
    const wanting = (wants: number): Partial<ConsumerStyle> => ({
      wants,
      credit: random.pick([1, 2, 5]),
      requeue: 0.3,
      keep: 0.2,
      lifeMs: random.pick([300, 1500]),
    });
    const anything = { credit: 1, requeue: 0.4, lifeMs: 300, restMs: ownRestMs };
    const consumers = [wanting(1), wanting(2), wanting(1), anything, { browses: true, credit: 2, lifeMs: 1500 }];
    const drains = [1, 2, 3].map((wants) => ({ wants, requeue: 0.2 }));
    return load('choosy', {}, { isChosen: true }, { labels, consumers, drains, isGot: random.chance(0.3) });
  },
  /** Clients note something of what they give back. */
  noted(random: SimRandom): KindLoad {
    const consumer = { credit: random.pick([1, 2, 5]), requeue: 0.6, lifeMs: random.pick([500, 20_000]) };
    return load('noted', {}, { isNoted: true }, { consumers: [consumer, consumer] });
  },
} as const;

/** What goes together in one queue, and can be judged. */
const pairs = [
  ...[
    ['clan', 'tired'],
    ['clan', 'brief'],
    ['clan', 'solo'],
    ['clan', 'last'],
    ['clan', 'ring'],
    ['tired', 'solo'],
  ],
  ...[
    ['tired', 'first'],
    ['tired', 'brief'],
    ['tired', 'ring'],
    ['solo', 'rank'],
    ['solo', 'last'],
    ['solo', 'ring'],
  ],
  ...[
    ['brief', 'ring'],
    ['brief', 'first'],
    ['brief', 'last'],
    ['last', 'ring'],
    ['last', 'tired'],
    ['rank', 'tired'],
  ],
] as const;

export type KindName = keyof typeof makers | keyof typeof directed | 'blend';
const kindNames: readonly KindName[] = ['blend', ...(Object.keys(makers) as (keyof typeof makers)[])];

/** A queue that does what two others do. */
function blend(random: SimRandom): KindLoad {
  const [one, other] = random.pick(pairs).map((name) => makers[name](random.fork(name)));
  const [first, second] = [one!.queues[0]!, other!.queues[0]!];
  const [firstLabels, secondLabels] = [one!.targets[0]!.labels!, other!.targets[0]!.labels!];
  const labels = (some: SimRandom): Labels => {
    const [a, b] = [firstLabels(some), secondLabels(some)];
    return { priority: a.priority || b.priority, key: a.key || b.key, lifeMs: a.lifeMs || b.lifeMs };
  };
  const styles = (a: KindLoad['consumers'], b: KindLoad['consumers']): KindLoad['consumers'] =>
    Array.from({ length: Math.max(a.length, b.length) }, (_, i) => ({ ...b[i % b.length], ...a[i % a.length] }));
  const drains = styles(one!.drains, other!.drains);
  const consumers = styles(one!.consumers, other!.consumers);
  const args = { ...first.arguments, ...second.arguments };
  return load('blend', args, { ...first.kind, ...second.kind }, { labels, consumers, drains });
}

/** A bound on a queue's length, in messages or in bytes. */
function bound(random: SimRandom, length: number): Arguments {
  if (random.chance(0.6)) return { 'x-max-length': length };
  return { 'x-max-length-bytes': length * bodyBytes + bodyBytes / 2 };
}

/** One queue, that does one thing. */
function load(
  name: string,
  args: Arguments,
  kind: QueueKind,
  parts: Partial<Pick<KindLoad, 'consumers' | 'drains' | 'isGot'>> & { labels?: (random: SimRandom) => Labels },
): KindLoad {
  const { labels = (): Labels => noLabels, consumers = [{}, {}], drains = [{}, {}], isGot = false } = parts;
  return {
    queues: [{ name, durable: true, fanned: false, arguments: args, isApart: true, kind }],
    exchanges: [],
    targets: [{ exchange: '', routingKey: name, queues: [name], labels }],
    ...{ consumers, drains, isGot, clients: nobody },
  };
}

/** Those of this run: as the seed says, or `wanted`. None while there are nodes that do not know them. */
export function drawKinds(world: SimWorld, wanted?: readonly KindName[]): KindLoad[] {
  if (world.nodes.some((node) => node.versions.max < Feature.overflow)) return [];
  const random = world.random.fork('kinds of queues');
  const names = wanted ?? random.shuffle(kindNames).slice(0, random.pick([0, 1, 1, 2, 3]));
  return names.map((name) => {
    const own = world.random.fork(`kind ${name}`);
    if (name === 'blend') return blend(own);
    return name in directed ? directed[name as keyof typeof directed](own) : makers[name as keyof typeof makers](own);
  });
}
