/**
 * A link on which the client sends: transfers become messages, publishes, outcomes. Credit keeps what waits for its outcome bounded:
 *
 *   credit that the client has + publishes without outcome <= linkCredit; none is given while the broker takes no messages
 *
 * While a queue that the link has published to is too full (`x-flow-stop-count`) its credit is taken back; what is under way counts.
 */
import { findDestination, type Destination } from './node-lookup.js';
import {
  absent,
  type Attach,
  Condition,
  Descriptor,
  Flow,
  stateAt,
  Target,
  textOf,
  type TransferView,
} from './codec/index.js';
import { LinkError } from './errors.js';
import { type DynamicNode, makeDynamic } from './dynamic-node.js';
import { addressOf } from './temporary-queue.js';
import { Link, LinkState } from './link.js';
import { Publisher, type PublishingLink } from './publisher.js';
import { openTarget, type OpenedTarget } from './open-target.js';
import type { ResumableTarget } from './resumable-target.js';
import { granted, tagIn } from './resumption.js';
import { add } from './serial.js';
import type { LocalTransaction } from './local-transaction.js';
import type { SessionHost } from './session-host.js';
import { unknownTransaction } from './transaction-table.js';
import type { Route, StopWaiter } from '../model/broker.js';

/** The first buffer for a message in several frames; more is allocated only as it really arrives. */
const firstGatherBytes = 64 * 1024;
const nothing = new Uint8Array(0);
/** §2.8.3: the receiver settles at once. */
const settleFirst = 0;

export class IncomingLink extends Link implements PublishingLink, StopWaiter {
  private readonly publisher: Publisher;
  private resumable: ResumableTarget | undefined;
  /** Of the delivery under way, as far as that matters: see textOfTag. */
  private tag = '';
  private resumes = false;
  private credit = 0;
  private deliveryCount = 0;
  /** Publishes without outcome. */
  private unsettled = 0;
  /** The queue that was made for this link. */
  private dynamic: DynamicNode | undefined = undefined;
  /** Outcomes were told: its credit is to be looked at. */
  private isDue = false;
  /** A delivery is under way: more frames of it are to come. */
  private inDelivery = false;
  private deliveryId = 0;
  private settled = false;
  private messageFormat = 0;
  /** That the delivery is part of. */
  private transaction: LocalTransaction | null = null;
  private gathered: Uint8Array = nothing;
  private received = 0;
  /** A queue is too full: the client was told that it has no credit. */
  private isStopped = false;
  /** The client was told that last. */
  private isWithdrawn = false;
  /** It is to be told when the delivery that is being published has used its credit. */
  private stopDue = false;

  constructor(host: SessionHost, request: Attach, ownHandle: number) {
    super(host, request, ownHandle);
    this.publisher = new Publisher(host, this);
  }

  /** Finds the target, and answers. */
  attach(): void {
    const { host, request } = this;
    this.deliveryCount = request.initialDeliveryCount ?? 0;
    this.find().then(
      (destination) => this.resume(destination),
      (error: unknown) => host.linkFailed(this, error),
    );
  }

  /** Null: each message says where it goes. */
  private async find(): Promise<Destination | null> {
    const { host, request } = this;
    const { target } = request;
    if (target === undefined || target.descriptor !== Descriptor.target)
      throw new LinkError(Condition.notImplemented, 'a link without a target');
    if (target.dynamic) {
      this.dynamic = await makeDynamic(host, target.dynamicNodeProperties);
      return { exchange: '', routingKey: this.dynamic.queue };
    }
    const address = textOf(target.address);
    if (address === undefined || address === '') return null;
    return findDestination(host, address);
  }

  /** Of a link that is to be resumable: finds what is unsettled of it. */
  private resume(destination: Destination | null): void {
    const { request, host } = this;
    const isQueue = destination !== null && destination.exchange === '' && this.dynamic === undefined;
    openTarget(host, this, request, isQueue ? destination.routingKey : undefined).then(
      (opened) => this.found(destination, opened),
      (error: unknown) => host.linkFailed(this, error),
    );
  }

