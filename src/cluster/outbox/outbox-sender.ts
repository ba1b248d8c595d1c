/**
 * Sends on what a group owes others: consumes from its outbox, alone, on the primary's node; routes each message as any other, with the
 * wiring of now; and acknowledges it when it is safe wherever it went. What is sent again after a failure says which message of which
 * outbox it is, and whoever has it drops it (rule 16).
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Ring } from '../../base/ring.js';
import type { Rules } from '../../base/rules.js';
import type { Lsn } from '../../log/lsn.js';
import { manifestOf } from '../../log/large.js';
import { EnqueueView, immediately, MessageParts, RecordFlag } from '../../log/record.js';
import type { Arguments, DeliverySink, Holder, PublishOwner, Subscription } from '../../model/broker.js';
import type { HeaderCodec } from '../../model/dead-letter/death.js';
import { EnvelopeKind, innerMeta, kindOf, readEnvelope } from '../../model/dead-letter/envelope.js';
import { setDelayed } from '../../model/delay/delayed-record.js';
import { outboxIncarnation } from '../../model/queue/outbox.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { sameBytes } from '../../wire/bytes.js';
import { ClusterRoute, type RouteTarget } from '../client/cluster-route.js';
import type { GroupClient } from '../client/group-client.js';
import type { GroupClients } from '../client/group-clients.js';
import { ownConsumer } from '../client/own-consumer.js';
import { PassingWindow } from '../client/passing-window.js';
import { PatientGate } from '../client/patient-gate.js';
import { BodyCopy, type ClusterUpload } from '../client/upload.js';

/** It is asked so often for the outbox, and tried so often whether a message may be routed by now. */
const subscribeMs = 50;
const routeMs = 5;

export interface OutboxSenderOptions {
  group: number;
  clients: GroupClients;
  tables: WiringTables;
  headers: HeaderCodec;
  /** This node's wiring is current: what it says leads nowhere does. */
  mayRoute(): boolean;
  /** Everything before this position of the outbox is done with. */
  done(): Lsn;
  rules: Rules;
  clock: Clock;
  logger: Logger;
}

/** A message in hand. */
interface Held {
  readonly position: Lsn;
  readonly holder: Holder;
  readonly bytes: number;
  readonly isLarge: boolean;
  /** Parts that are not safe yet; its own is one until it was sent. */
  left: number;
  /** A group did not take it: it is sent again. */
  isRefused: boolean;
}

export class OutboxSender implements DeliverySink, PublishOwner {
  private readonly options: OutboxSenderOptions;
  private readonly window = new PassingWindow();
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();
  private readonly delayed = new MessageParts();
  private last: LastRoute | undefined;
  /** In order; the tag of the first one is `firstTag`. */
  private readonly held = new Ring<Held>();
  private firstTag = 0;
  /** Copies of those that could not be routed yet, in order; they are the last ones held. */
  private readonly waiting = new Ring<Uint8Array>();
  /** The body of the first one that waits, if it is large, on its way to other groups; and when it is there. */
  private copying: BodyCopy | undefined;
  private copied: ClusterUpload | undefined;
  /** By which the first one goes, if it is large, while that is current: an exchange that draws lots would say something else. */
  private kept: ClusterRoute | undefined;
  private subscription: Subscription | undefined;
  private subscribing: Timer;
  private routing: Timer | undefined;
  private isOver = false;

  constructor(options: OutboxSenderOptions) {
    this.options = options;
    this.subscribing = options.clock.after(0, () => this.subscribe());
  }

  /** Another node leads the group, or this one stops: what is held goes back. */
  close(): void {
    this.isOver = true;
    this.subscribing.cancel();
    this.routing?.cancel();
    this.copying?.stop();
    this.copied?.abort();
    this.subscription?.close();
    this.options.clients.forgetPublisher(this);
    this.options.clients.forgetSink(this);
  }

  private subscribe(): void {
    const { clients, clock, group, logger } = this.options;
    const request = ownConsumer(this, this.window.begin(), 'outbox', '', 'outbox');
    clients
      .client(group)
      .consume(outboxIncarnation, request)
      .then(
        (subscription) => {
          this.subscription = subscription;
          this.grant();
        },
        (error: Error) => {
          logger.debug('an outbox is asked for again', { group, reason: error.message });
          if (!this.isOver) this.subscribing = clock.after(subscribeMs, () => this.subscribe());
        },
      );
  }

