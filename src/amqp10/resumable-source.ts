/**
 * The broker's end of a link on which the client receives, and which it can resume (§2.6.13): what it was sent is held for it, whatever becomes
 * of its connection and of the queue's primary.
 *
 *   delivered to the node ─▶ acquired: all replicas know ─▶ sent ─▶ the client's outcome ─▶ safe ─▶ told: settled
 *
 * Bodies in parts of their own (large messages) are not acquired: they are delivered as on any other link.
 */
import { EnqueueView } from '../log/record.js';
import type { Subscription } from '../model/broker.js';
import type { Terminus, TerminusOwner } from '../model/terminus/port.js';
import {
  AmqpError,
  Condition,
  Descriptor,
  type DeliveryState,
  Disposition,
  type DispositionView,
  stateAt,
  type TransactionalState,
} from './codec/index.js';
import { describeFault, LinkError, SessionError, toAmqpError } from './errors.js';
import { Outcome } from '../model/unacked.js';
import { outcomeOf } from './outcome-of.js';
import type { SessionHost } from './session-host.js';
import { unknownTransaction } from './transaction-table.js';

/** Deliveries that a link may have unsettled, those on their way included. */
const unsettledMax = 2048;

const kinds = {
  [Outcome.ack]: 'acks',
  [Outcome.requeue]: 'requeues',
  [Outcome.putBack]: 'putBacks',
  [Outcome.reject]: 'rejects',
} as const;

interface Arrived {
  readonly record: Uint8Array;
  readonly redelivered: boolean;
  readonly returns: number;
  /** It has come once more since it was asked for: from another primary. */
  isAgain: boolean;
}

interface Sent {
  readonly id: number;
  /** The client has settled it, or said what is to become of it. */
  isSettled: boolean;
  state: DeliveryState | undefined;
  isDecided: boolean;
}

/** Whose it is. */
export interface ResumableSourceLink {
  /** Deliveries that the client takes. */
  readonly credit: number;
  /** Sends the delivery, and returns its id. */
  sendAcquired(position: number, message: EnqueueView, redelivered: boolean, returns: number, resumes: boolean): number;
  /** There is room again, or less on its way. */
  settled(): void;
  replenish(): void;
  fail(error: AmqpError): void;
}

export class ResumableSource implements TerminusOwner {
  /** A map was not complete: nothing new is sent before the link was attached again (§2.7.3). */
  isPartial = false;
  private readonly host: SessionHost;
  private readonly link: ResumableSourceLink;
  private readonly terminus: Terminus;
  /** Arrived, and not known to be the link's. */
  private readonly acquiring = new Map<number, Arrived>();
  /** The link's from before: to be sent again, when they arrive; and those that have, and wait for credit. */
  private readonly resuming: Set<number>;
  private readonly waiting = new Map<number, Arrived>();
  /** Sent and not settled, by position; and positions by id. */
  private readonly sent = new Map<number, Sent>();
  private readonly byId = new Map<number, number>();
  private subscription: Subscription | undefined;
  private readonly view = new EnqueueView();

  constructor(host: SessionHost, link: ResumableSourceLink, terminus: Terminus, resumed: Iterable<number>) {
    this.host = host;
    this.link = link;
    this.terminus = terminus;
    this.resuming = new Set(resumed);
    terminus.owner = this;
  }

  /** Deliveries that are on their way to the client, and have no credit yet. */
  get pending(): number {
    return this.acquiring.size;
  }

  get isFull(): boolean {
    return (
      this.isPartial || this.sent.size + this.acquiring.size + this.waiting.size + this.resuming.size >= unsettledMax
    );
  }

  /** The client is not told of these now: it attaches again for them. */
  leaveOut(positions: readonly number[]): void {
    for (const position of positions) this.resuming.delete(position);
    if (positions.length > 0) this.isPartial = true;
  }

  /** The link is attached: what both ends have is sent again; what only we have (`lost`) the client has never seen, or settled. */
  begin(subscription: Subscription, lost: readonly number[]): void {
    this.subscription = subscription;
    for (const position of lost) this.terminus.settle('requeues', position);
    this.terminus.again(subscription, [...this.resuming]);
  }

  /** Is the delivery one of those from before? */
  resumes(position: number): boolean {
    return this.resuming.has(position);
  }

  /** One of those has come. */
  resumed(position: number, message: EnqueueView, returns: number): void {
    this.resuming.delete(position);
    this.waiting.set(position, copyOf(message, true, returns));
    this.goOn();
  }

