/**
 * The consuming side of a channel: its consumers, what the broker delivers to them, what their client has not settled yet.
 *
 * A consumer goes through: requested (the broker was asked) → started (consume-ok is out) → ended (cancelled by either side;
 * what the client holds stays valid, and the subscription is closed when nothing of it is left or the channel ends).
 */
import { Phase } from '../base/turn.js';
import type { EnqueueView } from '../log/record.js';
import type { DeliverySink, Holder, Subscription } from '../model/broker.js';
import { deliveryCost } from '../model/delivery-cost.js';
import type { ChannelHost } from './channel-host.js';
import type { ChannelOutput } from './channel-output.js';
import { BasicCancel, type DeliverTemplate } from './codec/index.js';
import type { Consumer } from './consumer.js';
import { Credit } from './credit.js';
import type { ReplyConsumer } from './reply-consumer.js';
import { shownMessage } from './shown-message.js';
import { Outcome, Unacked } from '../model/unacked.js';

/** Bytes of a delivery besides tag, meta, header and body: three frames with their fixed parts. */
const deliveryOverheadBytes = 60;

/** So many of the messages that a client holds are looked at. */
const lookMax = 1000;

/** Writes consume-ok; before a consumer's first delivery at the latest. */
export type ConsumerStarter = (consumer: Consumer) => void;

export class Deliveries implements DeliverySink {
  readonly consumers: Map<string, Consumer> = new Map();
  readonly credit: Credit;
  /** Takes the replies to what the channel publishes, if there is one. */
  replies: ReplyConsumer | null = null;
  private readonly host: ChannelHost;
  private readonly channel: number;
  private readonly out: ChannelOutput;
  private readonly start: ConsumerStarter;
  private unacked: Unacked = new Unacked();
  /** Ended consumers of which the client still holds messages. */
  private readonly retired: Set<Consumer> = new Set();
  private nextTag = 1;
  private closed = false;

  constructor(host: ChannelHost, channel: number, out: ChannelOutput, start: ConsumerStarter) {
    this.host = host;
    this.channel = channel;
    this.out = out;
    this.start = start;
    this.credit = new Credit(host.limits, host.output, () => host.turn.add(Phase.log, this.credit));
  }

  /** The client holds so much that it must settle some first. */
  get exhausted(): boolean {
    return this.unacked.size >= this.host.limits.unackedMax;
  }

  /** It has no consumer, and its client holds nothing. */
  get isUnused(): boolean {
    return this.consumers.size === 0 && this.unacked.size === 0;
  }

  /** Its client holds messages of a queue that is too full, among the first of those that it holds. */
  get holdsStopped(): boolean {
    const { stops } = this.host.broker;
    return this.unacked.someOldest(lookMax, (holder) => stops.concerns(holder));
  }

  /** Takes a consumer whose subscription is being asked for, and returns its first credit. */
  add(consumer: Consumer): number {
    this.consumers.set(consumer.tag, consumer);
    this.host.output.consumerCount++;
    this.host.counters.consumers++;
    return this.credit.add(consumer);
  }

  /** The broker has accepted the consumer: at the latest with its first delivery. */
  accepted(consumer: Consumer, subscription: Subscription): void {
    if (consumer.started) return;
    consumer.subscription = subscription;
    consumer.started = true;
    this.start(consumer);
    if (!consumer.ended) return;
    this.notifyCancelled(consumer);
    subscription.close();
  }

  /** The consumer ends: nothing more is granted. Its subscription is closed once nothing of it is held. */
  retire(consumer: Consumer): void {
    if (consumer.ended) return;
    consumer.ended = true;
    this.consumers.delete(consumer.tag);
    this.forget();
    this.credit.remove(consumer);
    if (!consumer.subscription) return;
    if (consumer.unacked > 0) this.retired.add(consumer);
    else consumer.subscription.close();
  }

  deliver(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const consumer = subscription.cookie as Consumer;
    const { output } = this.host;
    if (!consumer.started) this.accepted(consumer, subscription);
    if (this.closed || !this.credit.admit(consumer, deliveryCost(consumer.noAck, message), output.overfull)) {
      this.host.counters.heldBack++;
      if (!consumer.noAck) subscription.release(position);
      return;
    }
    const tag = this.nextTag++;
    if (!consumer.noAck) this.hold(tag, position, subscription, consumer);
    this.out.frames.deliver(consumer.template, tag, redelivered, shownMessage(message, returns));
    this.host.counters.delivered++;
    output.delivered(
      deliveryOverheadBytes + consumer.tag.length + message.metaLength + message.headerLength + message.bodyLength,
    );
    if (message.isLarge) this.out.body(this.host.broker.body(subscription, message));
  }

