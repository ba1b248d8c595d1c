import type { SubscribeOptions } from '../group-port.js';
import { SelectorError } from '../selection/selector-error.js';
import type { Attachment } from './attachment.js';
import type { GroupService } from './group-service.js';
import { Reader } from './reader.js';
import type { ServedQueue } from './served-queue.js';

/** One subscription: a client's consumer, behind its node's attachment. */
export class Consumer {
  readonly attachment: Attachment;
  readonly subscriber: number;
  readonly queue: ServedQueue;
  readonly noAck: boolean;
  readonly exclusive: boolean;
  readonly tag: string;
  /** Those with more are served first. */
  readonly priority: number;
  /** It was given messages by an older primary. */
  readonly wasActive: boolean;
  /** It was given messages by this one. */
  hasDelivered = false;
  /** Deliveries that it still takes, see `deliveryCost`. */
  credit: number;
  /** It is among those that wait for a message. */
  waiting = false;
  /** The way to its node is full: it gets nothing before that has room again. */
  parked = false;
  closed = false;
  /** It looks at messages, and takes none. */
  readonly browses: boolean;
  /** Goes through the queue for it, if it has a filter, or browses: it is never in the line of the others. */
  readonly reader: Reader | undefined;

  /** Throws SelectorError. */
  constructor(
    attachment: Attachment,
    subscriber: number,
    queue: ServedQueue,
    options: SubscribeOptions,
    service: GroupService,
  ) {
    this.attachment = attachment;
    this.subscriber = subscriber;
    this.queue = queue;
    this.noAck = options.noAck;
    this.exclusive = options.exclusive;
    this.tag = options.consumerTag;
    this.priority = service.rules.preferredFirst ? Number(options.arguments['x-priority'] ?? 0) : 0;
    this.wasActive = options.wasActive === true;
    this.credit = options.credit;
    this.browses = options.browses === true;
    const reads = this.browses || options.filter !== undefined;
    this.reader = reads ? new Reader(this, options, service) : undefined;
    this.waiting = reads;
  }
}

/** A subscription; or why there is none. */
export function makeConsumer(
  attachment: Attachment,
  subscriber: number,
  queue: ServedQueue,
  options: SubscribeOptions,
  service: GroupService,
): Consumer | string {
  try {
    return new Consumer(attachment, subscriber, queue, options, service);
  } catch (error) {
    if (error instanceof SelectorError) return `precondition-failed: ${error.message}`;
    throw error;
  }
}

/** One `get` that was not answered. */
export class PendingGet {
  readonly attachment: Attachment;
  readonly request: number;
  readonly noAck: boolean;

  constructor(attachment: Attachment, request: number, noAck: boolean) {
    this.attachment = attachment;
    this.request = request;
    this.noAck = noAck;
  }
}
