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
  Condition,
  Descriptor,
  type DeliveryState,
  type DispositionView,
  MessageView,
  type Modified,
  Released,
  StateKind,
  stateAt,
  type TransactionalState,
  type TransferHead,
} from './codec/index.js';
import { DeliveryLead } from './delivery-lead.js';
import { describeFault, LinkError, SessionError } from './errors.js';
import { isAnnotated, modificationOf, outcomeOf } from './outcome-of.js';
import type { OutgoingLink } from './outgoing-link.js';
import type { OwnSettlements } from './own-settlements.js';
import { ahead } from './serial.js';
import type { SessionHost } from './session-host.js';
import { StagedDeliveries, type StagingHost } from './staged-deliveries.js';
import { type BodyTaker, StreamedBody } from './streamed-body.js';
import { unknownTransaction } from './transaction-table.js';
import type { TransferWindow } from './transfer-window.js';

/** What an outgoing link needs besides its session. */
export interface OutgoingHost extends SessionHost {
  readonly sink: DeliverySink;
  /** Output, session and client can take deliveries. */
  readonly hasRoom: boolean;
  /** A delivery is out in part. */
  readonly isSending: boolean;
  /** Deliveries of a link that may be on their way. */
  readonly windowMax: number;
  /** The link's credit is to be looked at in this turn. */
  creditDue(link: OutgoingLink): void;
  /** Sends a delivery of a link that can be resumed; returns its id. */
  sendAcquired(
    link: OutgoingLink,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
    resumes: boolean,
  ): number;
  /** What the link's client holds goes back. Returns whether something stays held. */
  giveBack(link: OutgoingLink): boolean;
}

/** All sessions share them: a delivery is out before the next comes. */
const view = new MessageView();
const lead = new DeliveryLead();
const released = new Released();
const noLead = new DeliveryLead();

export class Deliveries implements DeliverySink, Flushable, BodyTaker, StagingHost {
  private readonly host: SessionHost;
  private readonly window: TransferWindow;
  unacked: Unacked = new Unacked();
  /** Those that transactions settle. */
  private readonly staged = new StagedDeliveries(this);
  /** Ids of deliveries, as numbers that do not go round. */
  private next = 0;
  private due: OutgoingLink[] = [];
  /** Of the large message that is going out. */
  private body: StreamedBody | null = null;
  private readonly head: Required<TransferHead> = {
    handle: 0,
    deliveryId: 0,
    settled: false,
    position: 0,
    resumes: false,
  };
  /** The client holds as many as it may. */
  private isFull = false;
  private closed = false;
  private readonly opened: () => void;
  private readonly settlements: OwnSettlements;
  /** The window has opened in this turn. */
  private hasOpened = false;

  /** @param opened the links may deliver again: the window has opened without a word of the client */
  constructor(host: SessionHost, window: TransferWindow, settlements: OwnSettlements, opened: () => void) {
    this.host = host;
    this.window = window;
    this.settlements = settlements;
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
    const { resumable } = link;
    if (resumable?.resumes(position) && !this.closed && link.tookAgain())
      return resumable.resumed(position, message, returns);
    if (this.closed || !link.takes(!this.isFull && !output.overfull && this.window.isOpen)) {
      counters.heldBack++;
      subscription.release(position);
      return;
    }
    if (link.bytesMax !== Number.POSITIVE_INFINITY && sizeOf(message, redelivered, returns) > link.bytesMax) {
      subscription.release(position);
      return link.isTooLarge();
    }
    if (resumable !== undefined && !message.isLarge) resumable.arrived(position, message, redelivered, returns);
    else if (message.isLarge) this.stream(link, subscription, position, redelivered, message, returns);
    else this.show(link, subscription, position, redelivered, message, returns);
  }

  /** The delivery begins; the body follows as it comes. */
  private stream(
    link: OutgoingLink,
    subscription: Subscription,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const { host } = this;
    const source = host.broker.body(subscription, message);
    const number = this.next++;
    try {
      this.begin(link, number >>> 0, redelivered, message, returns);
    } catch (error) {
      host.logger.error('a large message cannot be shown', { error: describeFault(error) });
      source.close();
      subscription.reject(position);
      return;
    }
    this.body = new StreamedBody(subscription, position, source, this);
    link.wait(true);
    link.delivered();
    host.counters.delivered++;
    // One that is settled is acknowledged when all of it is out.
    if (!link.settlesAtOnce) this.hold(number, position, subscription, link);
    this.body.begin();
  }

