/**
 * What a session's client is sent and has not settled: the deliveries of all its outgoing links, in order of their ids.
 */
import { type Flushable, Phase } from '../base/turn.js';
import { asAmqp10 } from '../conversion/to-amqp10.js';
import { MessageFormat } from '../log/message-format.js';
import type { EnqueueView } from '../log/record.js';
import type { DeliverySink, Holder, Subscription } from '../model/broker.js';
import { Outcome, Unacked } from '../model/unacked.js';
import {
  Descriptor,
  type DispositionView,
  MessageView,
  type Modified,
  StateKind,
  stateAt,
  type TransferHead,
} from './codec/index.js';
import { DeliveryLead } from './delivery-lead.js';
import { describeFault } from './errors.js';
import { GatheredBody } from './gathered-body.js';
import type { OutgoingLink } from './outgoing-link.js';
import { ahead } from './serial.js';
import type { SessionHost } from './session-host.js';
import type { TransferWindow } from './transfer-window.js';

/** What an outgoing link needs besides its session. */
export interface OutgoingHost extends SessionHost {
  readonly sink: DeliverySink;
  /** Output, session and client can take deliveries. */
  readonly hasRoom: boolean;
  /** Deliveries of a link that may be on their way. */
  readonly windowMax: number;
  /** The link's credit is to be looked at in this turn. */
  creditDue(link: OutgoingLink): void;
  /** What the link's client holds goes back. */
  giveBack(link: OutgoingLink): void;
}

/** All sessions share them: a delivery is out before the next comes. */
const view = new MessageView();
const lead = new DeliveryLead();

export class Deliveries implements DeliverySink, Flushable {
  private readonly host: SessionHost;
  private readonly window: TransferWindow;
  private unacked: Unacked = new Unacked();
  /** Ids of deliveries, as numbers that do not go round. */
  private next = 0;
  private due: OutgoingLink[] = [];
  /** Large messages that come part by part. */
  private readonly gathering = new Set<GatheredBody>();
  private readonly head: TransferHead = { handle: 0, deliveryId: 0, settled: false };
  /** The client holds as many as it may. */
  private isFull = false;
  private closed = false;
  private readonly opened: () => void;
  /** The window has opened in this turn. */
  private hasOpened = false;

  /** @param opened the links may deliver again: the window has opened without a word of the client */
  constructor(host: SessionHost, window: TransferWindow, opened: () => void) {
    this.host = host;
    this.window = window;
    this.opened = opened;
  }

  get hasRoom(): boolean {
    return !this.host.output.congested && this.window.isOpen && !this.isFull;
  }

  get windowMax(): number {
    return Math.max(1, Math.min(this.host.limits.creditWindow, this.host.output.windowMax));
  }

  deliver(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const link = subscription.cookie as OutgoingLink;
    const { output, counters } = this.host;
    if (this.closed || !link.takes(!this.isFull && !output.overfull && this.window.isOpen)) {
      counters.heldBack++;
      subscription.release(position);
      return;
    }
    if (message.isLarge) return this.gather(subscription, position, redelivered, message, returns);
    this.show(link, subscription, position, redelivered, message, returns);
  }

  private gather(
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const source = this.host.broker.body(subscription, message);
    const body = new GatheredBody(subscription, position, redelivered, message, returns, source, this.gathered);
    body.link.wait(true);
    this.gathering.add(body);
    body.begin();
  }

  private readonly gathered = (body: GatheredBody, reason: string): void => {
    if (!this.gathering.delete(body)) return;
    const { link, subscription, position, redelivered, returns } = body;
    if (reason === '') this.show(link, subscription, position, redelivered, body.message(), returns);
    else this.host.logger.warn('a large message is not delivered', { reason });
    link.wait(false);
  };

  private show(
    link: OutgoingLink,
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const { counters } = this.host;
    const number = this.next++;
    try {
      this.send(link, number >>> 0, redelivered, message, returns);
    } catch (error) {
      this.host.logger.error('a message cannot be shown', { error: describeFault(error) });
      subscription.reject(position);
      return;
    }
    link.delivered();
    counters.delivered++;
    if (!link.settlesAtOnce) return this.hold(number, position, subscription, link);
    counters.acknowledged++;
    subscription.ack(position);
  }

  private hold(number: number, position: number, holder: Holder, link: OutgoingLink): void {
    this.unacked.push(number, position, holder, link);
    if (this.unacked.size < this.host.limits.unsettledMax) return;
    this.isFull = true;
    this.host.logger.warn('a session holds as many unsettled deliveries as it may', { deliveries: this.unacked.size });
  }

