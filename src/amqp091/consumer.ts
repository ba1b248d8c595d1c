import type { Subscription } from '../model/broker.js';
import type { DeliverTemplate } from './codec/index.js';
import type { Credit } from './credit.js';

/** What basic.consume and basic.qos say about a consumer. */
export interface ConsumerRequest {
  tag: string;
  queue: string;
  noAck: boolean;
  exclusive: boolean;
  noWait: boolean;
  prefetch: number;
  template: DeliverTemplate;
}

/**
 * One basic.consume of a channel, from its request until nothing of it is held any more. It counts:
 *
 *   credit     deliveries that the broker may still make
 *   unacked    deliveries that the client has and owes an answer for
 */
export class Consumer {
  readonly tag: string;
  readonly queue: string;
  readonly noAck: boolean;
  readonly exclusive: boolean;
  /** The client expects no consume-ok. */
  readonly noWait: boolean;
  /** Unacknowledged messages allowed (basic.qos at the time of the consume); 0 = no limit. */
  readonly prefetch: number;
  /** The broker's side; null until it answered or delivered. */
  subscription: Subscription | null = null;
  /** False until consume-ok is written: no delivery may overtake it. */
  started = false;
  /** The client cancelled it or the broker ended it: no further credit. */
  ended = false;
  credit = 0;
  unacked = 0;
  /** Gives back every delivery until no credit is out, so that what it gave back first comes again first. */
  stalled = false;
  /** On the list of consumers whose credit must be looked at. */
  due = false;
  readonly template: DeliverTemplate;
  private readonly owner: Credit;

  constructor(owner: Credit, request: ConsumerRequest) {
    this.owner = owner;
    this.tag = request.tag;
    this.queue = request.queue;
    this.noAck = request.noAck;
    this.exclusive = request.exclusive;
    this.noWait = request.noWait;
    this.prefetch = request.prefetch;
    this.template = request.template;
  }

  /** The client settled one of its deliveries. */
  settled(): void {
    this.owner.settled(this);
  }
}
