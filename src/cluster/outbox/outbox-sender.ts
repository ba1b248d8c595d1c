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
import { EnqueueView, MessageParts } from '../../log/record.js';
import type { DeliverySink, Holder, PublishOwner, Subscription } from '../../model/broker.js';
import type { HeaderCodec } from '../../model/dead-letter/death.js';
import { innerMeta, readEnvelope } from '../../model/dead-letter/envelope.js';
import type { Routing } from '../../model/exchange/router.js';
import { outboxIncarnation } from '../../model/queue/outbox.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import { ClusterRoute } from '../client/cluster-route.js';
import type { GroupClient } from '../client/group-client.js';
import type { GroupClients } from '../client/group-clients.js';
import { PassingWindow } from '../client/passing-window.js';
import { PatientGate } from '../client/patient-gate.js';

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
  /** Parts that are not safe yet; its own is one until it was sent. */
  left: number;
}

export class OutboxSender implements DeliverySink, PublishOwner {
  private readonly options: OutboxSenderOptions;
  private readonly window = new PassingWindow();
  private readonly view = new EnqueueView();
  private readonly parts = new MessageParts();
  /** In order; the tag of the first one is `firstTag`. */
  private readonly held = new Ring<Held>();
  private firstTag = 0;
  /** Copies of those that could not be routed yet, in order; they are the last ones held. */
  private readonly waiting = new Ring<Uint8Array>();
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
    this.letGo();
  }

  private letGo(): void {
    this.subscription?.close();
    this.options.clients.forgetPublisher(this);
    this.options.clients.forgetSink(this);
  }

  private subscribe(): void {
    const { clients, clock, group, logger } = this.options;
    const request = {
      vhost: '',
      queue: 'outbox',
      consumerTag: 'outbox',
      noAck: false,
      exclusive: true,
      arguments: {},
      connection: '',
      credit: this.window.begin(),
      sink: this,
      cookie: undefined,
      stays: true,
    };
    clients
      .client(group)
      .consume(outboxIncarnation, request)
      .then(
        (subscription) => {
          this.subscription = subscription;
          if (this.isOver) this.letGo();
          else this.grant();
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
    this.held.push({ position, holder: subscription, bytes: message.length, left: 1 });
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
    if (this.options.rules.outboxSafeFirst) held.holder.ack(held.position);
    while (this.held.peek()?.left === 0) {
      this.window.done(this.held.shift()!.bytes);
      this.firstTag++;
    }
    this.grant();
  }

  /** A queue that is full refuses it: it is gone, as in RabbitMQ. Nothing else refuses it, see PatientGate. */
  refused(tag: number): void {
    this.completed(tag);
  }

  // ---- inside ----

  private grant(): void {
    const count = this.subscription === undefined ? 0 : this.window.take();
    if (count > 0) this.subscription!.grant(count);
  }

  private tryLater(): void {
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
    const { clients, tables, group, rules } = this.options;
    const routing = this.route(message);
    if (routing === undefined) return false;
    const newGate = (): PatientGate => new PatientGate(tables);
    const { targets } = new ClusterRoute(routing, tables.routingVersion, clients, tables, newGate);
    const held = this.held.at(tag - this.firstTag)!;
    const { position } = held;
    const origin = { group, position, done: Math.min(this.options.done(), position) };
    const { parts } = this;
    parts.setFrom(message);
    parts.metaStart = innerMeta(message);
    parts.metaLength -= parts.metaStart - message.metaStart;
    const told = new Set<GroupClient>();
    for (const { client, incarnations, durable, gate } of targets) {
      // With very many queues a group is sent it in parts: it would take the second for the first once more.
      parts.origin = told.has(client) ? undefined : origin;
      told.add(client);
      held.left++;
      client.publish(parts, incarnations, durable && parts.persistent, this, tag, gate);
    }
    if (!rules.outboxSafeFirst) held.holder.ack(held.position);
    this.completed(tag);
    return true;
  }

  /** Undefined: it is not known yet. */
  private route(message: EnqueueView): Routing | undefined {
    const { tables, headers } = this.options;
    if (!this.options.mayRoute()) return undefined;
    const { vhost, exchange, routingKey } = readEnvelope(message);
    const routing = tables.routeFrom(vhost, exchange, routingKey, () => headers.table(message));
    if (routing.waits) return undefined;
    const queues = routing.queues.filter(({ name }) => !headers.isCircle(message, name));
    return { ...routing, queues };
  }
}
