import { createMatcher } from '../exchange/create.js';
import { DefaultMatcher } from '../exchange/default.js';
import { Newest } from '../exchange/newest.js';
import { ExchangeTarget, QueueTarget } from '../exchange/target.js';
import {
  type BindingObject,
  type ExchangeObject,
  ExchangeType,
  type QueueObject,
  type VhostObject,
} from './objects.js';

/** The vhost that exists without a declaration, until the cluster has its first users (FoundedObject). */
export const defaultVhost = '/';

/** Where the broker itself tells of the cluster: clients may bind queues and exchanges to it, and not publish there. */
export const failoverExchange = 'amq.failover';

/** The exchanges that every vhost has without declarations: durable, and nobody can delete them. */
const predeclared: readonly [name: string, type: ExchangeType][] = [
  ['', ExchangeType.direct],
  ['amq.direct', ExchangeType.direct],
  ['amq.fanout', ExchangeType.fanout],
  ['amq.topic', ExchangeType.topic],
  ['amq.headers', ExchangeType.headers],
  ['amq.match', ExchangeType.headers],
  [failoverExchange, ExchangeType.fanout],
];

/** The names in one vhost, and what has them. */
export class VhostNames {
  readonly name: string;
  /** Queues that there are; one that moves counts twice. */
  queueCount = 0;
  readonly queues: Map<string, QueueTarget> = new Map();
  readonly exchanges: Map<string, ExchangeTarget> = new Map();
  /** Its declarations: one, or none if its contents were seen first, or go after it. */
  readonly declarations: Newest<VhostObject> = new Newest();

  constructor(name: string) {
    this.name = name;
    for (const [exchange, type] of predeclared) {
      const object: ExchangeObject = {
        kind: 'exchange',
        position: 0,
        vhost: name,
        name: exchange,
        type,
        durable: true,
        autoDelete: false,
        internal: exchange === failoverExchange,
        arguments: {},
      };
      const matcher = exchange === '' ? new DefaultMatcher(this.queues) : createMatcher(object);
      this.exchanges.set(exchange, ExchangeTarget.predeclared(object, matcher));
    }
  }

  get isDeclared(): boolean {
    return this.declarations.current !== undefined;
  }

  /** Nothing has or uses any of its names. */
  get isEmpty(): boolean {
    if (this.queues.size > 0 || this.exchanges.size > predeclared.length) return false;
    return predeclared.every(([name]) => this.exchanges.get(name)!.outboundCount === 0);
  }

  /** Queues, exchanges and bindings; some bindings twice. */
  *contents(): Generator<QueueObject | ExchangeObject | BindingObject, void> {
    for (const target of this.queues.values()) {
      if (target.queue !== undefined) yield target.queue;
      yield* target.inbound();
    }
    for (const target of this.exchanges.values()) {
      // The predeclared ones have no position.
      if (target.exchange !== undefined && target.exchange.position > 0) yield target.exchange;
      yield* target.outbound();
    }
  }

  /** The target for a queue's name, made if there is none. */
  queue(name: string): QueueTarget {
    let target = this.queues.get(name);
    if (target === undefined) {
      target = new QueueTarget(name);
      this.queues.set(name, target);
    }
    return target;
  }

  /** The target for an exchange's name, made if there is none. */
  exchange(name: string): ExchangeTarget {
    let target = this.exchanges.get(name);
    if (target === undefined) {
      target = new ExchangeTarget(name);
      this.exchanges.set(name, target);
    }
    return target;
  }

  /** Forgets a target that nothing has or uses any more. */
  tidy(target: QueueTarget | ExchangeTarget): void {
    if (!target.unused) return;
    if (target.kind === 'queue') this.queues.delete(target.name);
    else this.exchanges.delete(target.name);
  }
}