  private begin(
    link: OutgoingLink,
    deliveryId: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
  ): void {
    const shown = message.format === MessageFormat.amqp10 ? message : asAmqp10(message);
    const { bytes, headerStart, bodyStart } = shown;
    view.setLead(bytes, headerStart, bodyStart);
    lead.set(shown, view, redelivered, returns);
    this.window.begin(this.headOf(link, deliveryId), lead, bytes, view.keptStart, view.end);
    this.host.output.delivered(lead.length + view.end - view.keptStart);
  }

  tookPart(body: StreamedBody, bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    if (body !== this.body) return;
    this.window.add(bytes, start, end, isLast);
    this.goOn();
  }

  lostBody(body: StreamedBody, reason: string): void {
    if (body !== this.body) return;
    this.host.logger.warn('the rest of a large message does not come', { reason });
    body.link.fail(new LinkError(Condition.internalError, reason));
  }

  /** The window may have room: the body on its way goes on with it. */
  goOn(): void {
    const { body } = this;
    if (body === null || !this.window.isIdle) return;
    if (!body.isComplete) return body.goOn();
    this.body = null;
    const { link, subscription, position } = body;
    if (link.settlesAtOnce) {
      this.host.counters.acknowledged++;
      subscription.ack(position);
    }
    link.wait(false);
    this.opensSoon();
  }

  /** Other links have waited for the window. */
  private opensSoon(): void {
    if (this.hasOpened || !this.window.isOpen) return;
    this.hasOpened = true;
    if (this.due.length === 0) this.host.turn.add(Phase.log, this);
  }

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

  /** A delivery of a link that can be resumed; returns its id. */
  sendAcquired(
    link: OutgoingLink,
    position: number,
    redelivered: boolean,
    message: EnqueueView,
    returns: number,
    resumes: boolean,
  ): number {
    const id = this.next++ >>> 0;
    const { head } = this;
    head.position = position;
    head.resumes = resumes;
    try {
      this.send(link, id, redelivered, message, returns);
    } finally {
      head.position = 0;
      head.resumes = false;
    }
    link.delivered();
    this.host.counters.delivered++;
    return id;
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
    this.window.send(this.headOf(link, deliveryId), lead, bytes, view.keptStart, view.end);
    this.host.output.delivered(lead.length + view.end - view.keptStart);
  }

  /** A message of the broker's own, settled: nobody holds it. */
  sendOwn(ownHandle: number, payload: Uint8Array): void {
    if (this.closed) return;
    const head = { handle: ownHandle, deliveryId: this.next++ >>> 0, settled: true };
    this.window.send(head, noLead, payload, 0, payload.length);
    this.host.output.delivered(payload.length);
  }

  private headOf(link: OutgoingLink, deliveryId: number): TransferHead {
    const { head } = this;
    head.handle = link.ownHandle;
    head.deliveryId = deliveryId;
    head.settled = link.settlesAtOnce;
    return head;
  }

  drained(subscription: Subscription): void {
    if (!this.closed) (subscription.cookie as OutgoingLink).queueDrained();
  }

  cancelled(subscription: Subscription, reason: string): void {
    if (!this.closed) (subscription.cookie as OutgoingLink).cancelled(reason);
  }

  forEachHeld(visit: (holder: Holder, position: number) => void): void {
    this.unacked.forEach(visit);
    if (this.body?.link.settlesAtOnce) visit(this.body.subscription, this.body.position);
  }

  /** The client has told what becomes of deliveries (§2.7.6, §3.4). Returns how many were settled by it. */
  settle(disposition: DispositionView): number {
    const first = this.numberOf(disposition.first);
    const last = this.numberOf(disposition.last);
    if (last < first) return 0;
    const { state: kind, settled, bytes, stateAt: at, stateEnd } = disposition;
    const state = kind === StateKind.other ? stateAt(bytes, at, stateEnd) : undefined;
    if (state?.descriptor === Descriptor.transactionalState) {
      this.stage(first, last, state, settled);
      return 0;
    }
    const outcome = outcomeOf(kind, state, settled);
    if (outcome === undefined) return 0;
    const count = this.settleRange(first, last, outcome, disposition, state);
    if (outcome === Outcome.requeue || outcome === Outcome.putBack) this.host.counters.requeued += count;
    else this.host.counters.acknowledged += count;
    return count;
  }

