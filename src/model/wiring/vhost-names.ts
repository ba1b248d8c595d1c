import { createMatcher } from '../exchange/create.js';
import { DefaultMatcher } from '../exchange/default.js';
import { ExchangeTarget, QueueTarget } from '../exchange/target.js';
import { type ExchangeObject, ExchangeType, type VhostObject } from './objects.js';

/** The vhost that exists without a declaration. */
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
  readonly queues: Map<string, QueueTarget> = new Map();
  readonly exchanges: Map<string, ExchangeTarget> = new Map();
  /** Its declarations: one, or none if its contents were seen first. The default vhost needs none. */
  readonly declarations: Set<VhostObject> = new Set();

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

  get exists(): boolean {
    return this.name === defaultVhost || this.declarations.size > 0;
  }

  /** Nothing has or uses any of its names. */
  get unused(): boolean {
    if (this.exists || this.queues.size > 0 || this.exchanges.size > predeclared.length) return false;
    return predeclared.every(([name]) => this.exchanges.get(name)!.outboundCount === 0);
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