  private found(destination: Destination | null, opened: OpenedTarget | undefined): void {
    this.publisher.destination = destination;
    const reply = this.reply();
    reply.rcvSettleMode = settleFirst;
    if (opened !== undefined) this.isResumable(opened, reply);
    if (this.dynamic !== undefined && reply.target?.descriptor === Descriptor.target) {
      const { queue, properties } = this.dynamic;
      const made = { address: addressOf(queue), dynamicNodeProperties: properties };
      reply.target = Object.assign(new Target(), reply.target, made);
    }
    reply.maxMessageSize = this.host.limits.messageBytesMax;
    if (this.attachedWith(reply)) this.topUp();
    else {
      this.endResumable();
      this.dynamic?.leave();
    }
  }

  /** A frame of a delivery. Throws LinkError, or AmqpError for the connection. */
  transfer(view: TransferView): void {
    // What comes before our attach is out comes without credit.
    if (this.state === LinkState.attaching) throw this.withoutCredit();
    if (this.state !== LinkState.attached) return;
    if (!this.inDelivery) this.begin(view);
    else if (view.stateAt !== absent) this.checkTransaction(view);
    if (view.settled) this.settled = true;
    if (view.aborted) return this.finish();
    const { bytes, payloadStart, payloadEnd } = view;
    if (this.received + payloadEnd - payloadStart > this.host.limits.messageBytesMax) throw this.tooLarge();
    if (this.resumes) return this.resumed(view);
    if (view.more) return this.gather(bytes, payloadStart, payloadEnd);
    if (this.received === 0) return this.publish(bytes, payloadStart, payloadEnd);
    this.gather(bytes, payloadStart, payloadEnd);
    this.publish(this.gathered, 0, this.received);
  }

  /** The client has told where it is (§2.6.7). */
  flow(deliveryCount: number, echo: boolean): void {
    if (this.state !== LinkState.attached) return;
    if (deliveryCount !== absent && !this.inDelivery) this.deliveryCount = deliveryCount;
    if (echo) this.sendFlow();
  }

  publishSettled(): void {
    this.unsettled--;
    this.host.counters.settled++;
    if (this.isDue) return;
    this.isDue = true;
    this.host.toldOutcome(this);
  }

  /** The broker takes messages again, or has told outcomes. */
  topUp(): void {
    this.isDue = false;
    const { credit, unsettled, host } = this;
    if (this.state !== LinkState.attached || host.broker.gate.closed !== '' || this.isStopped) return;
    if (this.resumable?.isPartial === true) return;
    if (this.isWithdrawn || credit * 2 <= host.limits.linkCredit - unsettled) this.grant();
  }

  /** A message was published by that route: its queues may be too full. */
  publishedBy(route: Route): void {
    if (this.isStopped || this.host.broker.stops.await(route, this) === '') return;
    this.isStopped = true;
    this.isWithdrawn = true;
    this.stopDue = true;
  }

  /** They are not any more. */
  goOn(): void {
    this.isStopped = false;
    this.topUp();
  }

  protected release(): void {
    if (this.isStopped) this.host.broker.stops.forget(this);
    this.leaveTransaction();
    this.dropGathered();
    this.publisher.close();
    this.endResumable();
    this.dynamic?.leave();
  }

  protected override get canResume(): boolean {
    return this.resumable !== undefined;
  }

  private isResumable({ resumable, timeoutMs, complete }: OpenedTarget, reply: Attach): void {
    const { target } = reply;
    if (target?.descriptor === Descriptor.target)
      reply.target = granted(Object.assign(new Target(), target), timeoutMs);
    if (resumable === undefined) return;
    this.resumable = resumable;
    this.host.resumable.targets.add(resumable);
    reply.rcvSettleMode = this.request.rcvSettleMode;
    complete(reply);
  }

  private endResumable(): void {
    if (this.resumable !== undefined && this.host.resumable.targets.delete(this.resumable))
      this.resumable.detach(this.isForGood);
  }

  /** What is settled needs no account, and what is in a transaction has its outcome at once. */
  private get via(): ResumableTarget | undefined {
    return this.settled || this.transaction !== null ? undefined : this.resumable;
  }

