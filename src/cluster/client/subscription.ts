import { Refusal } from '../../base/errors.js';
import type { ConsumeRequest, DeliverySink, Holder, Subscription } from '../../model/broker.js';
import { queueMoves, type SubscribeOptions } from '../../model/group-port.js';
import { queueRefused } from './refusal.js';
import type { QueueCount } from './requests.js';
import { type Modification, Settlement, type SettlementOwner } from './settlement-ring.js';
import type { ServiceControl } from './tie.js';

/** What the holders of messages need from their group's client. */
export interface HolderClient {
  settle(kind: Settlement, incarnation: number, position: number, owner?: SettlementOwner, tag?: number): void;
  modify(incarnation: number, position: number, modification: Modification): void;
  /** The service of the present attachment, if there is one. */
  readonly port: ServiceControl | undefined;
  /** The service is to be granted the credit of a new subscription at the end of this turn, after its answer was sent. */
  opened(subscription: ClusterSubscription): void;
  /** The subscription ended at this node: no more deliveries are its. */
  ended(subscription: ClusterSubscription): void;
  /** It was closed: what it holds is to be given back, flagged. */
  closed(subscription: ClusterSubscription): void;
  /** What the queue has; see GroupServicePort.count. */
  count(incarnation: number, isUse: boolean, subscriber: number): Promise<QueueCount>;
  /** Takes one whose queue has moved to this client's group; it is told to the service as any new one. */
  takeOver(incarnation: number, request: ConsumeRequest): ClusterSubscription;
}

/** Where a queue has moved to. */
export interface QueueDestination {
  readonly client: HolderClient;
  readonly incarnation: number;
}

/** Holds messages of one queue for a client: those got one by one, or those of a subscription. */
export class QueueHolder implements Holder {
  readonly client: HolderClient;
  readonly incarnation: number;

  constructor(client: HolderClient, incarnation: number) {
    this.client = client;
    this.incarnation = incarnation;
  }

  /** The service's number of the subscription; 0 for messages got one by one. */
  get subscriber(): number {
    return 0;
  }

  ack(position: number): void {
    this.client.settle(Settlement.ack, this.incarnation, position);
  }
  requeue(position: number): void {
    this.client.settle(Settlement.requeue, this.incarnation, position);
  }
  reject(position: number): void {
    this.client.settle(Settlement.reject, this.incarnation, position);
  }
  release(position: number): void {
    this.client.settle(Settlement.release, this.incarnation, position);
  }
  putBack(position: number): void {
    this.client.settle(Settlement.putBack, this.incarnation, position);
  }
  modify(position: number, modification: Modification): void {
    this.client.modify(this.incarnation, position, modification);
  }
  settleTold(position: number, rejects: boolean, owner: SettlementOwner, tag: number): void {
    this.client.settle(rejects ? Settlement.reject : Settlement.ack, this.incarnation, position, owner, tag);
  }
}

/** No queue's incarnation. */
const noQueue = -1;

/** Characters of a selector. */
const filterUnit = 8;

const State = { opening: 0, open: 1, cancelling: 2, leaving: 3, ended: 4 } as const;
type State = (typeof State)[keyof typeof State];

/**
 * One consumer of a queue, at the node that it is connected to. It outlives attachments. When the queue moves to another group, what
 * it holds stays its own, and deliveries go on with a successor in that group, to which it passes on what its client says.
 */
export class ClusterSubscription extends QueueHolder implements Subscription {
  readonly number: number;
  /** Incarnation of its queue. Who browses holds nothing of that: what is said of its messages is about no queue. */
  readonly queue: number;
  readonly sink: DeliverySink;
  readonly cookie: unknown;
  /** Deliveries still allowed, as counted here: what is on its way when an attachment ends was never delivered. */
  credit: number;
  /** Something was delivered to it. */
  hasDelivered = false;
  /** Closed: what it held is given back by its client, so it is nobody's to name or give back again. */
  closed = false;
  private readonly request: ConsumeRequest;
  private readonly options: Omit<SubscribeOptions, 'credit' | 'wasActive' | 'after'>;
  /** Where the queue has moved, once that is known; and the subscription there, once no more deliveries come here. */
  private destination: QueueDestination | undefined;
  private successor: ClusterSubscription | undefined;
  private state: State = State.opening;
  private readonly since: number;
  /** Its client waits for the answer. Undefined once it has it; and for a successor, whose client has had it before. */
  private settleOpen: ((refusal: string) => void) | undefined;
  /** The service was asked to end it: an answer comes. */
  private isUnsubscribing = false;
  private settleCancel: (() => void) | undefined;
  /** Why the service ended it between its opening and its first credit; its client is told after the opening. */
  private endedEarly: string | undefined;
  /** So many answers to `drain` are to come. */
  private draining = 0;
  /** It goes on for one that its client has had before. */
  private isGoingOn = false;

