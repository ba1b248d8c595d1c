/**
 * The publishing side of a link: the payload of a delivery becomes one Broker.publish. Nothing of it is copied on the way: the sections are
 * found where they lie, and the broker copies them from there. The last route is kept as long as nothing of the message has part in it.
 */
import { RefusedError } from '../base/errors.js';
import { MessageFormat } from '../log/message-format.js';
import { immediately } from '../log/record.js';
import { nobody, type Properties, type Route } from '../model/broker.js';
import {
  Accepted,
  AmqpError,
  Condition,
  type DeliveryState,
  MessageView,
  Rejected,
  Released,
  textOf,
  TransactionalState,
} from './codec/index.js';
import { parseAddress } from './addresses.js';
import { LinkError, toAmqpError } from './errors.js';
import { headersOf, moreKeysOf, propertyText } from './header-codec.js';
import type { LocalTransaction } from './local-transaction.js';
import type { Destination } from './node-lookup.js';
import { PublishOutcome, type PublishSource } from './outcome-ledger.js';
import type { ResumableTarget } from './resumable-target.js';
import type { SessionHost } from './session-host.js';
import { StagedMessage } from './staged-message.js';

/** All links share it: a message is gone before the next comes. */
const message = new MessageView();
const readHeaders = () => headersOf(message);
const readProperty: Properties = (name) => propertyText(message, name);
const noKeys: readonly string[] = [];
const accepted = new Accepted();
const released = new Released();
/** Exchange and routing key as records have them. */
const shortStringMax = 255;
/** Routing is done at once, key by key. */
const keysMax = 1024;

/** On whose behalf it publishes. */
export interface PublishingLink extends PublishSource {
  /** That may be into queues that are too full. */
  publishedBy(route: Route): void;
}

export class Publisher {
  /** Null: each message says where it goes. */
  destination: Destination | null = null;
  private readonly host: SessionHost;
  private readonly source: PublishingLink;
  private route: Route | null = null;
  private routeKey: string | undefined;
  private routeExchange = '';
  private meta: Uint8Array = new Uint8Array(2);

  constructor(host: SessionHost, source: PublishingLink) {
    this.host = host;
    this.source = source;
  }

  /**
   * Publishes the message in [start, end), to a link's queue by `via`, if the link can be resumed. What is wrong with it is its outcome, or ends the link if nobody waits for one: LinkError. What
   * the user may not do ends the link in any case.
   */
  publish(
    bytes: Uint8Array,
    start: number,
    end: number,
    deliveryId: number,
    settled: boolean,
    messageFormat: number,
    transaction: LocalTransaction | null,
    via?: ResumableTarget,
    tag: string = '',
  ): void {
    try {
      if (messageFormat !== 0)
        throw new AmqpError(Condition.notImplemented, `message-format ${messageFormat}: 0 is known`);
      message.set(bytes, start, end);
      this.send(deliveryId, settled, transaction, via, tag);
    } catch (error) {
      this.refuse(error, deliveryId, settled, transaction);
    }
  }

  /** The link ends. */
  close(): void {
    this.route = null;
  }

  private refuse(error: unknown, deliveryId: number, settled: boolean, transaction: LocalTransaction | null): void {
    if (error instanceof LinkError || !(error instanceof AmqpError || error instanceof RefusedError)) throw error;
    const known = toAmqpError(error);
    // Nobody waits for its outcome: the discharge tells it.
    if (settled)
      transaction?.fail(new AmqpError(Condition.transactionRollback, `a message was refused: ${known.message}`));
    if (settled || known.condition === Condition.unauthorizedAccess)
      throw new LinkError(known.condition, known.message);
    if (transaction !== null) this.answer(deliveryId, transaction, rejectedWith(known));
    else this.host.ledger.answer(deliveryId, this.source, PublishOutcome.rejected, known);
  }

  /** Its commit publishes the message. What the outcome will be is told at once (§4.4.1). */
  private stage(deliveryId: number, settled: boolean, route: Route, transaction: LocalTransaction): void {
    let outcome: DeliveryState = released;
    if (route.queueCount > 0 || !route.isKnown) {
      const moreKeys = message.annotationsStart >= 0 ? moreKeysOf(message) : noKeys;
      const { routeExchange, routeKey = '' } = this;
      const error = transaction.publish(new StagedMessage(routeExchange, routeKey, moreKeys, this.host.parts));
      outcome = error === undefined ? accepted : rejectedWith(error);
    }
    if (!settled) this.answer(deliveryId, transaction, outcome);
  }

  private answer(deliveryId: number, { id }: LocalTransaction, outcome: DeliveryState): void {
    this.host.answer(deliveryId, Object.assign(new TransactionalState(), { txnId: id, outcome }));
  }

