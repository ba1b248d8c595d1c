/**
 * Publishes that came while this node may not route (rule 15): its wiring may be older than what others were told is complete,
 * so a message could be taken for unroutable, or for one of a queue that is gone. They wait here, in order, and are routed as
 * soon as the wiring is known to be current. The publish gate closes meanwhile, so that only what was read already comes here.
 */
import type { Clock, Timer } from '../../base/clock.js';
import { MessageParts } from '../../log/record.js';
import { type Arguments, nobody, type PublishOwner, type Route } from '../../model/broker.js';

/** Stands for a route that is not known yet. */
export class DeferredRoute implements Route {
  readonly version: number = -1;
  readonly keyed: boolean = false;
  readonly queueCount: number = 1;
  readonly vhost: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly headers: Arguments;

  constructor(vhost: string, exchange: string, routingKey: string, headers: Arguments) {
    this.vhost = vhost;
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.headers = headers;
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

const retryMs = 20;

export class DeferredPublishes {
  bytes = 0;
  private waiting: Deferred[] = [];
  private timer: Timer | undefined;
  private readonly clock: Clock;
  private readonly mayRoute: () => boolean;
  private readonly send: (route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number) => number;

  /** @param send routes and publishes; returns the number of parts. */
  constructor(
    clock: Clock,
    mayRoute: () => boolean,
    send: (route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number) => number,
  ) {
    this.clock = clock;
    this.mayRoute = mayRoute;
    this.send = send;
  }

  /** True if a new publish must wait: routing is not allowed, or older ones wait still. */
  get mustWait(): boolean {
    if (this.mayRoute()) {
      if (this.waiting.length > 0) this.flush();
      return false;
    }
    return true;
  }

  add(route: DeferredRoute, parts: MessageParts, owner: PublishOwner, tag: number): void {
    const copy = copyOf(parts);
    this.bytes += copy.bodyLength;
    this.waiting.push({ route, parts: copy, owner, tag });
    this.timer ??= this.clock.every(retryMs, () => {
      if (this.mayRoute()) this.flush();
    });
  }

  forget(owner: PublishOwner): void {
    this.waiting = this.waiting.filter((one) => one.owner !== owner);
  }

  close(): void {
    this.timer?.cancel();
    this.waiting = [];
  }

  private flush(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const waiting = this.waiting;
    this.waiting = [];
    this.bytes = 0;
    for (const { route, parts, owner, tag } of waiting) {
      if (owner === nobody) {
        this.send(route, parts, owner, tag);
        continue;
      }
      const joined = new Joined(owner);
      joined.left = this.send(route, parts, joined, tag);
      if (joined.left === 0) owner.completed(tag);
    }
  }
}

/** The same parts over bytes of their own. */
function copyOf(parts: MessageParts): MessageParts {
  const copy = new MessageParts();
  copy.persistent = parts.persistent;
  copy.priority = parts.priority;
  copy.format = parts.format;
  copy.expiresAt = parts.expiresAt;
  copy.metaBytes = parts.metaBytes.slice(parts.metaStart, parts.metaStart + parts.metaLength);
  copy.metaLength = parts.metaLength;
  copy.headerBytes = parts.headerBytes.slice(parts.headerStart, parts.headerStart + parts.headerLength);
  copy.headerLength = parts.headerLength;
  copy.bodyBytes = parts.bodyBytes.slice(parts.bodyStart, parts.bodyStart + parts.bodyLength);
  copy.bodyLength = parts.bodyLength;
  return copy;
}
