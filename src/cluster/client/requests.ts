import { Refusal, RefusedError } from '../../base/errors.js';
import { Ring } from '../../base/ring.js';
import type { EnqueueView } from '../../log/record.js';
import type { DeliverySink, GetRequest, Holder } from '../../model/broker.js';
import type { TerminusAnswer, TerminusOperation } from '../../model/terminus/operations.js';
import { queueRefused } from './refusal.js';
import type { DeadLettering } from '../../model/queue/queue-traits.js';
import type { ServiceControl } from './tie.js';

/** A question to a group's service that is not answered yet. It is asked again at each attachment. */
interface Request {
  readonly incarnation: number;
  /** Since when it waits, by the node's clock. */
  readonly since: number;
  ask(port: ServiceControl, number: number, wiringVersion: number): void;
  fail(error: Error): void;
}

class Get implements Request {
  readonly incarnation: number;
  readonly since: number;
  /** Undefined once its channel is gone. */
  request: GetRequest | undefined;
  readonly noAck: boolean;

  constructor(incarnation: number, since: number, request: GetRequest) {
    this.incarnation = incarnation;
    this.since = since;
    this.request = request;
    this.noAck = request.noAck;
  }

  ask(port: ServiceControl, number: number, wiringVersion: number): void {
    port.get(number, this.incarnation, wiringVersion, this.noAck);
  }
  fail(error: Error): void {
    this.request?.failed(error);
  }
}

/** What a queue holds at its primary. */
export interface QueueCount {
  ready: number;
  unacknowledged: number;
  consumers: number;
}

/** Messages removed; `refusal`: '' or '<kind>: text'. */
export interface PurgeOutcome {
  count: number;
  refusal: string;
}

class Count implements Request {
  readonly incarnation: number;
  readonly since: number;
  readonly resolve: (count: QueueCount) => void;
  readonly fail: (error: Error) => void;
  private readonly isUse: boolean;

  constructor(
    incarnation: number,
    isUse: boolean,
    since: number,
    resolve: (count: QueueCount) => void,
    fail: (error: Error) => void,
  ) {
    this.incarnation = incarnation;
    this.isUse = isUse;
    this.since = since;
    this.resolve = resolve;
    this.fail = fail;
  }

  ask(port: ServiceControl, number: number, wiringVersion: number): void {
    port.count(number, this.incarnation, wiringVersion, this.isUse);
  }
}

class Purge implements Request {
  readonly incarnation: number;
  readonly to: DeadLettering | undefined;
  since: number;
  readonly resolve: (purged: PurgeOutcome) => void;
  readonly fail: (error: Error) => void;

  constructor(
    incarnation: number,
    to: DeadLettering | undefined,
    since: number,
    resolve: (purged: PurgeOutcome) => void,
    fail: (error: Error) => void,
  ) {
    this.incarnation = incarnation;
    this.to = to;
    this.since = since;
    this.resolve = resolve;
    this.fail = fail;
  }

  ask(port: ServiceControl, number: number, wiringVersion: number): void {
    port.purge(number, this.incarnation, wiringVersion, this.to);
  }
}

class AboutTerminus implements Request {
  readonly incarnation: number;
  readonly since: number;
  readonly operation: TerminusOperation;
  readonly resolve: (answer: TerminusAnswer) => void;
  readonly fail: (error: Error) => void;

  constructor(
    incarnation: number,
    operation: TerminusOperation,
    since: number,
    resolve: (answer: TerminusAnswer) => void,
    fail: (error: Error) => void,
  ) {
    this.incarnation = incarnation;
    this.operation = operation;
    this.since = since;
    this.resolve = resolve;
    this.fail = fail;
  }

  ask(port: ServiceControl, number: number, wiringVersion: number): void {
    port.terminus(number, this.incarnation, wiringVersion, this.operation);
  }
}

/** Gets, counts and purges in flight between one node and one group. Bounded in time: see `expire`. */
export class Requests {
  private readonly pending = new Map<number, Request>();
  /** Not asked yet, in order. */
  private readonly due = new Ring<readonly [number: number, after: number]>();
  private lastNumber = 0;

  get size(): number {
    return this.pending.size;
  }