  // ---- DeliverySink ----

  deliver(subscription: Subscription, position: number, _redelivered: boolean, message: EnqueueView): void {
    // The first may be here before it is known that there is a subscription.
    this.subscription = subscription;
    this.window.delivered(message.length);
    const { length: bytes, isLarge } = message;
    this.held.push({ position, holder: subscription, bytes, isLarge, left: 1, isRefused: false });
    if (this.waiting.length === 0 && this.send(message, this.firstTag + this.held.length - 1)) return;
    this.waiting.push(message.bytes.slice(message.start, message.start + message.length));
    if (this.waiting.length === 1) this.tryLater();
  }

  cancelled(subscription: Subscription): void {
    if (this.subscription !== subscription) return;
    this.subscription = undefined;
    if (!this.isOver) this.subscribing = this.options.clock.after(subscribeMs, () => this.subscribe());
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    for (let i = 0; i < this.held.length; i++) {
      const { holder, position, left } = this.held.at(i)!;
      if (left > 0) visit(holder, position);
    }
  }

  // ---- PublishOwner ----

  completed(tag: number): void {
    const held = this.held.at(tag - this.firstTag);
    if (held === undefined || held.left === 0 || --held.left > 0) return;
    if (held.isRefused) held.holder.release(held.position);
    else if (this.options.rules.outboxSafeFirst) held.holder.ack(held.position);
    while (this.held.peek()?.left === 0) {
      this.window.done(this.held.shift()!.bytes);
      this.firstTag++;
    }
    this.grant();
  }

  /**
   * A queue that is full refuses it: it is gone, as in RabbitMQ. Nothing else refuses it, see PatientGate; but a large one without all of
   * its parts, or if that is not known. So that is sent again: whoever has it, or has refused it, drops it then (Origin).
   */
  refused(tag: number): void {
    const held = this.held.at(tag - this.firstTag);
    if (held?.isLarge === true) held.isRefused = true;
    this.completed(tag);
  }

  // ---- inside ----

  private grant(): void {
    const count = this.subscription === undefined ? 0 : this.window.take();
    if (count > 0) this.subscription!.grant(count);
  }

  private tryLater(): void {
    this.routing?.cancel();
    this.routing = this.options.clock.after(routeMs, () => this.sendWaiting());
  }

  private sendWaiting(): void {
    for (let next = this.waiting.peek(); next !== undefined; next = this.waiting.peek()) {
      const message = this.view.set(next, new DataView(next.buffer), 0);
      const tag = this.firstTag + this.held.length - this.waiting.length;
      if (!this.send(message, tag)) return this.tryLater();
      this.waiting.shift();
    }
  }

  /** False: it may not be routed yet. */
  private send(message: EnqueueView, tag: number): boolean {
    const { group, rules } = this.options;
    const route = this.options.mayRoute() ? this.presentRoute(message) : undefined;
    if (route === undefined) return false;
    const { targets } = route;
    if (message.isLarge && !this.bodyIsThere(message, targets)) return false;
    const held = this.held.at(tag - this.firstTag)!;
    const { position } = held;
    const origin = { group, position, done: Math.min(this.options.done(), position) };
    const { parts, delayed } = this;
    parts.setFrom(message);
    parts.metaStart = innerMeta(message);
    parts.metaLength -= parts.metaStart - message.metaStart;
    parts.expiresAt = this.expiresAt(message);
    for (let i = 0; i < targets.length; i++) {
      const { client, incarnations, durable, gate, delay } = targets[i]!;
      // With very many queues a group is sent it in parts: it would take the second for the first once more.
      parts.origin = isFirst(targets, i) ? origin : undefined;
      held.left++;
      if (delay !== undefined) setDelayed(delayed, parts, delay.delayMs, delay.exchange.vhost, delay.exchange.name);
      const sent = delay === undefined ? parts : delayed;
      if (message.isLarge && client !== this.client) this.copied!.publishOne(targets[i]!, parts, this, tag);
      else client.publish(sent, incarnations, durable && parts.persistent, this, tag, gate);
    }
    this.copied?.abort();
    this.copied = undefined;
    this.kept = undefined;
    if (!rules.outboxSafeFirst) held.holder.ack(held.position);
    this.completed(tag);
    return true;
  }

