/**
 * Queues keep to their bounds.
 *
 * - At rest a queue that gives up its oldest messages has no more than its bound, and one that keeps the newest message of each key one
 *   of each. Both is seen when the queues are drained: nothing comes into them then. That it is the newest that stay is the business of
 *   `confirmed-not-lost.ts`: what is gone must have had so many behind it.
 * - A queue that refuses what is too much never has more than that besides what clients have been given: nothing that was given to
 *   nobody, but for what was on its way to consumers that have ended, is beyond the bound.
 */
import { MapKey, type GroupRecord } from '../../src/cluster/map.js';
import type { Asker, Delivery, QueueLife } from '../history.js';
import { Checker } from './checker.js';

/** Polls between two looks at a queue. */
const pollsBetween = 3;

export class BoundsKept extends Checker {
  readonly name = 'bounds-kept';
  private readonly drained = new Map<string, Set<number>>();
  /** Positions given to anybody, and messages asked for, by the name of a queue that refuses some. */
  private readonly given = new Map<string, Set<number>>();
  private readonly wanted = new Map<string, number>();
  private polls = 0;

  override asked({ queue }: Asker, count: number): void {
    if (this.world.history.newestLife(queue)?.kind.refusesOver === undefined) return;
    this.wanted.set(queue, (this.wanted.get(queue) ?? 0) + count);
  }

  override delivered(delivery: Delivery): void {
    const { copy, position } = delivery.facts;
    const { kind, name } = copy.queue;
    if (kind.refusesOver !== undefined) noteIn(this.given, name, position);
    if (!this.isDraining) return;
    const { key } = copy.message.labels;
    const most = kind.keepsNewest === true ? 1 : kind.lengthMax;
    if (most === undefined || (kind.keepsNewest === true && key === 0)) return;
    const count = noteIn(this.drained, kind.keepsNewest === true ? `${name} ${key}` : name, position);
    if (count > most)
      this.fail(`${name} had ${count} messages at rest${key === 0 ? '' : ` with key ${key}`}: ${delivery}`);
  }

  override poll(): void {
    if (++this.polls % pollsBetween !== 0) return;
    for (const lives of this.world.history.queues.values()) {
      const queue = lives.at(-1)!;
      if (queue.kind.refusesOver !== undefined) this.look(queue, queue.kind.refusesOver);
    }
  }

  private look({ name }: QueueLife, most: number): void {
    const positions = this.positionsOf(name);
    const given = this.given.get(name) ?? new Set();
    const left = positions.filter((position) => !given.has(position)).length;
    // What was asked for and not given may be on its way, and come back.
    const onItsWay = Math.max(0, (this.wanted.get(name) ?? 0) - given.size);
    if (left > most + onItsWay)
      this.fail(`${name} has ${left} messages that were given to nobody, and may have ${most}`);
  }

  /** As committed on its primary. */
  private positionsOf(name: string): readonly number[] {
    for (const { process } of this.world.nodes) {
      const group = process?.probe.groupOf('/', name) ?? -1;
      if (group < 0) continue;
      const entry = this.world.coordinator.peek(MapKey.group(group));
      if (entry === undefined) return [];
      const { primary } = JSON.parse(entry.value) as GroupRecord;
      const leader = this.world.node(primary.node).process?.probe;
      const incarnation = leader?.incarnationOf('/', name) ?? 0;
      return leader?.queues(group).find((queue) => queue.incarnation === incarnation)?.positions ?? [];
    }
    return [];
  }

  private get isDraining(): boolean {
    const { quiet, quietSince } = this.world.history;
    return quiet && quietSince > 0;
  }
}

function noteIn(sets: Map<string, Set<number>>, name: string, position: number): number {
  const set = sets.get(name) ?? new Set();
  sets.set(name, set.add(position));
  return set.size;
}
