/**
 * One group as this node's AMQP clients use it, whoever leads it. There is one for each group and node.
 *
 * It keeps everything that the group's primary has not answered: publishes in order of their sequence (this boot's, from 1,
 * never reset), settlements, questions, and the subscriptions themselves. An attachment to a primary begins by naming what
 * the node's clients hold (rule 13); then subscriptions, all unconfirmed publishes in order before any new one (rule 14),
 * settlements and questions are said again. Whatever comes from an older attachment is dropped.
 *
 *   publish ─┬─ direct: straight into the log of this node ────────────┬─ confirmed(sequence) ─ owner.completed(tag)
 *            └─ outbox ─ once per turn, or at the next attachment ─────┘
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import { SlicedWalk } from '../../base/slices.js';
import { type Flushable, Phase } from '../../base/turn.js';
import type { EnqueueView, MessageParts } from '../../log/record.js';
import type { ConsumeRequest, DeliverySink, GetRequest, PublishOwner, Subscription } from '../../model/broker.js';
import { deliveryCost } from '../../model/delivery-cost.js';
import type { GroupServicePort, HeldMessage } from '../../model/group-port.js';
import type { DeadLettering } from '../../model/queue/queue-traits.js';
import type { UnitMessage, UnitSettlement } from '../../model/unit.js';
import { Bodies } from './bodies.js';
import { ClosedSubscriptions } from './closed-subscriptions.js';
import type { GroupClientContext, Unfinished } from './group-client-context.js';
import type { ConfirmGate } from './confirm-gate.js';
import { ConfirmRing } from './confirm-ring.js';
import { HeldConfirms } from './held-confirms.js';
import { HeldMessages } from './held-messages.js';
import { OpeningSubscriptions } from './opening-subscriptions.js';
import { PassedOn } from './passed-on.js';
import { PublishOutbox } from './publish-outbox.js';
import { type PurgeOutcome, type QueueCount, Requests } from './requests.js';
import { type Modification, Settlement, type SettlementOwner, SettlementRing } from './settlement-ring.js';
import { isBrowser, makeSubscription } from './browsers.js';
import { ClusterSubscription, type HolderClient, type QueueDestination, QueueHolder } from './subscription.js';
import { Subscriptions } from './subscriptions.js';
import { type ServiceControl, settle, type Tie } from './tie.js';

/** Held messages named, or subscriptions told of, in one turn. */
export const attachSlice = 2048;
/** A question that is not answered in this time fails; but for a long one, as long as its primary is there. */
export const requestTimeoutMs = 30_000;

export class GroupClient implements HolderClient, Flushable {
  readonly group: number;
  /** The service of the present attachment. */
  port: ServiceControl | undefined;
  private readonly context: GroupClientContext;
  private readonly held: HeldConfirms;
  private readonly confirms: ConfirmRing;
  /** As the primary last said; -1 = it has not. */
  private inSync = -1;
  private refusals: [owner: PublishOwner, tag: number][] = [];
  private outbox: PublishOutbox;
  /** What a log of this node gave back when it was deposed; becomes the outbox's beginning. */
  private returned: PublishOutbox | undefined;
  private readonly settlements = new SettlementRing();
  readonly requests: Requests = new Requests();
  private readonly subscriptions = new Subscriptions();
  private readonly opening = new OpeningSubscriptions();
  /** Sinks that may hold messages of this group: something was delivered to them, or asked for by them. */
  private readonly sinks = new Set<DeliverySink>();
  /** Why the group is gone for ever; '' = it is not. */
  private gone = '';
  private tie: Tie | undefined;
  /** The service itself, if publishes and settlements may go straight to it. */
  private direct: GroupServicePort | undefined;
  private lastAttachment = 0;
  /** Number of the attachment that is being made or used; 0 = none. */
  private current = 0;
  /** What an attachment takes many turns for: naming what is held, subscribing again. */
  private walk: SlicedWalk | undefined;
  private lastSubscriber = 0;
  private dirty = false;
  private rewindLate = false;
  private readonly passedOn: PassedOn;
  /** Of large messages. */
  readonly bodies: Bodies = new Bodies(this);
  private toGrant: ClusterSubscription[] = [];
  private readonly closing = new ClosedSubscriptions();

