/**
 * Publishes that must not be sent on yet. They wait here, in order, and are routed when they may be.
 *
 * - They came while this node may not route (rule 15): its wiring may be older than what others were told is complete, so a message
 *   could be taken for unroutable, or for one of a queue that is gone. The publish gate closes meanwhile, so that only what was
 *   read already comes here.
 * - One of their queues is about to move (MoveStage.closing; one queue at a time), which takes some milliseconds. Others pass by, if
 *   they have no queue in common with those that wait: a publisher's messages stay in order in each queue.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { RefusedError } from '../../base/errors.js';
import { Ring } from '../../base/ring.js';
import { ownParts } from '../../log/own-parts.js';
import type { MessageParts } from '../../log/record.js';
import {
  type Arguments,
  messageProperties,
  nobody,
  type Properties,
  type PublishOwner,
  type Route,
} from '../../model/broker.js';
import type { OutboxMemory } from './publish-outbox.js';

/** Stands for a route that is not known yet. */
export class DeferredRoute implements Route {
  readonly version: number = -1;
  readonly keyed: boolean = false;
  readonly queueCount: number = 1;
  readonly isKnown: boolean = false;
  readonly vhost: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly headers: Arguments;
  readonly properties: Properties;
  readonly moreKeys: readonly string[] | undefined;
  /** Names of its queues; undefined: they are not known. */
  readonly queues: readonly string[] | undefined;

  constructor(
    vhost: string,
    exchange: string,
    routingKey: string,
    headers: Arguments,
    moreKeys?: readonly string[],
    queues?: readonly string[],
    properties: Properties = () => '',
  ) {
    this.vhost = vhost;
    this.moreKeys = moreKeys;
    this.queues = queues;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.headers = headers;
    const kept = new Map(messageProperties.map((name) => [name, properties(name)]));
    this.properties = (name) => kept.get(name) ?? '';
  }
}

interface Deferred {
  route: DeferredRoute;
  parts: MessageParts;
  owner: PublishOwner;
  tag: number;
}

/** Counts the parts of one message down to the one completion that its owner was promised. */
class Joined implements PublishOwner {
  left = 0;
  private isRefused = false;
  readonly owner: PublishOwner;

  constructor(owner: PublishOwner) {
    this.owner = owner;
  }

  completed(tag: number): void {
    if (--this.left > 0) return;
    if (this.isRefused) this.owner.refused(tag);
    else this.owner.completed(tag);
  }

  refused(tag: number): void {
    this.isRefused = true;
    this.completed(tag);
  }
}

const retryMs = 5;
/** Sent at a time: less than a millisecond's work. */
const flushSlice = 256;
/** Memory that each takes, besides its bytes. */
const overheadBytes = 512;

function costOf({ metaLength, headerLength, bodyLength }: MessageParts): number {
  return metaLength + headerLength + bodyLength + overheadBytes;
}

export interface DeferredOptions {
  clock: Clock;
  /** Where their bytes count: the publish gate bounds it. */
  memory: OutboxMemory;
  /** Whether this node may route at all. */
  mayRoute(): boolean;
  /** Routes and publishes; returns the number of parts, or `stillWaits`. Throws RefusedError if it may not be. */
  send(route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number): number;
}

/** Nothing was sent: a queue is about to move still. */
export const stillWaits = -1;

export class DeferredPublishes {
  private readonly options: DeferredOptions;
  private readonly waiting = new Ring<Deferred>();
  private timer: Timer | undefined;
  private isFlushing = false;
  /** Queues of what waits, by name: they may have moved, or begin to. */
  private readonly queues = new Set<string>();
  /** Of something that waits they are not known: everything waits behind it. */
  private holdsAll = false;

  constructor(options: DeferredOptions) {
    this.options = options;
  }

  /** True if every new publish must wait. What waits and need not any more is sent first. */
  get mustWait(): boolean {
    if (!this.options.mayRoute()) return true;
    if (this.waiting.length > 0) this.flush();
    return this.holdsAll;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** What goes to that queue must wait behind what waits. */
  holds(queue: string): boolean {
    return this.queues.has(queue);
  }

  add(route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number): void {
    const copy = ownParts(parts);
    this.options.memory.bytes += costOf(copy);
    this.waiting.push({ route, parts: copy, owner, tag });
    for (const queue of route.queues ?? []) this.queues.add(queue);
    if (route.queues === undefined) this.holdsAll = true;
    this.timer ??= this.options.clock.every(retryMs, () => {
      if (this.options.mayRoute()) this.flush();
    });
  }

  forget(owner: PublishOwner): void {
    this.waiting.filter((one) => {
      if (one.owner !== owner) return true;
      this.options.memory.bytes -= costOf(one.parts);
      return false;
    });
  }

  close(): void {
    this.timer?.cancel();
    this.waiting.clear();
  }

  /** In order, up to the first one that must wait still, and some of them at a time. */
  private flush(): void {
    // Sending asks whether there is something to be sent first.
    if (this.isFlushing) return;
    this.isFlushing = true;
    for (let count = 0; count < flushSlice; count++) {
      const next = this.waiting.peek();
      if (next === undefined || !this.sendOne(next)) break;
      // What its owner was told may have made him forget all that is his.
      if (this.waiting.peek() !== next) continue;
      this.waiting.shift();
      this.options.memory.bytes -= costOf(next.parts);
    }
    this.isFlushing = false;
    if (this.waiting.length > 0) return;
    this.queues.clear();
    this.holdsAll = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private sendOne({ route, parts, owner, tag }: Deferred): boolean {
    const joined = new Joined(owner);
    try {
      joined.left = this.options.send(route, parts, owner === nobody ? nobody : joined, tag);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (owner.failed === undefined) owner.completed(tag);
      else owner.failed(tag, error);
      return true;
    }
    if (joined.left === stillWaits) return false;
    if (joined.left > 0) return true;
    owner.unroutable?.(tag, parts);
    owner.completed(tag);
    return true;
  }
}
