/**
 * A link on which the client receives. Its credit becomes credit of a subscription: as much as the client has, but not more than output and
 * session can take. What arrives beyond (the client took credit back, its window is full, it does not read) goes back to its place; then
 * nothing is delivered until all credit is back, so that what went back first comes again first.
 *
 *   granted   deliveries that the broker may still make     credit   deliveries that the client takes
 */
import type { Subscription } from '../model/broker.js';
import type { Recipient } from '../model/unacked.js';
import { absent, type Attach, Condition, Flow, type FlowView } from './codec/index.js';
import { Drain } from './drain.js';
import type { EnqueueView } from '../log/record.js';
import { LinkError } from './errors.js';
import { Link, LinkState } from './link.js';
import { add, creditLeft } from './serial.js';
import { answeredSource, type OpenedSource, openSource } from './open-source.js';
import type { ResumableSource } from './resumable-source.js';
import { findSource, type SourceNode } from './source-node.js';
import type { OutgoingHost } from './deliveries.js';

/** §2.8.2 */
const SenderSettle = { unsettled: 0, settled: 1 } as const;
const supportedOutcomes = ['amqp:accepted:list', 'amqp:rejected:list', 'amqp:released:list', 'amqp:modified:list'];

export class OutgoingLink extends Link implements Recipient {
  subscription: Subscription | null = null;
  credit = 0;
  deliveryCount = 0;
  granted = 0;
  /** Granted since it was attached; and when the queue was asked whether it has more. */
  private grantedInAll = 0;
  private grantedWhenAsked = 0;
  /** Gives back every delivery until no credit is out. */
  stalled = false;
  /** A delivery of it is going out part by part. */
  private isWaiting = false;
  /** Bytes of a message that the client takes (§2.7.3). */
  readonly bytesMax: number;
  private metTooLarge = false;
  /** On the list of links whose credit must be looked at. */
  due = false;
  /** Deliveries are settled when they are sent. */
  readonly settlesAtOnce: boolean;
  private node: SourceNode | undefined = undefined;
  private readonly deliveries: OutgoingHost;
  private readonly drain: Drain;
  resumable: ResumableSource | undefined;
  private opened: OpenedSource | undefined;

  constructor(host: OutgoingHost, request: Attach, ownHandle: number) {
    super(host, request, ownHandle);
    this.deliveries = host;
    this.settlesAtOnce = request.sndSettleMode === SenderSettle.settled;
    this.bytesMax = request.maxMessageSize || Number.POSITIVE_INFINITY;
    this.drain = new Drain(host, this);
  }

  /** Finds the source, subscribes, and answers. */
  attach(): void {
    this.find().then(
      (subscription) => this.accepted(subscription),
      (error: unknown) => {
        this.node?.leave(false, false);
        this.host.linkFailed(this, error);
        this.endResumable();
      },
    );
  }

  private async find(): Promise<Subscription> {
    const { host, request } = this;
    this.node = await findSource(host, request);
    const { filter, browses } = this.node;
    this.opened = await openSource(host, this, request, this.node);
    this.resumable = this.opened?.resumable;
    if (this.resumable !== undefined) host.resumable.sources.add(this.resumable);
    return host.broker.consume({
      vhost: host.vhost,
      queue: this.queue,
      consumerTag: this.name === '' ? `link-${this.handle}` : this.name,
      noAck: false,
      exclusive: false,
      arguments: {},
      connection: host.id,
      credit: 0,
      sink: this.deliveries.sink,
      cookie: this,
      filter,
      browses,
    });
  }

  get queue(): string {
    return this.node?.queue ?? '';
  }

  private accepted(subscription: Subscription): void {
    if (this.state !== LinkState.attaching) {
      subscription.close();
      this.endResumable();
      this.node?.leave(this.isForGood, false);
      this.host.answeredTooLate();
      return;
    }
    this.subscription = subscription;
    this.host.output.consumerCount++;
    const reply = this.reply();
    reply.initialDeliveryCount = this.deliveryCount;
    reply.sndSettleMode = this.settlesAtOnce ? SenderSettle.settled : SenderSettle.unsettled;
    const source = this.node?.source;
    reply.source = source && answeredSource(source, this.opened);
    if (reply.source !== undefined) reply.source.outcomes = supportedOutcomes;
    this.opened?.complete(reply);
    if (!this.attachedWith(reply)) return;
    this.resumable?.begin(subscription, this.opened?.lost ?? []);
    this.replenish();
  }

  /** The client has told where it is, and what it takes (§2.6.7). Throws LinkError. */
  flow(view: FlowView): void {
    if (this.state !== LinkState.attaching && this.state !== LinkState.attached) return;
    if (view.acquiresInTransaction)
      throw new LinkError(
        Condition.notImplemented,
        'acquiring messages in a transaction (txn-id of a flow): settle them in it',
      );
    if (view.linkCredit !== absent) {
      const seen = view.deliveryCount === absent ? 0 : view.deliveryCount;
      this.credit = creditLeft(view.linkCredit, seen, this.deliveryCount);
    }
    if (this.state === LinkState.attached) this.replenish();
    if (view.drain) this.drain.begin();
    else this.drain.stop();
    if (view.echo && !view.drain && this.state === LinkState.attached) this.sendFlow(false);
  }