  constructor(group: number, context: GroupClientContext) {
    this.group = group;
    this.context = context;
    this.held = new HeldConfirms(context.clock);
    this.confirms = new ConfirmRing(this.held);
    this.outbox = new PublishOutbox(context.memory);
    this.passedOn = new PassedOn(context);
  }

  // ---- for this node's protocols ----

  /**
   * Sends a message to the queues `incarnations` of this group; `owner.completed(tag)` follows in a later phase or turn, when `gate`
   * is open.
   */
  publish(
    parts: MessageParts,
    incarnations: readonly number[],
    durable: boolean,
    owner: PublishOwner,
    tag: number,
    gate?: ConfirmGate,
  ): void {
    const isGated = gate !== undefined && gate.need > 1 && this.context.rules.minInSync;
    if (parts.moved) this.passedOn.began(this.confirms.outstanding);
    const mayBeRefused = parts.large || (gate !== undefined && gate.isRejecting);
    const sequence = this.confirms.push(owner, tag, isGated ? gate : undefined, mayBeRefused);
    const { direct } = this;
    const version = this.context.wiringVersion();
    if (direct !== undefined && version <= direct.wiringVersion && this.outbox.allSent) {
      direct.publish(parts, incarnations, durable, sequence, version);
    } else {
      this.outbox.append(parts, incarnations, durable, this.context.boot, sequence);
      this.touch();
    }
  }

  /** Sends what a transaction does in this group, as one unit; `owner.completed(tag)` follows, when `gate` is open. */
  transact(
    messages: readonly UnitMessage[],
    settlements: readonly UnitSettlement[],
    owner: PublishOwner,
    tag: number,
    gate?: ConfirmGate,
  ): void {
    const isGated = gate !== undefined && gate.need > 1 && this.context.rules.minInSync;
    const sequence = this.confirms.push(owner, tag, isGated ? gate : undefined, gate?.isRejecting);
    // Kept here in any case: a log of this node would give back its parts only.
    this.outbox.appendUnit(messages, settlements, this.context.boot, sequence);
    this.touch();
  }

  /** Publishes through that gate are to be refused now: there are too few replicas, as the primary has said. */
  isClosed(gate: ConfirmGate): boolean {
    return gate.need > this.inSync && this.inSync >= 0 && gate.isRefusing && this.context.rules.minInSync;
  }

  /** `owner.refused(tag)` follows in a later phase or turn. */
  refuse(owner: PublishOwner, tag: number): void {
    this.refusals.push([owner, tag]);
    this.touch();
  }

  forgetPublisher(owner: PublishOwner): void {
    this.confirms.forget(owner);
    this.held.forget(owner);
    this.refusals = this.refusals.filter(([one]) => one !== owner);
  }

  /** The node stops. */
  close(): void {
    this.held.close();
  }

  /** Resolves with one that is closed already if its sink is forgotten before. */
  consume(incarnation: number, request: ConsumeRequest): Promise<Subscription> {
    const subscription = this.newSubscription(incarnation, request);
    return this.opening.wait(
      subscription,
      subscription.open(this.isResubscribing ? undefined : this.context.wiringVersion()),
    );
  }

  /** The queue has moved: its subscriptions go there. */
  moveSubscriptions(incarnation: number, destination: QueueDestination): void {
    for (const subscription of this.subscriptions.of(incarnation)) subscription.move(destination);
  }

  takeOver(incarnation: number, request: ConsumeRequest): ClusterSubscription {
    const subscription = this.newSubscription(incarnation, request);
    if (!this.isResubscribing) subscription.subscribe(this.context.wiringVersion());
    return subscription;
  }

