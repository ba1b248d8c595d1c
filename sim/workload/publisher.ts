import type { PublishRequest } from '../client/session.js';
import { Message, type QueueLife } from '../history.js';
import type { SimNode } from '../node.js';
import { type Labels, noLabels } from '../queue-kind.js';
import type { SimRandom } from '../random.js';
import type { SimWorld, Stirred } from '../world.js';
import { Actor } from './actor.js';

/** Where a publisher sends: an exchange and a key, and the queues that are bound there for good. */
export interface Target {
  exchange: string;
  routingKey: string;
  queues: readonly string[];
  /** What it sends waits for its time. */
  delays?: boolean;
  /** For queues that look at messages: such are persistent and small. */
  labels?: (random: SimRandom) => Labels;
}

/** Bytes of a body whose size counts: all are alike. */
export const smallPadding = 44;

interface Unconfirmed {
  message: Message;
  target: Target;
  paddingBytes: number;
}

/**
 * Publishes numbered messages with confirms. What was not confirmed when its connection went is sent again, in order, before
 * anything new: so those may legally come twice, and only those.
 */
export class Publisher extends Actor implements Stirred {
  private readonly targets: readonly Target[];
  private readonly window: number;
  private readonly pauseMs: number;
  private remaining: number;
  private nextNumber = 1;
  private unconfirmed: Unconfirmed[] = [];
  private waitingSince = 0;

  constructor(world: SimWorld, name: string, targets: readonly Target[], count: number, durationMs: number) {
    super(world, name);
    world.publisherNumber(name);
    this.targets = targets;
    this.remaining = count;
    this.window = this.random.pick([1, 5, 20, 100]);
    this.pauseMs = (2 * durationMs) / count;
  }

  get at(): SimNode | undefined {
    return this.connection?.node;
  }

  stir(): void {
    this.publishSome(1 + this.random.int(6));
  }

  async run(): Promise<void> {
    this.world.onTrouble.add(this);
    await this.publishAll();
    this.world.onTrouble.delete(this);
    this.disconnect();
  }

  private async publishAll(): Promise<void> {
    let previous: unknown;
    // All of them, even if the faults are over before: the number of operations is a promise of every seed.
    while (this.remaining > 0 || this.unconfirmed.length > 0) {
      const connection = await this.connected();
      if (connection !== previous) {
        previous = connection;
        this.send(this.unconfirmed);
      }
      this.publishSome(this.random.chance(0.2) ? 1 + this.random.int(10) : 1);
      this.losePatience();
      await this.sleep(0, this.pauseMs);
    }
  }

  override confirmed(message: Message): void {
    const index = this.unconfirmed.findIndex((candidate) => candidate.message === message);
    if (index >= 0) this.unconfirmed.splice(index, 1);
    this.waitingSince = this.world.loop.now;
  }

  /** Sent again, which makes it one of those that may come twice. */
  override refused(message: Message): void {
    const entry = this.unconfirmed.find((candidate) => candidate.message === message);
    if (entry === undefined) return;
    // A full queue refuses it: its publisher gives up.
    if (message.copies.some(({ queue }) => queue.kind.refusesOver !== undefined)) return this.confirmed(message);
    void this.sleep(50, 200).then(() => {
      if (this.unconfirmed.includes(entry)) this.send([entry]);
    });
  }

  override unroutable(message: Message): void {
    this.confirmed(message);
  }

  /** Publishers wait while the node says so; a real one's socket is not read. */
  private gateClosed(): boolean {
    return (this.connection?.gateClosed ?? '') !== '';
  }

  private publishSome(burst: number): void {
    if (this.connection === undefined || this.gateClosed()) return;
    const fresh: Unconfirmed[] = [];
    for (let i = 0; i < burst && this.remaining > 0 && this.unconfirmed.length + fresh.length < this.window; i++) {
      fresh.push(this.create());
    }
    this.unconfirmed.push(...fresh);
    this.send(fresh);
  }

  private create(): Unconfirmed {
    this.remaining--;
    const target = this.random.pick(this.targets);
    const queues = target.queues.map((name) => this.world.history.newestLife(name)!);
    const { labels } = target;
    if (labels !== undefined) return this.created(target, true, queues, 0, smallPadding, labels(this.random));
    const persistent = this.random.chance(0.8);
    const delays = target.delays === true;
    // What is not durable is lost with the group where it waits, of which the history does not know.
    const delayMs = delays ? this.random.pick([1, 30, 300, 3000]) : 0;
    const dice = this.random.float();
    const isLarge = this.world.options.large && dice < 0.4;
    const paddingBytes = isLarge
      ? 1000 + this.random.int(12_000)
      : dice < 0.9
        ? this.random.int(200)
        : dice < 0.99
          ? this.random.int(5000)
          : 100_000 + this.random.int(200_000);
    return this.created(target, persistent || delays, queues, delayMs, paddingBytes, noLabels);
  }

  private created(
    target: Target,
    persistent: boolean,
    queues: readonly QueueLife[],
    delayMs: number,
    paddingBytes: number,
    labels: Labels,
  ): Unconfirmed {
    const message = new Message(this.name, this.nextNumber++, persistent, queues, delayMs, labels);
    this.world.history.message(message);
    return { message, target, paddingBytes };
  }

  private send(batch: readonly Unconfirmed[]): void {
    if (batch.length === 0 || this.connection === undefined) return;
    const { history } = this.world;
    const { node } = this.connection;
    const requests: PublishRequest[] = batch.map(({ message, target, paddingBytes }) => ({
      message,
      send: history.sent(message, node.name),
      exchange: target.exchange,
      routingKey: target.routingKey,
      paddingBytes,
    }));
    this.waitingSince = this.world.loop.now;
    this.connection.publish(requests);
  }

  private losePatience(): void {
    if (this.world.patient || this.unconfirmed.length === 0) return;
    if (this.world.loop.now - this.waitingSince > 6000) this.connection?.abandon('confirms take too long');
  }
}
