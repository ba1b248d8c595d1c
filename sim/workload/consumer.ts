import { BrowsedQueue } from '../client/browsed-queue.js';
import type { Consumer } from '../client/session.js';
import type { Delivery } from '../history.js';
import { lostWithReplicas } from '../survivors.js';
import type { SimWorld } from '../world.js';
import { Actor } from './actor.js';

export interface ConsumerStyle {
  noAck: boolean;
  /** Chances of what happens to a delivery; the rest is acked. */
  requeue: number;
  reject: number;
  /** Kept for a second or more before it is acked. */
  keep: number;
  thinkMs: number;
  /** Messages asked for at a time; left out: as many as is drawn for each consumer. */
  credit?: number;
  /** Between two consumers it rests so long at most. */
  restMs?: number;
  /** See `Asker`. */
  priority?: number;
  /** It wants messages with this key only. */
  wants?: number;
  /** It looks at messages, and takes none. */
  browses?: boolean;
  /** A consumer is cancelled, or its connection closed with all it holds, after about so long. */
  lifeMs: number;
}

/** Consumes one queue, again and again. */
export class ConsumingClient extends Actor {
  private readonly queue: string;
  /** Declares the queue again: for one that was not durable and is lost. */
  private readonly redeclare: () => Promise<void>;
  private style: ConsumerStyle;
  private current: Consumer | undefined;
  /** Runs when the present consumer is over. */
  private over: () => void = () => {};

  constructor(
    world: SimWorld,
    name: string,
    queue: string,
    style: ConsumerStyle,
    redeclare: () => Promise<void> = () => Promise.resolve(),
  ) {
    super(world, name);
    this.queue = queue;
    this.redeclare = redeclare;
    this.style = style;
  }

  async run(): Promise<void> {
    while (!this.stopping) {
      const consumer = await this.consume();
      if (consumer === undefined) {
        if (this.world.history.newestLife(this.queue)?.publishExcuse === lostWithReplicas) await this.redeclare();
        await this.sleep(20, 200);
        continue;
      }
      this.current = consumer;
      await this.lifetime();
      this.current = undefined;
      this.world.history.ended(consumer);
      this.noteEnd();
      await this.leave(consumer);
      this.noteEnd();
      if (this.style.restMs !== undefined && !this.stopping) await this.sleep(0, this.style.restMs);
    }
    this.disconnect();
  }

  private noteEnd(): void {
    const life = this.world.history.newestLife(this.queue);
    if (life !== undefined && this.style.browses !== true) life.consumerEndedAt = this.world.loop.now;
  }

  /** From now on everything is acked soon, and nothing is cancelled. */
  drain(): void {
    this.style = { ...this.style, requeue: 0.02, reject: 0, keep: 0, thinkMs: 1, lifeMs: Number.POSITIVE_INFINITY };
  }

  override stop(): void {
    super.stop();
    this.over();
  }

  override lost(): void {
    super.lost();
    this.over();
  }

  override cancelled(consumer: Consumer, reason: string): void {
    this.world.trace.add(this.name, `consumer ${consumer.id} cancelled: ${reason}`);
    if (consumer === this.current) this.over();
  }

  override delivered(delivery: Delivery, consumer: Consumer): void {
    const { connection, random, style } = this;
    if (connection === undefined) return;
    if (consumer.noAck) {
      connection.grant(consumer);
      return;
    }
    const dice = random.float();
    const kept = dice > 1 - style.keep;
    const state = dice < style.requeue ? 'requeued' : dice < style.requeue + style.reject ? 'rejected' : 'acked';
    const delay = kept ? random.between(500, 2500) : random.float() * style.thinkMs;
    this.world.loop.after(delay, null, () => connection.settle(delivery, consumer, state));
  }

  private async consume(): Promise<Consumer | undefined> {
    const life = this.world.history.newestLife(this.queue);
    if (this.style.noAck && life !== undefined) life.atMostOnce = true;
    const credit = this.style.credit ?? this.random.pick([1, 1, 2, 5, 20]);
    const consumer: Consumer = {
      id: this.world.nextConsumer++,
      queue: this.queue,
      noAck: this.style.noAck,
      life: life?.life ?? 0,
      subscription: undefined,
      ...(this.style.priority === undefined ? {} : { priority: this.style.priority }),
      ...(this.style.wants === undefined ? {} : { wants: this.style.wants }),
      ...(this.style.browses === true ? { browsed: new BrowsedQueue(credit) } : {}),
    };
    this.world.trace.add(this.name, `consumer ${consumer.id} of ${this.queue}, credit ${credit}`);
    const connection = await this.connected();
    // One attempt: a lost one leaves nothing behind, since its connection is gone.
    this.world.history.asked(consumer, credit);
    const request = connection.request((session) => session.consume(consumer, credit));
    const outcome = await this.patiently(`consume ${this.queue}`, connection, request);
    if (outcome.kind !== 'ok') this.world.history.ended(consumer);
    if (outcome.kind === 'refused') this.world.trace.add(this.name, `consume ${this.queue}: ${outcome.error.message}`);
    return outcome.kind === 'ok' ? consumer : undefined;
  }

  private lifetime(): Promise<void> {
    return new Promise((resolve) => {
      let done = false;
      this.over = (): void => {
        if (done) return;
        done = true;
        resolve();
      };
      if (this.connection === undefined || this.stopping) this.over();
      const end = this.style.lifeMs * this.random.between(0.3, 2);
      // Draining may have begun meanwhile: then the consumer stays.
      if (Number.isFinite(end)) {
        this.world.loop.after(end, null, () => {
          if (Number.isFinite(this.style.lifeMs)) this.over();
        });
      }
    });
  }

  /** Cancels (what it holds stays with the client), or closes the connection (it goes back). */
  private async leave(consumer: Consumer): Promise<void> {
    const { connection } = this;
    if (connection === undefined || this.stopping) return;
    if (this.random.chance(0.5)) await connection.request((session) => session.cancel(consumer));
    else this.disconnect();
  }
}