  private newSubscription(incarnation: number, request: ConsumeRequest): ClusterSubscription {
    const subscription = makeSubscription(this, incarnation, ++this.lastSubscriber, request, this.context.clock.now());
    this.subscriptions.add(subscription);
    this.touch();
    return subscription;
  }

  get(incarnation: number, request: GetRequest): void {
    this.sinks.add(request.sink);
    this.ask(this.requests.get(incarnation, this.context.clock.now(), request));
  }

  /** @param isUse it counts as a use of the queue (`x-expires`) */
  count(incarnation: number, isUse: boolean = false): Promise<QueueCount> {
    return new Promise((resolve, reject) => {
      this.ask(this.requests.count(incarnation, isUse, this.context.clock.now(), resolve, reject));
    });
  }

  purge(incarnation: number, to?: DeadLettering): Promise<PurgeOutcome> {
    return new Promise((resolve, reject) => {
      this.ask(this.requests.purge(incarnation, to, this.context.clock.now(), resolve, reject));
    });
  }

  /** The sink's channel is gone: gives back what it holds of this group, except for what a closed subscription gave back. */
  forgetSink(sink: DeliverySink): void {
    this.requests.forgetSink(sink);
    this.opening.forgetSink(sink);
    if (!this.sinks.delete(sink)) return;
    sink.forEachHeld((holder, position) => {
      if (!(holder instanceof QueueHolder) || holder.client !== this) return;
      if (!(holder instanceof ClusterSubscription) || !holder.closed || this.closing.has(holder))
        holder.requeue(position);
    });
    this.closing.forgetSink(sink);
  }

  /** What is not finished yet between this node's clients and the group. */
  get unfinished(): Unfinished {
    return {
      publishes: this.confirms.outstanding + this.held.length,
      settlements: this.settlements.end - this.settlements.answered,
      requests: this.requests.size,
      subscriptions: this.subscriptions.size,
      bodies: this.bodies.reading,
      channels: this.sinks.size,
    };
  }

  /** Fails the questions and new subscriptions that have waited too long. */
  expireRequests(): void {
    const now = this.context.clock.now();
    if (this.requests.size > 0) this.requests.expire(now, requestTimeoutMs, this.group, this.tie !== undefined);
    for (const subscription of this.subscriptions.values()) subscription.expire(now - requestTimeoutMs);
  }

  // ---- HolderClient ----

  settle(kind: Settlement, incarnation: number, position: number, owner?: SettlementOwner, tag?: number): void {
    this.settlements.push(kind, incarnation, position, owner, tag);
    this.settleNext();
  }
  modify(incarnation: number, position: number, modification: Modification): void {
    this.settlements.pushModify(incarnation, position, modification);
    this.settleNext();
  }
  private settleNext(): void {
    if (this.direct === undefined) this.touch();
    else settle(this.direct, this.settlements, this.settlements.sent++);
  }
  opened(subscription: ClusterSubscription): void {
    this.toGrant.push(subscription);
    this.touch();
  }
  ended(subscription: ClusterSubscription): void {
    this.subscriptions.delete(subscription);
  }
  closed(subscription: ClusterSubscription): void {
    this.closing.add(subscription);
    this.touch();
  }

  // ---- attachments ----

  /** The present attachment, if any. */
  get attachment(): Tie | undefined {
    return this.tie;
  }
  get lastSequence(): number {
    return this.confirms.last;
  }
  /** The last publish known to be safe: the next primary is told. */
  get confirmedSequence(): number {
    return this.confirms.confirmed;
  }

  /**
   * An attachment to a primary is to be made: `named` is called with its number and what this node's clients hold, now
   * or, if that is much, in a later turn; not at all if `detached` is called before. From now on everything that clients say is
   * kept for the new attachment.
   */
  beginAttachment(named: (number: number, held: readonly HeldMessage[]) => void): void {
    this.detached();
    this.closing.giveBack();
    this.gone = '';
    const number = ++this.lastAttachment;
    this.current = number;
    const messages = new HeldMessages(this);
    const since = this.settlements.end;
    this.goThrough(this.nameHeld(messages), () => {
      this.closing.giveBack();
      this.nameSettled(messages, since);
      named(number, messages.held);
    });
  }