  /** A delivery has come, which the link would take. */
  arrived(position: number, message: EnqueueView, redelivered: boolean, returns: number): void {
    const before = this.acquiring.get(position);
    if (before !== undefined) {
      before.isAgain = true;
      return;
    }
    this.acquiring.set(position, copyOf(message, redelivered, returns));
    this.terminus.acquire(position);
  }

  /** The client has given credit. */
  goOn(): void {
    for (const [position, arrived] of this.waiting) {
      if (this.link.credit === 0) return;
      this.waiting.delete(position);
      this.send(position, arrived, true);
    }
  }

  detach(ends: boolean): void {
    for (const position of this.acquiring.keys()) this.subscription?.release(position);
    this.acquiring.clear();
    this.terminus.detach(ends);
  }

  /** Does the link have the delivery with that id? */
  has(id: number): boolean {
    return this.byId.has(id);
  }

  /** What the client says of a delivery of this link. Throws SessionError unknown-id. */
  decide(id: number, view: DispositionView): void {
    const position = this.byId.get(id)!;
    const sent = this.sent.get(position);
    if (sent === undefined) return;
    const state = stateAt(view.bytes, view.stateAt, view.stateEnd);
    const isInTransaction = state?.descriptor === Descriptor.transactionalState;
    if (isInTransaction) this.refuseIn(state);
    const outcome = outcomeOf(view.state, isInTransaction ? undefined : state, view.settled);
    if (view.settled) {
      sent.isSettled = true;
      this.byId.delete(id);
    }
    if (outcome === undefined || sent.isDecided) return;
    sent.isDecided = true;
    sent.state = state;
    if (outcome === Outcome.requeue || outcome === Outcome.putBack) this.host.counters.requeued++;
    else this.host.counters.acknowledged++;
    this.terminus.settle(kinds[outcome], position);
  }

  // ---- TerminusOwner ----

  acquired(position: number, isTaken: boolean): void {
    const arrived = this.acquiring.get(position);
    if (arrived === undefined) return;
    if (!isTaken && arrived.isAgain) {
      arrived.isAgain = false;
      this.terminus.acquire(position);
      return;
    }
    this.acquiring.delete(position);
    if (!isTaken) this.subscription?.release(position);
    else if (this.link.credit > 0) this.send(position, arrived, false);
    // The client has taken its credit back.
    else this.terminus.settle('releases', position);
    this.link.settled();
  }

  settled(positions: readonly number[]): void {
    for (const position of positions) {
      const sent = this.sent.get(position);
      if (sent === undefined) continue;
      this.sent.delete(position);
      this.byId.delete(sent.id);
      if (!sent.isSettled) this.tell(sent);
    }
    this.link.replenish();
  }

  isOver(): void {
    this.link.fail(new LinkError(Condition.linkStolen, 'the link is attached elsewhere'));
  }

  lost(error: Error): void {
    this.link.fail(toAmqpError(error));
  }

  /** What the link holds is not the session's to settle in a transaction: that one can only be rolled back, and the delivery is as it was. */
  private refuseIn({ txnId }: TransactionalState): void {
    const transaction = this.host.transactions.get(txnId);
    if (transaction === undefined) throw new SessionError(Condition.transactionUnknownId, unknownTransaction(txnId));
    const text = 'deliveries of a link that can be resumed are not settled in transactions: attach it with timeout 0';
    transaction.fail(new AmqpError(Condition.transactionRollback, text));
  }

  private send(position: number, { record, redelivered, returns }: Arrived, resumes: boolean): void {
    const message = this.view.set(record, new DataView(record.buffer), 0);
    let id: number;
    try {
      id = this.link.sendAcquired(position, message, redelivered, returns, resumes);
    } catch (error) {
      this.host.logger.error('a message cannot be shown', { error: describeFault(error) });
      this.terminus.settle('rejects', position);
      return;
    }
    this.sent.set(position, { id, isSettled: false, state: undefined, isDecided: false });
    this.byId.set(id, position);
  }

  /** It was said what is to become of it, and that is safe (§2.6.12). */
  private tell({ id, state }: Sent): void {
    const disposition = new Disposition();
    disposition.role = false;
    disposition.first = id;
    disposition.settled = true;
    disposition.state = state;
    this.host.send(disposition);
  }
}

/** What comes from another node is a view of a buffer that is used again. */
function copyOf({ bytes, start, length }: EnqueueView, redelivered: boolean, returns: number): Arrived {
  const record = new Uint8Array(length);
  record.set(bytes.subarray(start, start + length));
  return { record, redelivered, returns, isAgain: false };
}
