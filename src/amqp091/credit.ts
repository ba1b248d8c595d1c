/**
 * How many deliveries each consumer of a channel may be given: basic.qos in terms of the broker's credit.
 *
 * - prefetch p of a consumer: credit + unacked <= p. What was settled in a turn is granted again at its end, as one number.
 * - No prefetch, or no acknowledgements: a window of deliveries, granted again when half of it is used. Without acknowledgements
 *   big messages take more of it, since none of them can go back.
 * - Limit of the channel (qos global): free places are divided among its consumers, each having one credit at least, so
 *   that none starves because another with an empty queue sits on the credit. What arrives beyond the limit goes back.
 * - While the client does not read, or has stopped the flow, nothing is granted.
 *
 * The window shrinks when messages are big: what is on its way must not exceed the output's bound by much.
 */
import type { Flushable } from '../base/turn.js';
import type { Consumer } from './consumer.js';

export interface CreditLimits {
  /** Deliveries allowed ahead at most. */
  creditWindow: number;
  /** Unacknowledged deliveries of a channel; no credit beyond it. */
  unackedMax: number;
}

/** What the connection's output says about the deliveries that it could take. */
export interface DeliveryRoom {
  /** No further credit now; the channel is called back (`Credit.resume`). */
  readonly congested: boolean;
  /** Deliveries of average size that fit into the output's bound, per consumer of the connection. */
  readonly windowMax: number;
}

/** A new consumer's window until the size of its messages is known. */
const firstWindow = 32;

export class Credit implements Flushable {
  /** Unacknowledged deliveries allowed on the channel; 0 = no limit. */
  limit = 0;
  /** Held by the client, of all consumers. */
  unacked = 0;
  /** False after channel.flow(active=false). */
  flowing = true;
  /** The client holds so much that it gets no more. */
  exhausted = false;
  private readonly limits: CreditLimits;
  private readonly room: DeliveryRoom;
  private readonly onDue: () => void;
  private readonly consumers: Consumer[] = [];
  /** Consumers that are limited by what the client acknowledges. */
  private acknowledging = 0;
  private due: Consumer[] = [];
  private allDue = false;
  private scheduled = false;
  /** Where dividing a channel's limit begins, so that all get their turn. */
  private rotation = 0;

  /** @param onDue called once when credit must be granted; `flush` is then due in the log phase of this turn. */
  constructor(limits: CreditLimits, room: DeliveryRoom, onDue: () => void) {
    this.limits = limits;
    this.room = room;
    this.onDue = onDue;
  }

  /** Takes a new consumer and returns its first credit. */
  add(consumer: Consumer): number {
    this.consumers.push(consumer);
    if (!consumer.noAck) this.acknowledging++;
    if (!this.room.congested && this.flowing) {
      const allowed = this.allowance(consumer);
      consumer.credit = consumer.prefetch > 0 && !consumer.noAck ? allowed : Math.min(allowed, firstWindow);
    }
    return consumer.credit;
  }

  /** No more credit for this consumer. What it holds still counts. */
  remove(consumer: Consumer): void {
    const index = this.consumers.indexOf(consumer);
    if (index < 0) return;
    this.consumers.splice(index, 1);
    if (!consumer.noAck) this.acknowledging--;
    if (this.limit > 0) this.touchAll();
  }

  /** Every consumer is looked at again: the limit changed, the client reads again. */
  resume(): void {
    this.touchAll();
  }

  /**
   * A delivery has arrived and used `cost` of the credit (see deliveryCost).
   * @returns false if the client must not have it now: it goes back to its place. Never for a consumer without
   *   acknowledgements, whose messages are gone from their queue.
   */
  admit(consumer: Consumer, cost: number, overfull: boolean): boolean {
    consumer.credit -= cost;
    if (consumer.noAck) {
      if (consumer.credit * 2 <= this.limits.creditWindow) this.touch(consumer);
      return true;
    }
    if (consumer.stalled || overfull || !this.flowing || (this.limit > 0 && this.unacked >= this.limit)) {
      consumer.stalled = true;
      if (consumer.credit <= 0) this.touch(consumer);
      return false;
    }
    consumer.unacked++;
    this.unacked++;
    // Limited by something else than what the client acknowledges: the window, or a limit that has risen since.
    if (consumer.prefetch === 0 || consumer.prefetch - consumer.unacked > consumer.credit) this.touch(consumer);
    return true;
  }

  settled(consumer: Consumer): void {
    consumer.unacked--;
    this.unacked--;
    if (this.limit > 0 || this.exhausted) this.touchAll();
    else this.touch(consumer);
  }

  flush(): void {
    this.scheduled = false;
    this.allDue = false;
    const due = this.due;
    this.due = [];
    const count = due.length;
    const first = this.limit > 0 && count > 1 ? this.rotation++ % count : 0;
    for (let i = 0; i < count; i++) {
      const consumer = due[(first + i) % count]!;
      consumer.due = false;
      this.grant(consumer);
    }
  }

  private grant(consumer: Consumer): void {
    const subscription = consumer.subscription;
    if (!subscription || consumer.ended || !this.flowing || this.room.congested) return;
    if (consumer.stalled) {
      if (consumer.credit > 0) return;
      consumer.stalled = false;
    }
    const allowed = this.allowance(consumer);
    const count = allowed - consumer.credit;
    if (count <= 0) return;
    // A window is topped up by halves; a prefetch at once, since the client may wait for exactly this message.
    const windowed = consumer.noAck || consumer.prefetch === 0 || allowed < consumer.prefetch - consumer.unacked;
    if (windowed && consumer.credit * 2 > allowed) return;
    consumer.credit += count;
    subscription.grant(count);
  }

  /** Credit that this consumer may have out. */
  private allowance(consumer: Consumer): number {
    const window = Math.max(1, Math.min(this.limits.creditWindow, this.room.windowMax));
    if (consumer.noAck) return window;
    let allowed = consumer.prefetch === 0 ? window : Math.min(window, consumer.prefetch - consumer.unacked);
    if (this.limit > 0) {
      const free = this.limit - this.unacked;
      allowed = Math.min(allowed, free <= 0 ? 0 : Math.ceil(free / this.acknowledging));
    }
    const left = this.limits.unackedMax - this.unacked;
    this.exhausted = left <= 0;
    return Math.max(0, Math.min(allowed, left));
  }

  private touchAll(): void {
    if (this.allDue) return;
    for (const consumer of this.consumers) this.touch(consumer);
    this.allDue = this.consumers.length > 0;
  }

  private touch(consumer: Consumer): void {
    if (consumer.due || consumer.ended) return;
    consumer.due = true;
    this.due.push(consumer);
    if (!this.scheduled) {
      this.scheduled = true;
      this.onDue();
    }
  }
}