  private *nameHeld(messages: HeldMessages): Generator<number, void> {
    for (const sink of this.sinks) yield 1 + messages.addSink(sink);
  }

  /** @param since settlements from this number on were made while what is held was being named: it was held when that began. */
  private nameSettled(messages: HeldMessages, since: number): void {
    messages.addUnits(this.outbox, this.confirms.confirmed);
    this.settlements.restart(
      since,
      (incarnation, position) => messages.addNew(incarnation, position),
      (kind, incarnation, position) => messages.addReturned(kind, incarnation, position),
    );
    messages.addSettlements(this.settlements);
  }

  private goThrough(steps: Iterator<number, void>, done?: () => void): void {
    this.walk = undefined;
    const walk = new SlicedWalk(steps, attachSlice, this.context.slices, done);
    // What `done` has begun is the walk to be stopped.
    if (!walk.isOver) this.walk = walk;
  }

  /** Do calls with this attachment's number count? Those of an older attachment never do (rule 13). */
  isCurrent(number: number): boolean {
    return number === this.current;
  }

  /** The primary took the attachment: says everything again that is not answered. */
  attached(tie: Tie): void {
    this.tie = tie;
    this.port = tie.port;
    if (this.context.rules.doubtRefuses) this.confirms.doubt(tie.port.taken);
    this.goThrough(this.subscribeAgain());
    if (this.passedOn.mayBeTwice) this.outbox.flagMoved();
    if (this.context.rules.resendFirst) this.outbox.rewind(this.confirms.confirmed);
    else this.rewindLate = true;
    this.requests.askAllAfter(this.outbox.last);
    this.send(tie);
    this.bodies.attached();
    this.direct = tie.direct;
  }

  /** In the order in which they were made; those that are made meanwhile come last, lest they take an older one's place. */
  private *subscribeAgain(): Generator<number, void> {
    for (const subscription of this.subscriptions.values()) {
      subscription.subscribe(this.context.wiringVersion());
      yield subscription.weight;
    }
  }

  private get isResubscribing(): boolean {
    return this.walk?.isOver === false;
  }

  /** The attachment is over; everything unanswered is kept. Idempotent. */
  detached(): void {
    this.current = 0;
    this.walk?.stop();
    this.walk = undefined;
    if (this.returned !== undefined) {
      this.outbox.moveTo(this.returned);
      this.outbox = this.returned;
      this.returned = undefined;
    }
    if (this.tie === undefined) return;
    this.tie = undefined;
    this.port = undefined;
    this.direct = undefined;
    this.inSync = -1;
    this.held.level(0);
    for (const subscription of [...this.subscriptions.values()]) subscription.detached();
  }

  /**
   * A publish that the log of this node had taken and that never committed comes back, before the attachment ends: see
   * UnconfirmedKeeper. What committed without our knowledge the next primary confirms.
   */
  keepPublish(bytes: Uint8Array, view: DataView, start: number): void {
    const sequence = view.getFloat64(start + 24, true);
    this.returned ??= new PublishOutbox(this.context.memory);
    if (sequence <= this.confirms.confirmed || sequence <= this.returned.last) return;
    // Of a unit only its number is among the log's publishes.
    const unit = this.outbox.unit(sequence);
    if (unit !== undefined) this.returned.appendRecord(unit, 0, unit.length, sequence);
    else this.returned.appendRecord(bytes, start, view.getUint32(start, true), sequence);
  }

  /** The group is gone for ever, with its queues: nothing is owed to anybody, what is asked of it is refused. */
  abandon(reason: string): void {
    this.gone = reason;
    this.detached();
    for (const subscription of [...this.subscriptions.values()]) subscription.cancelledByService(reason);
    this.settlements.clear();
    this.bodies.abandon(reason);
    this.requests.failAll(new RefusedError(Refusal.notFound, reason));
    this.confirmed(this.confirms.last, Number.POSITIVE_INFINITY);
  }