  /** The outbox's group. */
  private get client(): GroupClient {
    return this.options.clients.client(this.options.group);
  }

  /** Whether the body of a large message is in each group that it goes to. If not, it is on its way. */
  private bodyIsThere(message: EnqueueView, targets: readonly RouteTarget[]): boolean {
    if (this.copying !== undefined) return false;
    const others = targets.filter(({ client }) => client !== this.client);
    if (others.length === 0 || this.copied?.covers(others) === true) return true;
    this.copied?.abort();
    this.copied = undefined;
    const source = this.client.bodies.openOwn(manifestOf(message.view, message.start));
    const isPersistent = (message.flags & RecordFlag.persistent) !== 0;
    this.copying = new BodyCopy(this.options.clients.uploads, source, others, isPersistent, (copied) => {
      this.copying = undefined;
      this.copied = copied;
      if (copied === undefined) this.giveBackFirst();
    });
    return false;
  }

  /** The body of the first one that waits is lost: if it is so by damage, the group drops the message when it comes to it again. */
  private giveBackFirst(): void {
    const tag = this.firstTag + this.held.length - this.waiting.length;
    this.waiting.shift();
    this.kept = undefined;
    this.refused(tag);
  }

  /** What died expires no more; what had to wait has its time from now on. */
  private expiresAt(message: EnqueueView): number {
    const ttlMs = this.options.headers.ttlMs(message);
    if (ttlMs === undefined) return 0;
    return ttlMs === 0 ? immediately : this.options.clock.wall() + ttlMs;
  }

  private presentRoute(message: EnqueueView): ClusterRoute | undefined {
    const { kept } = this;
    if (kept !== undefined && kept.version === this.options.tables.routingVersion) return kept;
    const route = this.route(message);
    this.kept = message.isLarge ? route : undefined;
    return route;
  }

  /** Undefined: it is not known yet. What has waited mostly goes where the one before it went. */
  private route(message: EnqueueView): ClusterRoute | undefined {
    const { tables, headers, clients } = this.options;
    const { last } = this;
    const hasWaited = kindOf(message) === EnvelopeKind.delayed;
    const keys = headers.moreKeys(message);
    const isPlain = hasWaited && keys.length === 0;
    if (isPlain && last?.route.version === tables.routingVersion && last.isFor(message)) return last.route;
    const { vhost, exchange, routingKey } = readEnvelope(message);
    const table = (): Arguments => headers.table(message);
    let routing = tables.routeFrom(vhost, exchange, routingKey, table, keys, headers.properties(message), hasWaited);
    if (routing.waits) return undefined;
    if (!hasWaited)
      routing = { ...routing, queues: routing.queues.filter(({ name }) => !headers.isCircle(message, name)) };
    const newGate = (): PatientGate => new PatientGate(tables);
    const route = new ClusterRoute(routing, tables.routingVersion, clients, tables, newGate);
    if (isPlain && route.keyed) this.last = new LastRoute(message, route);
    return route;
  }
}

/** Where messages went that have a meta, until the wiring changes. */
class LastRoute {
  readonly route: ClusterRoute;
  private readonly meta: Uint8Array;

  constructor({ bytes, metaStart, metaLength }: EnqueueView, route: ClusterRoute) {
    this.route = route;
    this.meta = bytes.slice(metaStart, metaStart + metaLength);
  }

  isFor({ bytes, metaStart, metaLength }: EnqueueView): boolean {
    const { meta } = this;
    return metaLength === meta.length && sameBytes(bytes, metaStart, meta, 0, metaLength);
  }
}

/** It is the first of its group. */
function isFirst(targets: readonly RouteTarget[], index: number): boolean {
  for (let i = 0; i < index; i++) if (targets[i]!.client === targets[index]!.client) return false;
  return true;
}
