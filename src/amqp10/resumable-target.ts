/**
 * The broker's end of a link on which the client sends, and which it can resume (§2.6.13): that a message is there is known until the client
 * has settled it, whatever becomes of its connection and of the queue's primary.
 *
 *   publish ─▶ safe, and noted ─▶ told: accepted ─▶ the client settles ─▶ forgotten
 *
 * With settle mode first the broker settles when it tells, and forgets: what is told and does not arrive is sent again.
 */
import type { MessageParts } from '../log/record.js';
import type { PublishOwner } from '../model/broker.js';
import type { Terminus, TerminusOwner } from '../model/terminus/port.js';
import {
  Accepted,
  type AmqpError,
  Condition,
  type DeliveryState,
  Disposition,
  AmqpError as Failure,
  Rejected,
} from './codec/index.js';
import { LinkError, toAmqpError } from './errors.js';
import type { SessionHost } from './session-host.js';

interface Delivery {
  readonly id: number;
  readonly tag: string;
}

/** Whose it is. */
export interface ResumableTargetLink {
  publishSettled(): void;
  fail(error: AmqpError): void;
}

export class ResumableTarget implements PublishOwner, TerminusOwner {
  /** A map was not complete: nothing new is sent before the link was attached again (§2.7.3). */
  isPartial = false;
  private isDetached = false;
  private readonly host: SessionHost;
  private readonly link: ResumableTargetLink;
  private readonly terminus: Terminus;
  private readonly settlesSecond: boolean;
  private lastNumber = 0;
  /** Without outcome, by our numbers. */
  private readonly waiting = new Map<number, Delivery>();
  /** Accepted, and not told yet: ids in the order in which that was known. */
  private accepted: number[] = [];
  /** Without settlement, by ids of deliveries: the tags. */
  private readonly unsettled = new Map<number, string>();
  /** Those from before that both ends have. */
  private readonly resumed: Set<string>;

  constructor(
    host: SessionHost,
    link: ResumableTargetLink,
    terminus: Terminus,
    settlesSecond: boolean,
    resumed: Iterable<string>,
  ) {
    this.host = host;
    this.link = link;
    this.terminus = terminus;
    this.settlesSecond = settlesSecond;
    this.resumed = new Set(resumed);
    terminus.owner = this;
  }

  publish(parts: MessageParts, id: number, tag: string): void {
    const number = ++this.lastNumber;
    this.waiting.set(number, { id, tag });
    this.terminus.publish(parts, tag, this, number);
  }

  /** A delivery from before is on this link again. One that is not known here counts for nothing (§2.7.5). */
  resume(id: number, tag: string, isSettled: boolean): void {
    if (!this.resumed.delete(tag)) return;
    if (isSettled) return this.terminus.forget(tag);
    this.unsettled.set(id, tag);
    this.accept(id);
  }

  /** The client has settled deliveries. */
  settledBy(first: number, last: number): void {
    if (this.unsettled.size === 0) return;
    const count = (last - first) >>> 0;
    for (const [id, tag] of this.unsettled) {
      if ((id - first) >>> 0 > count) continue;
      this.unsettled.delete(id);
      this.terminus.forget(tag);
      this.link.publishSettled();
    }
  }

  detach(ends: boolean): void {
    this.host.broker.forgetPublisher(this);
    this.waiting.clear();
    this.accepted = [];
    this.isDetached = true;
    this.terminus.detach(ends);
  }

  // ---- PublishOwner ----

  completed(number: number): void {
    const delivery = this.waiting.get(number);
    if (delivery === undefined) return;
    this.waiting.delete(number);
    if (this.settlesSecond) this.unsettled.set(delivery.id, delivery.tag);
    else this.terminus.forget(delivery.tag);
    this.accept(delivery.id);
    if (!this.settlesSecond) this.link.publishSettled();
  }

  /** A queue does not take it, or the link is attached elsewhere, or nobody knows: the log does. */
  refused(number: number): void {
    const delivery = this.waiting.get(number);
    if (delivery === undefined) return;
    this.terminus.isThere(delivery.tag).then(
      (isThere) => {
        if (isThere) this.completed(number);
        else if (this.waiting.delete(number)) this.reject(delivery.id);
      },
      (error: Error) => this.lost(error),
    );
  }

  // ---- TerminusOwner ----

  isOver(): void {
    this.waiting.clear();
    this.link.fail(new LinkError(Condition.linkStolen, 'the link is attached elsewhere'));
  }

  acquired(): void {}

  settled(): void {}

  lost(error: Error): void {
    this.link.fail(toAmqpError(error));
  }

  private accept(id: number): void {
    this.accepted.push(id);
    if (this.accepted.length === 1) queueMicrotask(() => this.tell());
  }

  /** Neighbours are told together. */
  private tell(): void {
    const ids = this.accepted;
    this.accepted = [];
    for (let i = 0; i < ids.length; ) {
      const first = ids[i]!;
      let last = first;
      for (i++; i < ids.length && ids[i] === (last + 1) >>> 0; i++) last = ids[i]!;
      this.say(first, last, new Accepted(), !this.settlesSecond);
    }
  }

  private reject(id: number): void {
    const rejected = new Rejected();
    const text = 'a queue refuses it, or has too few replicas';
    rejected.error = new Failure(Condition.preconditionFailed, text).fields;
    this.say(id, id, rejected, true);
    this.link.publishSettled();
  }

  private say(first: number, last: number, state: DeliveryState, isSettled: boolean): void {
    if (this.isDetached) return;
    const disposition = new Disposition();
    disposition.role = true;
    disposition.first = first;
    disposition.last = last;
    disposition.settled = isSettled;
    disposition.state = state;
    this.host.send(disposition);
  }
}