  /** `now`: by the node's clock; see `expire`. */
  constructor(client: HolderClient, incarnation: number, number: number, request: ConsumeRequest, now: number) {
    super(client, request.browses === true ? noQueue : incarnation);
    this.queue = incarnation;
    this.number = number;
    this.since = now;
    this.sink = request.sink;
    this.cookie = request.cookie;
    this.credit = request.credit;
    this.request = request;
    this.options = {
      consumerTag: request.consumerTag,
      noAck: request.noAck,
      exclusive: request.exclusive,
      arguments: request.arguments,
      ...(request.filter === undefined ? {} : { filter: request.filter }),
    };
  }

  override get subscriber(): number {
    return this.number;
  }

  /** What it takes the primary to take it, in subscriptions without a filter: a selector has to be read. */
  get weight(): number {
    return 1 + (this.options.filter?.selector?.length ?? 0) / filterUnit;
  }

  /** A message has come for it. */
  delivers(_position: number): void {
    this.hasDelivered = true;
  }

  get noAck(): boolean {
    return this.options.noAck;
  }

  /**
   * Resolves when the service took it. Its credit follows in a later phase, so that nothing is delivered before.
   * @param wiringVersion undefined: its client will tell the service of it.
   */
  open(wiringVersion: number | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.settleOpen = (refusal) =>
        refusal === '' ? resolve() : reject(queueRefused(refusal, this.request.vhost, this.request.queue));
      if (wiringVersion !== undefined) this.subscribe(wiringVersion);
    });
  }

  /** What a new primary must know besides. */
  protected get progress(): Pick<SubscribeOptions, 'browses' | 'after'> | undefined {
    return undefined;
  }

  /** Tells the service of the present attachment of this subscription, unless it is being cancelled there. */
  subscribe(wiringVersion: number): void {
    if (this.isStranded) this.state = this.settleOpen === undefined ? State.open : State.opening;
    if (this.state === State.cancelling || this.state === State.leaving) return;
    const credit = this.state === State.open ? this.credit : 0;
    const wasActive = this.hasDelivered;
    this.client.port?.subscribe(this.number, this.queue, wiringVersion, {
      ...this.options,
      credit,
      wasActive,
      ...this.progress,
    });
    if (this.draining === 0 || this.state !== State.open) return;
    this.draining = 1;
    this.client.port?.drain(this.number);
  }

  grant(count: number): void {
    if (this.successor !== undefined) return this.successor.grant(count);
    if (this.state === State.ended) return;
    this.credit += count;
    if (this.state === State.open) this.client.port?.grant(this.number, count);
  }

  drain(): void {
    if (this.successor !== undefined) return this.successor.drain();
    this.draining++;
    if (this.state === State.open) this.client.port?.drain(this.number);
  }

  cancel(): Promise<void> {
    if (this.successor !== undefined) return this.successor.cancel();
    if (this.state === State.ended) return Promise.resolve();
    const port = this.client.port;
    if (port === undefined || this.isStranded) {
      this.end();
      return Promise.resolve();
    }
    this.state = State.cancelling;
    return new Promise((resolve) => {
      this.settleCancel = resolve;
      this.unsubscribe(port);
    });
  }

  /** It is answered once, whatever it was asked for. */
  private unsubscribe(port: ServiceControl): void {
    if (!this.isUnsubscribing) port.unsubscribe(this.number);
    this.isUnsubscribing = true;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    const { port } = this.client;
    if (this.state !== State.ended) {
      if (port !== undefined) this.unsubscribe(port);
      this.end();
    }
    this.client.closed(this);
    this.successor?.close();
    // Its client may not have it yet, and never ask for anything of it.
    this.settleOpen?.('');
    this.settleOpen = undefined;
  }

  // ---- its queue moves ----

  /** Deliveries are to go on from there, when those that are on their way have come. */
  move(destination: QueueDestination): void {
    if (this.request.stays === true || this.destination !== undefined) return;
    this.destination = destination;
    if (this.state === State.open) this.leave();
    else if (this.state === State.leaving) this.left();
  }

  private leave(): void {
    const { port } = this.client;
    this.state = State.leaving;
    if (port === undefined) this.left();
    else this.unsubscribe(port);
  }

  private left(): void {
    const { settleOpen } = this;
    const { client, incarnation } = this.destination!;
    this.settleOpen = undefined;
    this.end();
    this.successor = client.takeOver(incarnation, { ...this.request, credit: this.credit });
    this.successor.settleOpen = settleOpen;
    this.successor.isGoingOn = settleOpen === undefined;
    if (this.draining > 0) this.successor.drain();
  }

  /** The service does not take it, since the queue moves: it goes on there, as soon as this node knows where that is. */
  private strand(): void {
    // An answer comes: it goes on then.
    if (this.isUnsubscribing) return;
    this.state = State.leaving;
    if (this.destination !== undefined) this.left();
  }

  protected get isEnded(): boolean {
    return this.state === State.ended;
  }

  private get isStranded(): boolean {
    return this.state === State.leaving && !this.isUnsubscribing;
  }

  // ---- what the service answers ----

  subscribed(refusal: string): void {
    if (refusal === queueMoves && this.state !== State.cancelling) return this.strand();
    if (refusal !== '') {
      const refused = this.settleOpen;
      this.settleOpen = undefined;
      if (refused === undefined) this.cancelledByService(refusal);
      else {
        this.end();
        refused(refusal);
      }
      return;
    }
    if (this.state !== State.opening) return;
    this.client.opened(this);
    const opened = this.settleOpen;
    this.settleOpen = undefined;
    opened?.('');
  }

  /** Grants all credit so far: its client was told that it has its subscription. */
  grantFirst(): void {
    if (this.state !== State.opening) return;
    this.state = State.open;
    if (this.endedEarly !== undefined) this.cancelledByService(this.endedEarly);
    else if (this.destination !== undefined) this.leave();
    else if (this.credit > 0) this.client.port?.grant(this.number, this.credit);
    for (let i = 0; i < this.draining; i++) this.client.port?.drain(this.number);
  }

  drained(): void {
    if (this.draining > 0 && --this.draining === 0) this.sink.drained?.(this);
  }

  unsubscribed(): void {
    this.isUnsubscribing = false;
    if (this.state === State.cancelling) this.end();
    else if (this.state === State.leaving) this.left();
  }

  cancelledByService(reason: string): void {
    if (this.state === State.ended) return;
    if (this.state === State.opening && !this.isGoingOn) {
      if (this.settleOpen === undefined) this.endedEarly = reason;
      else this.subscribed(`${Refusal.notFound}: ${reason}`);
      return;
    }
    const wasCancelling = this.state === State.cancelling;
    this.end();
    if (!wasCancelling) this.sink.cancelled(this, reason);
  }

  /** Gives up if it was asked for before `then` and is not answered. */
  expire(then: number): void {
    if (this.settleOpen === undefined || this.since > then) return;
    this.client.port?.unsubscribe(this.number);
    this.subscribed(`${Refusal.internalError}: has no primary that answers; see 'understudy status', then try again`);
  }

  /** The attachment ended: no delivery of it can come any more, so that a cancellation is complete. */
  detached(): void {
    this.isUnsubscribing = false;
    if (this.state === State.cancelling) this.end();
    else if (this.state === State.leaving && this.destination !== undefined) this.left();
  }

  private end(): void {
    this.state = State.ended;
    this.client.ended(this);
    this.settleCancel?.();
    this.settleCancel = undefined;
  }
}