  /** A reply from another client. Nobody has promised that it comes: one that the client does not read is gone. */
  deliverReply(template: DeliverTemplate, message: EnqueueView): void {
    const { output, counters } = this.host;
    if (this.closed || output.overfull) return;
    this.out.frames.deliver(template, this.nextTag++, false, shownMessage(message, 0));
    counters.delivered++;
    output.delivered(deliveryOverheadBytes + message.metaLength + message.headerLength + message.bodyLength);
  }

  /** Takes no more replies. */
  dropReplies(): void {
    this.replies?.address?.close();
    this.replies = null;
  }

  cancelled(subscription: Subscription, _reason: string): void {
    const consumer = subscription.cookie as Consumer;
    if (this.closed || consumer.ended) return;
    this.retire(consumer);
    if (consumer.started) this.notifyCancelled(consumer);
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    this.unacked.forEach(visit);
  }

  /** Answers basic.get with a message. */
  got(
    message: EnqueueView,
    position: number,
    redelivered: boolean,
    remaining: number,
    holder: Holder,
    noAck: boolean,
    returns: number,
  ): void {
    const tag = this.nextTag++;
    if (!noAck) this.hold(tag, position, holder, null);
    this.out.frames.getOk(this.channel, tag, redelivered, shownMessage(message, returns), remaining);
    this.host.counters.got++;
    this.host.output.delivered(deliveryOverheadBytes + message.metaLength + message.headerLength + message.bodyLength);
    if (message.isLarge) this.out.body(this.host.broker.body(holder, message));
  }

  /** See Unacked.settle. */
  settle(tag: number, multiple: boolean, outcome: Outcome): boolean {
    const before = this.unacked.size;
    if (!this.unacked.settle(tag, multiple, outcome)) return false;
    const count = before - this.unacked.size;
    if (outcome === Outcome.requeue) this.host.counters.requeued += count;
    else this.host.counters.acknowledged += count;
    if (this.retired.size > 0) this.dropRetired();
    return true;
  }

  // For transactions

  holds(tag: number): boolean {
    return this.unacked.has(tag);
  }

  tagsUpTo(tag: number): number[] {
    return this.unacked.tagsUpTo(tag);
  }

  /** Takes a delivery out, which `taken` settles. */
  take(tag: number, taken: (holder: Holder, position: number) => void): void {
    this.unacked.take(tag, taken);
    this.host.counters.acknowledged++;
    if (this.retired.size > 0) this.dropRetired();
  }

  /** The channel ends: the broker requeues whatever its client holds, which it may ask for meanwhile (`forEachHeld`). */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.dropReplies();
    for (const consumer of this.consumers.values()) {
      consumer.ended = true;
      this.forget();
      consumer.subscription?.close();
    }
    for (const consumer of this.retired) consumer.subscription?.close();
    this.consumers.clear();
    this.retired.clear();
    this.host.broker.forgetSink(this);
    this.unacked = new Unacked();
  }

  /** One consumer less. */
  private forget(): void {
    this.host.output.consumerCount--;
    this.host.counters.consumers--;
  }

  private hold(tag: number, position: number, holder: Holder, consumer: Consumer | null): void {
    this.unacked.push(tag, position, holder, consumer);
    if (this.unacked.size !== this.host.limits.unackedMax) return;
    this.host.logger.warn('a channel holds as many unacknowledged deliveries as it may', { channel: this.channel });
  }

  /** basic.cancel from our side, to clients that know it (capability consumer_cancel_notify). */
  private notifyCancelled(consumer: Consumer): void {
    if (!this.host.traits.cancelNotify) return;
    this.out.frames.method(this.channel, new BasicCancel(consumer.tag, true));
    this.host.output.touch();
  }

  private dropRetired(): void {
    for (const consumer of this.retired) {
      if (consumer.unacked > 0) continue;
      this.retired.delete(consumer);
      consumer.subscription?.close();
    }
  }
}