  /** The rest of a delivery from before: that it is there is known, so its payload is not looked at. */
  private resumed(view: TransferView): void {
    if (view.more) return;
    this.resumable?.resume(this.deliveryId, this.tag, this.settled);
    this.finish();
  }

  private withoutCredit(): LinkError {
    return new LinkError(Condition.linkTransferLimitExceeded, 'a transfer without credit');
  }

  private begin(view: TransferView): void {
    if (view.deliveryId === absent)
      throw new LinkError(Condition.invalidField, 'the first transfer of a delivery has no delivery-id');
    this.resumes = view.resume;
    if (view.resume) this.credit++;
    if (this.resumable !== undefined) this.tag = tagIn(view);
    if (this.credit === 0) throw this.withoutCredit();
    if (view.stateAt !== absent) this.transaction = this.transactionOf(view);
    if (this.transaction !== null) this.transaction.partial++;
    this.inDelivery = true;
    this.deliveryId = view.deliveryId;
    this.settled = false;
    this.messageFormat = view.messageFormat === absent ? 0 : view.messageFormat;
  }

  /** A delivery is part of one transaction at most, and all of it is (§4.4.1). */
  private checkTransaction(view: TransferView): void {
    if (this.transactionOf(view) !== this.transaction)
      throw new LinkError(Condition.invalidField, 'the frames of a delivery name different transactions');
  }

  private transactionOf({ bytes, stateAt: at, stateEnd }: TransferView): LocalTransaction | null {
    const state = stateAt(bytes, at, stateEnd);
    if (state?.descriptor !== Descriptor.transactionalState) return null;
    const transaction = this.host.transactions.get(state.txnId);
    if (transaction !== undefined) return transaction;
    throw new LinkError(Condition.transactionUnknownId, unknownTransaction(state.txnId));
  }

  private leaveTransaction(): void {
    if (this.transaction !== null) this.transaction.partial--;
    this.transaction = null;
  }

  /** The delivery is complete, or aborted: it has used its credit. */
  private finish(): void {
    this.inDelivery = false;
    this.leaveTransaction();
    this.credit--;
    this.deliveryCount = add(this.deliveryCount, 1);
    if (this.gathered !== nothing) this.dropGathered();
    if (this.stopDue) this.withdraw();
    else if (this.credit * 2 <= this.host.limits.linkCredit - this.unsettled) this.topUp();
  }

  private publish(bytes: Uint8Array, start: number, end: number): void {
    const { settled, deliveryId, transaction } = this;
    // What is published in a transaction has its outcome at once.
    if (!settled && transaction === null) this.unsettled++;
    try {
      const { via, tag, messageFormat } = this;
      this.publisher.publish(bytes, start, end, deliveryId, settled, messageFormat, transaction, via, tag);
    } finally {
      this.finish();
    }
  }

  /** Its own credit stays as it was, for what is under way. */
  private withdraw(): void {
    this.stopDue = false;
    this.sendFlow();
  }

  private grant(): void {
    this.isWithdrawn = false;
    this.credit = Math.max(this.credit, this.host.limits.linkCredit - this.unsettled);
    this.sendFlow();
  }

  private sendFlow(): void {
    const flow = new Flow();
    flow.handle = this.ownHandle;
    flow.deliveryCount = this.deliveryCount;
    flow.linkCredit = this.isWithdrawn ? 0 : this.credit;
    this.host.sendFlow(flow);
  }

  /** Adds a frame's payload; the buffer grows with what has arrived. */
  private gather(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.received + end - start;
    if (needed > this.gathered.length) {
      const larger = new Uint8Array(Math.max(needed, this.gathered.length * 2, firstGatherBytes));
      const more = larger.length - this.gathered.length;
      larger.set(this.gathered.subarray(0, this.received));
      this.gathered = larger;
      this.host.partials.add(more);
    }
    this.gathered.set(bytes.subarray(start, end), this.received);
    this.received = needed;
  }

  private dropGathered(): void {
    this.host.partials.remove(this.gathered.length);
    this.gathered = nothing;
    this.received = 0;
  }

  private tooLarge(): LinkError {
    const text = `a message of more than ${this.host.limits.messageBytesMax} bytes`;
    return new LinkError(Condition.linkMessageSizeExceeded, text);
  }
}
