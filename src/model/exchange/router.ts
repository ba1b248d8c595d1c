import type { Random } from '../../base/random.js';
import type { Arguments, MessageProperty, Properties } from '../broker.js';
import { delayOf } from '../delay/delay-header.js';
import type { Policies } from '../policy/policies.js';
import type { ExchangeObject, QueueObject } from '../wiring/objects.js';
import type { Reached } from './matcher.js';
import type { ExchangeTarget, Target } from './target.js';

/** A message is to be routed from this exchange on when its time has come. */
export interface Delay {
  readonly exchange: ExchangeObject;
  readonly delayMs: number;
}

/** Where a message goes. */
export interface Routing {
  /** True if it depends on exchange and one routing key alone, until the wiring changes; false if it depends on more. */
  readonly keyed: boolean;
  /** The queues that it reaches now: each once, in no particular order. */
  readonly queues: readonly QueueObject[];
  /** The exchanges that keep it for a while. */
  readonly delays: readonly Delay[];
  /** One of the queues is about to move: the message is to wait, and to be routed again. */
  readonly waits: boolean;
}

const noDelays: readonly Delay[] = [];

/** It leads nowhere. */
export const nowhere: Routing = { keyed: true, queues: [], delays: noDelays, waits: false };

const noKeys: readonly string[] = [];
const noHeaders = (): Arguments => ({});
const noProperties: Properties = () => '';

/** What a vhost's messages are routed by. */
export interface RouterPorts {
  readonly policies: Policies;
  readonly random: Pick<Random, 'int'>;
  /** A rule (base/rules.ts). */
  readonly alternateTaken: boolean;
}

/**
 * Walks from exchange to exchange. Each exchange and queue is visited once per message, so bindings may form circles and
 * a queue that is reached twice gets the message once. An exchange from which nothing leads on sends the message to
 * its alternate exchange, if it has one.
 */
export class Router implements Reached {
  private readonly ports: RouterPorts;
  private stamp = 0;
  private readonly exchanges: ExchangeTarget[] = [];
  private queues: QueueObject[] = [];
  /** The present exchange leads somewhere. */
  private led = false;
  private keyed = true;
  private askHeaders: () => Arguments = noHeaders;
  private askProperty: Properties = noProperties;
  private knownHeaders: Arguments | undefined = undefined;

  constructor(ports: RouterPorts) {
    this.ports = ports;
  }

  /**
   * @param from an exchange that exists.
   * @param exchanges those of the same vhost, by name.
   * @param headers is called once at most, and only if an exchange needs it.
   * @param moreKeys as if the message were published with each of these as well.
   * @param hasWaited the time has come for which `from` had the message wait.
   */
  route(
    from: ExchangeTarget,
    routingKey: string,
    exchanges: ReadonlyMap<string, ExchangeTarget>,
    headers: () => Arguments,
    moreKeys: readonly string[] = noKeys,
    properties: Properties = noProperties,
    hasWaited = false,
  ): Routing {
    this.stamp++;
    this.keyed = moreKeys.length === 0;
    this.askHeaders = headers;
    this.askProperty = properties;
    const queues: QueueObject[] = [];
    let delays = noDelays;
    this.queues = queues;
    this.exchanges.length = 0;
    this.reach(from);
    for (let i = 0; i < this.exchanges.length; i++) {
      const target = this.exchanges[i]!;
      const { exchange, matcher } = target;
      const mayWait = exchange?.type === 'x-delayed-message' && !(hasWaited && target === from);
      const delayMs = mayWait ? delayOf(this.headers()) : 0;
      if (delayMs > 0) {
        delays = [...delays, { exchange: exchange!, delayMs }];
        continue;
      }
      this.led = false;
      matcher?.match(routingKey, this);
      if (matcher?.picksOne !== true) for (let k = 0; k < moreKeys.length; k++) matcher?.match(moreKeys[k]!, this);
      if (this.led || exchange === undefined || !this.ports.alternateTaken) continue;
      const name = target.alternateBy(this.ports.policies);
      const other = name === undefined ? undefined : exchanges.get(name);
      if (other !== undefined) this.reach(other);
    }
    this.askHeaders = noHeaders;
    this.askProperty = noProperties;
    this.knownHeaders = undefined;
    return { keyed: this.keyed, queues, delays, waits: false };
  }

  reach(target: Target): void {
    if (target.kind === 'queue') {
      const queue = target.queue;
      if (queue === undefined) return;
      this.led = true;
      if (target.stamp !== this.stamp) this.queues.push(queue);
    } else {
      if (target.exchange === undefined) return;
      this.led = true;
      if (target.stamp !== this.stamp) this.exchanges.push(target);
    }
    target.stamp = this.stamp;
  }

  headers(): Arguments {
    this.keyed = false;
    this.knownHeaders ??= this.askHeaders();
    return this.knownHeaders;
  }

  property(name: MessageProperty): string {
    this.keyed = false;
    return this.askProperty(name);
  }

  chance(below: number): number {
    this.keyed = false;
    return this.ports.random.int(below);
  }
}
