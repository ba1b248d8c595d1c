import type { Arguments } from '../broker.js';
import { alternateExchange, type QueueObject } from '../wiring/objects.js';
import type { Reached } from './matcher.js';
import type { ExchangeTarget, Target } from './target.js';

/** The queues that a message reaches. */
export interface Routing {
  /** True if it depends on exchange and one routing key alone, until the wiring changes; false if headers were asked for. */
  readonly keyed: boolean;
  /** Each once, in no particular order. */
  readonly queues: readonly QueueObject[];
  /** One of them is about to move: the message is to wait, and to be routed again. */
  readonly waits: boolean;
}

const noKeys: readonly string[] = [];
const noHeaders = (): Arguments => ({});

/**
 * Walks from exchange to exchange. Each exchange and queue is visited once per message, so bindings may form circles and
 * a queue that is reached twice gets the message once. An exchange from which nothing leads on sends the message to
 * its alternate exchange, if it has one.
 */
export class Router implements Reached {
  private stamp = 0;
  private readonly exchanges: ExchangeTarget[] = [];
  private queues: QueueObject[] = [];
  /** The present exchange leads somewhere. */
  private led = false;
  private keyed = true;
  private askHeaders: () => Arguments = noHeaders;
  private knownHeaders: Arguments | undefined = undefined;

  /**
   * @param from an exchange that exists.
   * @param exchanges those of the same vhost, by name.
   * @param headers is called once at most, and only if an exchange needs it.
   * @param moreKeys as if the message were published with each of these as well.
   */
  route(
    from: ExchangeTarget,
    routingKey: string,
    exchanges: ReadonlyMap<string, ExchangeTarget>,
    headers: () => Arguments,
    moreKeys: readonly string[] = noKeys,
  ): Routing {
    this.stamp++;
    this.keyed = moreKeys.length === 0;
    this.askHeaders = headers;
    const queues: QueueObject[] = [];
    this.queues = queues;
    this.exchanges.length = 0;
    this.reach(from);
    for (let i = 0; i < this.exchanges.length; i++) {
      const { exchange, matcher } = this.exchanges[i]!;
      this.led = false;
      matcher?.match(routingKey, this);
      for (let k = 0; k < moreKeys.length; k++) matcher?.match(moreKeys[k]!, this);
      if (this.led || exchange === undefined) continue;
      const name = alternateExchange(exchange);
      const other = name === undefined ? undefined : exchanges.get(name);
      if (other !== undefined) this.reach(other);
    }
    this.askHeaders = noHeaders;
    this.knownHeaders = undefined;
    return { keyed: this.keyed, queues, waits: false };
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
}