  private send(
    link: OutgoingLink,
    deliveryId: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const shown = message.format === MessageFormat.amqp10 ? message : asAmqp10(message);
    const { bytes, headerStart, bodyStart, bodyLength } = shown;
    view.setLead(bytes, headerStart, bodyStart + bodyLength);
    lead.set(shown, view, redelivered, returns);
    const { head } = this;
    head.handle = link.ownHandle;
    head.deliveryId = deliveryId;
    head.settled = link.settlesAtOnce;
    this.window.send(head, lead, bytes, view.keptStart, view.end);
    this.host.output.delivered(lead.length + view.end - view.keptStart);
  }

  cancelled(subscription: Subscription, reason: string): void {
    if (!this.closed) (subscription.cookie as OutgoingLink).cancelled(reason);
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    this.unacked.forEach(visit);
    for (const { subscription, position } of this.gathering) visit(subscription, position);
  }

  /** The client has told what becomes of deliveries (§2.7.6, §3.4). Returns how many were settled by it. */
  settle(disposition: DispositionView): number {
    const first = this.numberOf(disposition.first);
    const last = this.numberOf(disposition.last);
    const outcome = outcomeOf(disposition);
    if (outcome === undefined || last < first) return 0;
    const count = this.unacked.settleRange(first, last, outcome);
    if (outcome === Outcome.requeue) this.host.counters.requeued += count;
    else this.host.counters.acknowledged += count;
    return count;
  }

  /** The client has settled some of as many as it may hold: its links can have credit again. */
  regainsRoom(): boolean {
    if (!this.isFull || this.unacked.size >= this.host.limits.unsettledMax) return false;
    this.isFull = false;
    return true;
  }

  /** Ids go round; those that clients name are near those that were given last. */
  private numberOf(id: number): number {
    return this.next + ahead(id, this.next >>> 0);
  }

  creditDue(link: OutgoingLink): void {
    if (link.due) return;
    link.due = true;
    if (this.due.push(link) === 1 && !this.hasOpened) this.host.turn.add(Phase.log, this);
  }

  flush(): void {
    const { due } = this;
    this.due = [];
    for (const link of due) {
      link.due = false;
      link.replenish();
    }
    if (!this.hasOpened) return;
    this.hasOpened = false;
    if (!this.closed) this.opened();
  }

  /** The link ends, and the session goes on. */
  giveBack(link: OutgoingLink): void {
    if (this.closed) return;
    this.unacked.takeAllOf(link, (holder, position) => holder.requeue(position));
    for (const body of this.gathering) {
      if (body.link !== link) continue;
      this.gathering.delete(body);
      body.close();
      body.subscription.requeue(body.position);
    }
    const wasOpen = this.window.isOpen;
    this.window.drop(link.ownHandle);
    if (wasOpen || !this.window.isOpen) return;
    this.hasOpened = true;
    if (this.due.length === 0) this.host.turn.add(Phase.log, this);
  }

  /** The session ends: what its client holds is given back by the broker, which asks for it, when the links have closed their subscriptions. */
  beginClose(): void {
    this.closed = true;
  }

  close(): void {
    this.host.broker.forgetSink(this);
    this.unacked = new Unacked();
    for (const body of this.gathering) body.close();
    this.gathering.clear();
  }
}

/** Undefined: nothing is settled by it. */
function outcomeOf({ state, settled, bytes, stateAt: at, stateEnd }: DispositionView): Outcome | undefined {
  if (state === StateKind.accepted) return Outcome.ack;
  if (state === StateKind.released) return Outcome.requeue;
  // Settled without a word: the default outcome, which is released here (§2.6.12, §3.5.3).
  if (state === StateKind.none) return settled ? Outcome.requeue : undefined;
  const outcome = stateAt(bytes, at, stateEnd);
  if (outcome === undefined || outcome.descriptor === Descriptor.received) return settled ? Outcome.requeue : undefined;
  if (outcome.descriptor === Descriptor.rejected) return Outcome.reject;
  if (outcome.descriptor === Descriptor.modified) return modified(outcome);
  return outcome.descriptor === Descriptor.accepted ? Outcome.ack : Outcome.requeue;
}

/** Whoever wants it no more is not given it again: as in RabbitMQ it is refused for all. */
function modified({ undeliverableHere }: Modified): Outcome {
  return undeliverableHere ? Outcome.reject : Outcome.requeue;
}