  private send(
    deliveryId: number,
    settled: boolean,
    transaction: LocalTransaction | null,
    via: ResumableTarget | undefined,
    tag: string,
  ): void {
    const { host } = this;
    const { broker, parts, ledger } = host;
    const { ttlMs, bytes, start, bodyStart, end } = message;
    const route = this.findRoute();
    if (message.hasUserId) this.checkUserId();
    host.publishing(end - start);
    host.counters.published++;
    parts.format = MessageFormat.amqp10;
    // As RabbitMQ: who says nothing wants it kept.
    parts.persistent = message.durable !== 0;
    parts.priority = Math.max(0, message.priority);
    parts.expiresAt = 0;
    if (ttlMs >= 0) parts.expiresAt = ttlMs === 0 ? immediately : host.clock.wall() + ttlMs;
    parts.metaBytes = this.meta;
    parts.metaStart = 0;
    parts.metaLength = this.meta.length;
    parts.headerBytes = bytes;
    parts.headerStart = start;
    parts.headerLength = bodyStart - start;
    parts.bodyBytes = bytes;
    parts.bodyStart = bodyStart;
    parts.bodyLength = end - bodyStart;
    if (transaction !== null) {
      this.stage(deliveryId, settled, route, transaction);
    } else if (via !== undefined && route.queueCount === 1) {
      via.publish(parts, deliveryId, tag);
    } else if (settled) {
      broker.publish(route, parts, nobody, 0);
    } else if (route.queueCount === 0 && route.isKnown) {
      ledger.answer(deliveryId, this.source, PublishOutcome.released);
    } else {
      const parted = broker.publish(route, parts, ledger, ledger.nextTag);
      ledger.opened(deliveryId, this.source, parted);
    }
    if (broker.stops.isAny) this.source.publishedBy(route);
  }

  private findRoute(): Route {
    const { destination, route } = this;
    const { broker, permissions, vhost } = this.host;
    const moreKeys = message.annotationsStart >= 0 ? moreKeysOf(message) : noKeys;
    if (moreKeys.length > keysMax)
      throw new AmqpError(
        Condition.resourceLimitExceeded,
        `${moreKeys.length} routing keys in x-cc, there may be ${keysMax}`,
      );
    const isPlain = moreKeys.length === 0;
    if (isPlain && route !== null && destination?.routingKey !== undefined && route.version === broker.routingVersion)
      return route;
    const { exchange, routingKey } = this.target();
    if (isPlain && route !== null && route.version === broker.routingVersion && this.isSame(exchange, routingKey))
      return route;
    this.route = null;
    const hasTopics = permissions.requireWrite(exchange);
    const found = broker.route(vhost, exchange, routingKey, readHeaders, moreKeys, readProperty);
    if (hasTopics && broker.isTopicExchange(vhost, exchange)) permissions.requireTopic('write', exchange, routingKey);
    if (!this.isSame(exchange, routingKey)) this.setMeta(exchange, routingKey);
    if (isPlain && found.keyed) this.route = found;
    return found;
  }

  private isSame(exchange: string, routingKey: string): boolean {
    return this.routeKey === routingKey && this.routeExchange === exchange;
  }

  private setMeta(exchange: string, routingKey: string): void {
    this.routeExchange = exchange;
    this.routeKey = routingKey;
    const names = [exchange, routingKey].map((name) => Buffer.from(name, 'utf8'));
    this.meta = new Uint8Array(Buffer.concat(names.flatMap((name) => [Uint8Array.of(name.length), name])));
  }

  /** Where this message goes. */
  private target(): { exchange: string; routingKey: string } {
    const { destination } = this;
    if (destination?.routingKey !== undefined)
      return { exchange: destination.exchange, routingKey: destination.routingKey };
    const properties = message.properties();
    const subject = properties?.subject ?? '';
    if (Buffer.byteLength(subject) > shortStringMax)
      throw new AmqpError(
        Condition.invalidField,
        `a subject of more than ${shortStringMax} bytes cannot be a routing key`,
      );
    if (destination !== null) return { exchange: destination.exchange, routingKey: subject };
    const to = textOf(properties?.to);
    if (to === undefined)
      throw new AmqpError(Condition.preconditionFailed, 'a message without `to`, on a link without an address');
    const address = parsed(to);
    if (address.kind === 'queue') return { exchange: '', routingKey: address.queue };
    if (address.kind === 'name') return { exchange: '', routingKey: address.name };
    return { exchange: address.exchange, routingKey: address.routingKey ?? subject };
  }

  private checkUserId(): void {
    const userId = message.properties()?.userId;
    if (userId === undefined) return;
    const { user, permissions } = this.host;
    const named = Buffer.from(userId).toString('utf8');
    if (named === user || permissions.mayImpersonate) return;
    const text = `user-id property set to '${named}' but authenticated user was '${user}'`;
    throw new AmqpError(Condition.unauthorizedAccess, text);
  }
}

function rejectedWith(error: AmqpError): Rejected {
  return Object.assign(new Rejected(), { error: error.fields });
}

/** An address in a message: if it is none, that is the message's affair. */
function parsed(text: string): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof LinkError) throw new AmqpError(error.condition, error.message);
    throw error;
  }
}