  /** Keeps the request; returns its number, to be asked with. */
  get(incarnation: number, now: number, request: GetRequest): number {
    return this.keep(new Get(incarnation, now, request));
  }
  count(
    incarnation: number,
    isUse: boolean,
    now: number,
    resolve: (count: QueueCount) => void,
    fail: (error: Error) => void,
  ): number {
    return this.keep(new Count(incarnation, isUse, now, resolve, fail));
  }
  purge(
    incarnation: number,
    to: DeadLettering | undefined,
    now: number,
    resolve: (purged: PurgeOutcome) => void,
    fail: (error: Error) => void,
  ): number {
    return this.keep(new Purge(incarnation, to, now, resolve, fail));
  }

  terminus(
    incarnation: number,
    operation: TerminusOperation,
    now: number,
    resolve: (answer: TerminusAnswer) => void,
    fail: (error: Error) => void,
  ): number {
    return this.keep(new AboutTerminus(incarnation, operation, now, resolve, fail));
  }

  /** True if questions wait for publishes before them to be sent. */
  get areDue(): boolean {
    return this.due.length > 0;
  }

  /** It is to be asked when the publishes up to `after` are sent. */
  askAfter(number: number, after: number): void {
    this.due.push([number, after]);
  }

  /** All are to be asked (again) when the publishes up to `after` are sent. */
  askAllAfter(after: number): void {
    this.due.clear();
    for (const number of this.pending.keys()) this.due.push([number, after]);
  }

  /** Asks what is due. @param unsent the first publish that is not sent */
  askDue(port: ServiceControl, wiringVersion: number, unsent: number): void {
    while (this.due.length > 0 && this.due.peek()![1] < unsent) {
      const [number] = this.due.shift()!;
      this.pending.get(number)?.ask(port, number, wiringVersion);
    }
  }

  /** Returns false if nobody waits for the message: it is to be given back unless it was a get without acks. */
  got(
    number: number,
    message: EnqueueView,
    position: number,
    redelivered: boolean,
    remaining: number,
    holder: Holder,
    returns: number,
  ): boolean {
    const get = this.take(number);
    if (!(get instanceof Get)) return false;
    if (get.request === undefined) return get.noAck;
    get.request.got(message, position, redelivered, remaining, holder, returns);
    return true;
  }

  gotNothing(number: number, refusal: string): void {
    const get = this.take(number);
    if (!(get instanceof Get)) return;
    const { request } = get;
    if (refusal === '') request?.empty();
    else request?.failed(queueRefused(refusal, request.vhost, request.queue));
  }

  counted(number: number, ready: number, unacknowledged: number, consumers: number): void {
    const count = this.take(number);
    if (count instanceof Count) count.resolve({ ready, unacknowledged, consumers });
  }

  purged(number: number, count: number, refusal: string): void {
    const purge = this.take(number);
    if (purge instanceof Purge) purge.resolve({ count, refusal });
  }

  terminusAnswered(number: number, answer: TerminusAnswer): void {
    const asked = this.take(number);
    if (asked instanceof AboutTerminus) asked.resolve(answer);
  }

  /** The sink's channel is gone: what its gets bring is given back. */
  forgetSink(sink: DeliverySink): void {
    for (const request of this.pending.values())
      if (request instanceof Get && request.request?.sink === sink) request.request = undefined;
  }

  /**
   * Fails what has waited for so long. Many messages take their time to be sent elsewhere: that waits as long as there is a primary that
   * may be at it, and for so long again for the next one.
   */
  expire(now: number, timeoutMs: number, group: number, isAttached: boolean): void {
    for (const [number, request] of this.pending) {
      if (isAttached && request instanceof Purge && request.to !== undefined) request.since = now;
      if (request.since > now - timeoutMs) continue;
      this.pending.delete(number);
      request.fail(
        new RefusedError(
          Refusal.internalError,
          `the primary of group ${group}, which holds the queue, did not answer in time; see 'understudy status', then try again`,
        ),
      );
    }
  }

  failAll(error: Error): void {
    const pending = [...this.pending.values()];
    this.pending.clear();
    for (const request of pending) request.fail(error);
  }

  private keep(request: Request): number {
    this.lastNumber = (this.lastNumber % 0xffff_ffff) + 1;
    this.pending.set(this.lastNumber, request);
    return this.lastNumber;
  }

  private take(number: number): Request | undefined {
    const request = this.pending.get(number);
    if (request !== undefined) this.pending.delete(number);
    return request;
  }
}