  /** May the delivery that has arrived go out? */
  takes(hasRoom: boolean): boolean {
    this.granted--;
    const credit = this.credit - (this.resumable?.pending ?? 0);
    if (this.stalled || this.isWaiting || !hasRoom || credit <= 0 || this.state !== LinkState.attached) {
      this.stalled = true;
      if (this.granted <= 0) this.deliveries.creditDue(this);
      return false;
    }
    return true;
  }

  /** A delivery has arrived that the link had before. @returns false if the link is over */
  tookAgain(): boolean {
    this.granted--;
    return this.state === LinkState.attached;
  }

  sendAcquired(
    position: number,
    message: EnqueueView,
    redelivered: boolean,
    returns: number,
    resumes: boolean,
  ): number {
    return this.deliveries.sendAcquired(this, position, redelivered, message, returns, resumes);
  }

  /** A delivery goes out part by part: nothing is granted until it is out. What comes all the same goes back. */
  wait(isWaiting: boolean): void {
    this.isWaiting = isWaiting;
    if (!isWaiting) this.replenish();
  }

  /** A message has come that is larger than the client takes: the link ends, when the broker has delivered what it has to in this turn. */
  isTooLarge(): void {
    this.metTooLarge = true;
    this.stalled = true;
    this.deliveries.creditDue(this);
  }

  /** A delivery is on its way, or none can be made now: what the queue says is not all. */
  get isBusy(): boolean {
    const { isSending, hasRoom } = this.deliveries;
    const isComing = this.resumable !== undefined && this.resumable.pending > 0;
    return this.subscription === null || this.isWaiting || isSending || isComing || (this.credit > 0 && !hasRoom);
  }

  /** It is out. */
  delivered(): void {
    this.credit--;
    this.deliveryCount = add(this.deliveryCount, 1);
    if (this.credit > this.granted) this.deliveries.creditDue(this);
    if (this.credit === 0) this.drain.usedUp();
  }

  /** The client settled one of its deliveries: credit does not depend on that, but what is on its way may have. */
  settled(): void {
    if (this.resumable !== undefined) this.deliveries.creditDue(this);
  }

  /** Grants what may be granted now. */
  override replenish(): void {
    const { subscription } = this;
    if (this.state !== LinkState.attached || subscription === null || this.isWaiting) return;
    if (this.metTooLarge) return this.fail(tooLarge(this.bytesMax));
    this.drain.goOn();
    this.resumable?.goOn();
    if (!this.deliveries.hasRoom || this.resumable?.isFull === true) return;
    if (this.stalled && this.granted > 0) return;
    this.stalled = false;
    const target = Math.min(this.credit - (this.resumable?.pending ?? 0), this.deliveries.windowMax);
    const wanted = target - this.granted;
    // Not one by one.
    if (wanted <= 0 || (this.granted > 0 && wanted * 2 < target)) return;
    this.granted += wanted;
    this.grantedInAll += wanted;
    subscription.grant(wanted);
  }

  /** Whether it has more than what is granted takes. */
  askQueue(): void {
    this.replenish();
    this.grantedWhenAsked = this.grantedInAll;
    this.subscription?.drain();
  }

  /** It has answered. */
  queueDrained(): void {
    if (this.state !== LinkState.attached) return;
    this.drain.answered(this.granted > 0 && this.grantedWhenAsked === this.grantedInAll);
  }

  /** All credit that is left is gone: there is nothing for it (§2.6.7). */
  drained(): void {
    this.deliveryCount = add(this.deliveryCount, this.credit);
    this.credit = 0;
    this.sendFlow(true);
  }

  /** The broker ended the subscription. */
  cancelled(reason: string): void {
    this.fail(new LinkError(Condition.resourceDeleted, reason === '' ? `queue '${this.queue}' is gone` : reason));
  }

  protected release(): void {
    this.drain.stop();
    this.endResumable();
    const isHolding = this.deliveries.giveBack(this);
    if (this.subscription !== null) this.host.output.consumerCount--;
    if (isHolding) void this.subscription?.cancel();
    else this.subscription?.close();
    this.node?.leave(this.isForGood);
  }

  protected override get canResume(): boolean {
    // What was never attached is refused for good (§2.6.3), unless something of it is kept from before.
    const isThere = this.node?.isKept === true && this.state !== LinkState.attaching;
    return isThere || this.resumable !== undefined;
  }

  private endResumable(): void {
    if (this.resumable !== undefined && this.host.resumable.sources.delete(this.resumable))
      this.resumable.detach(this.isForGood);
  }

  private sendFlow(drain: boolean): void {
    const flow = new Flow();
    flow.handle = this.ownHandle;
    flow.deliveryCount = this.deliveryCount;
    flow.linkCredit = this.credit;
    flow.available = 0;
    flow.drain = drain;
    this.host.sendFlow(flow);
  }
}

function tooLarge(bytesMax: number): LinkError {
  const text = `the next message has more than the ${bytesMax} bytes of this link's max-message-size`;
  return new LinkError(Condition.linkMessageSizeExceeded, text);
}