  private settleRange(
    first: number,
    last: number,
    outcome: Outcome,
    { state: kind, settled }: DispositionView,
    state: DeliveryState | undefined,
  ): number {
    const { unacked, settlements } = this;
    if (kind === StateKind.none && !this.staged.isEmpty) return this.settleUnstaged(first, last);
    if (settled)
      return isAnnotated(state) ? this.modifyRange(first, last, state) : unacked.settleRange(first, last, outcome);
    // The client waits for our settlement.
    if (kind !== StateKind.accepted)
      unacked.forEachIn(first, last, (number) => {
        settlements.expect(number, state ?? released);
        if (outcome !== Outcome.reject) settlements.settlementSafe(number);
      });
    if (isAnnotated(state)) return this.modifyRange(first, last, state);
    return unacked.settleRange(first, last, outcome, settlements);
  }

  private modifyRange(first: number, last: number, modified: Modified): number {
    const numbers: number[] = [];
    this.unacked.forEachIn(first, last, (number) => numbers.push(number));
    for (const number of numbers) this.giveBackOne(number, Outcome.requeue, modified);
    return numbers.length;
  }

  giveBackOne(number: number, outcome: Outcome, state: DeliveryState | undefined): void {
    if (!isAnnotated(state)) {
      this.unacked.settle(number, false, outcome);
      return;
    }
    const modification = modificationOf(state);
    this.unacked.take(number, (holder, position) => holder.modify(position, modification));
  }

  /** A transaction settles them (§4.4.2). Throws SessionError, unknown-id for one. */
  private stage(first: number, last: number, { txnId, outcome: state }: TransactionalState, settled: boolean): void {
    const transaction = this.host.transactions.get(txnId);
    if (transaction === undefined) throw new SessionError(Condition.transactionUnknownId, unknownTransaction(txnId));
    const outcome = outcomeOf(StateKind.other, state, settled);
    if (outcome === undefined) return;
    // What is wrong with it is told now: nobody could be at its commit.
    if (isAnnotated(state)) modificationOf(state);
    const error = this.staged.stage(first, last, transaction, outcome, state, settled);
    if (error !== undefined) transaction.fail(error);
  }

  /** Those that are in a transaction are settled with it. */
  private settleUnstaged(first: number, last: number): number {
    const others: number[] = [];
    this.unacked.forEachIn(first, last, (number) => {
      if (!this.staged.settledByClient(number)) others.push(number);
    });
    for (const number of others) this.unacked.settle(number, false, Outcome.putBack);
    return others.length;
  }

  settled(number: number, state: DeliveryState | undefined): void {
    if (this.closed) return;
    if (state !== undefined && state.descriptor !== Descriptor.accepted) this.settlements.expect(number, state);
    this.settlements.settlementSafe(number);
  }

  heldLess(): void {
    if (!this.closed && this.regainsRoom()) this.opened();
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

  /** The link ends, and the session goes on. Returns whether transactions settle some of what its client holds: that stays held. */
  giveBack(link: OutgoingLink): boolean {
    if (this.closed) return false;
    const keeps = this.staged.isEmpty ? undefined : (number: number): boolean => this.staged.keeps(number);
    let isHolding = false;
    this.unacked.takeAllOf(
      link,
      (holder, position) => holder.requeue(position),
      keeps === undefined ? undefined : (number) => keeps(number) && (isHolding = true),
    );
    const { body } = this;
    if (body?.link === link) {
      this.body = null;
      body.close();
      if (link.settlesAtOnce) body.subscription.requeue(body.position);
    }
    this.window.drop(link.ownHandle);
    this.opensSoon();
    return isHolding;
  }

  /** The session ends: what its client holds is given back by the broker, which asks for it, when the links have closed their subscriptions. */
  beginClose(): void {
    this.closed = true;
  }

  close(): void {
    this.staged.close();
    this.host.broker.forgetSink(this);
    this.unacked = new Unacked();
    this.body?.close();
    this.body = null;
  }
}

/** Bytes of the message as the client would get it. */
function sizeOf(message: EnqueueView, redelivered: boolean, returns: number): number {
  const shown = message.format === MessageFormat.amqp10 ? message : asAmqp10(message);
  view.setLead(shown.bytes, shown.headerStart, shown.bodyStart);
  return lead.set(shown, view, redelivered, returns).length + view.end - view.keptStart + message.contentLength;
}