  // ---- what the service says; the caller has checked the attachment's number ----

  confirmed(sequence: number, inSync: number): void {
    if (!this.outbox.isEmpty) this.outbox.release(Math.min(sequence, this.confirms.last));
    this.inSync = inSync;
    this.held.level(inSync);
    if (sequence > this.confirms.confirmed) this.passedOn.confirmed();
    this.confirms.confirmTo(sequence, inSync);
  }

  rejected(sequence: number): void {
    this.confirms.refuse(sequence);
  }
  settled(count: number): void {
    this.settlements.settled(count);
  }
  deliver(
    subscriber: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const { isLarge } = message;
    if (isLarge) this.bodies.coming(message);
    const subscription = this.subscriptions.get(subscriber);
    if (subscription === undefined) {
      if (!isBrowser(subscriber)) this.settle(Settlement.release, incarnation, position);
      if (isLarge) this.bodies.came();
      return;
    }
    if (!subscription.hasDelivered) this.sinks.add(subscription.sink);
    subscription.delivers(position);
    subscription.credit -= deliveryCost(subscription.noAck, message);
    subscription.sink.deliver(subscription, position, redelivered, message, returns);
    if (isLarge) this.bodies.came();
  }
  subscribed(subscriber: number, refusal: string): void {
    this.subscriptions.get(subscriber)?.subscribed(refusal);
  }
  drained(subscriber: number): void {
    this.subscriptions.get(subscriber)?.drained();
  }
  unsubscribed(subscriber: number): void {
    this.subscriptions.get(subscriber)?.unsubscribed();
  }
  cancelled(subscriber: number, reason: string): void {
    this.subscriptions.get(subscriber)?.cancelledByService(reason);
  }

  got(
    request: number,
    incarnation: number,
    position: number,
    redelivered: boolean,
    remaining: number,
    message: EnqueueView,
    returns: number,
  ): void {
    if (message.isLarge) this.bodies.coming(message);
    const holder = new QueueHolder(this, incarnation);
    const taken = this.requests.got(request, message, position, redelivered, remaining, holder, returns);
    if (!taken) this.settle(Settlement.release, incarnation, position);
    this.bodies.came();
  }
  gotNothing(request: number, refusal: string): void {
    this.requests.gotNothing(request, refusal);
  }
  counted(request: number, ready: number, unacknowledged: number, consumers: number): void {
    this.requests.counted(request, ready, unacknowledged, consumers);
  }
  purged(request: number, count: number, refusal: string): void {
    this.requests.purged(request, count, refusal);
  }

  // ---- sending ----

  /** The way to the service takes more again. */
  touch(): void {
    if (this.dirty) return;
    this.dirty = true;
    this.context.turn.add(Phase.log, this);
  }

  flush(): void {
    this.dirty = false;
    for (const [owner, tag] of this.refusals.splice(0)) owner.refused(tag);
    this.closing.giveBack();
    if (this.tie !== undefined) this.send(this.tie);
    else if (this.gone !== '') this.abandon(this.gone);
    if (this.toGrant.length > 0) for (const subscription of this.toGrant.splice(0)) subscription.grantFirst();
  }

  private send(tie: Tie): void {
    const version = this.context.wiringVersion();
    tie.send(this.outbox, this.settlements, version, this.requests.areDue);
    if (this.requests.areDue) this.requests.askDue(tie.port, version, this.outbox.unsent);
    if (!this.rewindLate) return;
    this.rewindLate = false;
    this.outbox.rewind(this.confirms.confirmed);
    this.touch();
  }

  /** Asks in order with what was published and settled before. */
  ask(request: number): void {
    this.requests.askAfter(request, this.outbox.last);
    if (this.tie === undefined) this.touch();
    else this.send(this.tie);
  }
}
