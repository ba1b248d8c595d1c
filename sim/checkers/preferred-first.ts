/**
 * Consumers with a higher priority are given messages first: another one is given any only when they have all that they asked for.
 *
 * From outside: one is passed over if it had asked long before, is still there, and gets nothing soon. Judged while nothing fails, and
 * not in the first moments of an epoch: a new primary serves those that have come again, one after the other.
 */
import type { Asker, Delivery } from '../history.js';
import { Checker } from './checker.js';

/** Through the network and back, and what the nodes themselves need. */
const ways = 3;
const workMsMax = 25;

interface Asking {
  readonly priority: number;
  readonly queue: string;
  /** When it asked for the oldest of those messages that it did not get. */
  readonly asks: number[];
  /** When it was first passed over since it got one, and by what. */
  passedAt: number;
  by: Delivery | undefined;
}

export class PreferredFirst extends Checker {
  readonly name = 'preferred-first';
  private readonly askers = new Map<number, Asking>();
  private readonly over = new Set<number>();
  private readonly epochs = new Map<string, number>();

  override asked({ id, queue, priority }: Asker, count: number): void {
    if (priority === undefined) return;
    const known = this.askers.get(id) ?? { priority, queue, asks: [], passedAt: -1, by: undefined };
    for (let i = 0; i < count; i++) known.asks.push(this.world.loop.now);
    // What is asked for by one that has ended is never given.
    if (!this.over.has(id)) this.askers.set(id, known);
  }

  override ended({ id }: Asker): void {
    this.over.add(id);
    this.askers.delete(id);
  }

  override delivered(delivery: Delivery): void {
    const { copy, consumer, at } = delivery.facts;
    if (copy.queue.kind.hasPreferences !== true) return;
    const asking = this.askers.get(consumer);
    if (asking === undefined) return;
    asking.asks.shift();
    asking.passedAt = -1;
    if (at < this.since(delivery) + this.travelMs) return;
    for (const other of this.askers.values()) {
      const [askedAt] = other.asks;
      if (other.priority <= asking.priority || other.queue !== asking.queue || askedAt === undefined) continue;
      if (askedAt > at - this.travelMs || other.passedAt >= 0) continue;
      other.passedAt = at;
      other.by = delivery;
    }
  }

  override poll(): void {
    const { history, loop } = this.world;
    for (const asking of this.askers.values()) {
      if (!history.quiet) asking.passedAt = -1;
      else if (asking.passedAt >= 0 && loop.now > asking.passedAt + this.travelMs)
        this.fail(
          `somebody with priority ${asking.priority} waited since ${asking.asks[0]?.toFixed(2)}, and: ${asking.by}`,
        );
    }
  }

  /** When the epoch of the delivery was first heard of. */
  private since({ facts: { group, epoch, at } }: Delivery): number {
    const key = `${group} ${epoch}`;
    const known = this.epochs.get(key) ?? at;
    this.epochs.set(key, known);
    return known;
  }

  private get travelMs(): number {
    return ways * this.world.network.slowestMs + workMsMax;
  }
}
