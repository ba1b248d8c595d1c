/** The node's side of a simulated client's link that is resumed: what the protocol does for it, without the protocol. */
import type { Broker, DeliverySink, PublishOwner, Subscription } from '../../src/model/broker.js';
import { EnqueueView, MessageParts } from '../../src/log/record.js';
import { noOutcomes, type AcquiredOutcomes, type Terminus, type TerminusOwner } from '../../src/model/terminus/port.js';
import { noLabels } from '../queue-kind.js';
import { decodeMessage, encodeMessage } from './message.js';

export type Outcome = 'accepted' | 'refused';

export interface LinkPlan {
  readonly queue: string;
  readonly name: string;
  /** Of publishers, on the wire. */
  readonly publisher: number;
}

function attach(
  broker: Broker,
  { queue, name }: LinkPlan,
  toClient: boolean,
  outcomes: AcquiredOutcomes,
): Promise<Terminus> {
  const request = { vhost: '/', queue, user: 'sim', container: 'sim', link: name, toClient, timeoutMs: -1, outcomes };
  return broker.termini.attach(request).then((terminus) => {
    if (terminus === undefined) throw new Error(`links to queue '${queue}' cannot be resumed`);
    return terminus;
  });
}

export class NodeSender implements PublishOwner, TerminusOwner {
  readonly known: readonly string[];
  private readonly broker: Broker;
  private readonly plan: LinkPlan;
  private readonly terminus: Terminus;
  private readonly waiting = new Map<number, (outcome: Outcome) => void>();
  private isGone = false;

  private constructor(broker: Broker, plan: LinkPlan, terminus: Terminus) {
    this.broker = broker;
    this.plan = plan;
    this.terminus = terminus;
    this.known = terminus.unsettled as readonly string[];
    terminus.owner = this;
  }

  static async attach(broker: Broker, plan: LinkPlan): Promise<NodeSender> {
    return new NodeSender(broker, plan, await attach(broker, plan, false, noOutcomes));
  }

  /** Undefined: it has no outcome here, the link is over. */
  send(number: number): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      if (this.isGone) return resolve(undefined);
      const parts = new MessageParts();
      encodeMessage(parts, { publisher: this.plan.publisher, number }, '', this.plan.queue, true, 0, noLabels);
      this.waiting.set(number, (outcome) => resolve(this.isGone ? undefined : outcome));
      this.terminus.publish(parts, String(number), this, number);
    });
  }

  /** The connection is gone. */
  close(): void {
    this.terminus.detach(false);
    this.isOver();
    this.broker.forgetPublisher(this);
  }

  forget(number: number): void {
    this.terminus.forget(String(number));
  }

  completed(number: number): void {
    this.settle(number, 'accepted');
  }

  refused(number: number): void {
    this.terminus.isThere(String(number)).then(
      (isThere) => this.settle(number, isThere ? 'accepted' : 'refused'),
      () => this.isOver(),
    );
  }

  isOver(): void {
    this.isGone = true;
    for (const number of [...this.waiting.keys()]) this.settle(number, 'refused');
  }

  acquired(): void {}
  settled(): void {}
  lost(): void {
    this.isOver();
  }

  private settle(number: number, outcome: Outcome): void {
    const tell = this.waiting.get(number);
    this.waiting.delete(number);
    tell?.(outcome);
  }
}

/** What the client of a receiver gets: a message's number and position; or the news that the link is over. */
export type Arrival = { readonly number: number; readonly position: number } | undefined;

export class NodeReceiver implements DeliverySink, TerminusOwner {
  /** Positions that both ends have. */
  readonly both: readonly number[];
  private readonly broker: Broker;
  private readonly terminus: Terminus;
  private subscription: Subscription | undefined;
  private readonly acquiring = new Map<number, number>();
  /** Those that have come once more since they were asked for. */
  private readonly again = new Set<number>();
  private readonly resuming: Set<number>;
  private readonly arrived: { number: number; position: number }[] = [];
  private taker: ((arrival: Arrival) => void) | undefined;
  private readonly settling = new Map<number, () => void>();
  private isGone = false;

  private constructor(broker: Broker, terminus: Terminus, both: readonly number[]) {
    this.broker = broker;
    this.terminus = terminus;
    this.both = both;
    this.resuming = new Set(both);
    terminus.owner = this;
  }

  /** @param known what the client has  @param acks those of them that it has accepted */
  static async attach(
    broker: Broker,
    connection: string,
    plan: LinkPlan,
    known: readonly number[],
    acks: readonly number[],
  ): Promise<NodeReceiver> {
    const terminus = await attach(broker, plan, true, { ...noOutcomes, acks });
    const ours = terminus.unsettled as readonly number[];
    const receiver = new NodeReceiver(
      broker,
      terminus,
      ours.filter((position) => known.includes(position)),
    );
    const { queue, name } = plan;
    const request = { vhost: '/', queue, consumerTag: name, noAck: false, exclusive: false, arguments: {} };
    const subscription = await broker.consume({ ...request, connection, credit: 5, sink: receiver, cookie: undefined });
    receiver.subscription = subscription;
    for (const position of ours) if (!known.includes(position)) terminus.settle('requeues', position);
    terminus.again(subscription, receiver.both);
    return receiver;
  }

  next(): Promise<Arrival> {
    return new Promise((resolve) => {
      const first = this.arrived.shift();
      if (first !== undefined || this.isGone) resolve(first);
      else this.taker = resolve;
    });
  }

  /** Resolves when it is safe, or the link is over. */
  accept(position: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.isGone) return resolve(false);
      this.settling.set(position, () => resolve(!this.isGone));
      this.terminus.settle('acks', position);
    });
  }

  deliver(subscription: Subscription, position: number, _redelivered: boolean, message: EnqueueView): void {
    const { number } = decodeMessage(message);
    if (this.isGone) return subscription.release(position);
    if (this.resuming.delete(position)) return this.give(number, position);
    if (this.acquiring.has(position)) this.again.add(position);
    else this.terminus.acquire(position);
    this.acquiring.set(position, number);
  }

  cancelled(): void {
    this.isOver();
  }

  forEachHeld(): void {}

  acquired(position: number, isTaken: boolean): void {
    const number = this.acquiring.get(position);
    if (this.again.delete(position) && !isTaken) return this.terminus.acquire(position);
    this.acquiring.delete(position);
    if (number === undefined) return;
    if (isTaken) return this.give(number, position);
    this.subscription?.release(position);
    // Its credit is free again: the client has not seen it.
    this.subscription?.grant(1);
  }

  settled(positions: readonly number[]): void {
    for (const position of positions) {
      this.settling.get(position)?.();
      this.settling.delete(position);
    }
  }

  isOver(): void {
    if (this.isGone) return;
    this.isGone = true;
    for (const position of this.acquiring.keys()) this.subscription?.release(position);
    this.acquiring.clear();
    this.subscription?.close();
    for (const settle of this.settling.values()) settle();
    this.settling.clear();
    this.taker?.(undefined);
  }

  lost(): void {
    this.isOver();
  }

  /** The connection is gone. */
  close(): void {
    this.terminus.detach(false);
    this.isOver();
    this.broker.forgetSink(this);
  }

  private give(number: number, position: number): void {
    this.subscription?.grant(1);
    const { taker } = this;
    this.taker = undefined;
    if (taker === undefined) this.arrived.push({ number, position });
    else taker({ number, position });
  }
}
