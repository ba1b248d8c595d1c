/**
 * Of a queue with one active consumer, one consumer is given messages, as long as it stays.
 *
 * Another one follows when that has ended. It may be another one as well with a new primary, and after the link between the node of
 * the one that was and the primary was lost (docs/known-gaps.md); from then on it is that one.
 */
import type { Asker, Delivery } from '../history.js';
import { Checker } from './checker.js';

export class OneActive extends Checker {
  readonly name = 'one-active';
  /** Who was given the last message, by the queue's incarnation. */
  private readonly active = new Map<number, Delivery>();
  private readonly over = new Set<number>();

  override ended({ id }: Asker): void {
    this.over.add(id);
  }

  override delivered(delivery: Delivery): void {
    const { copy, consumer, epoch, incarnation } = delivery.facts;
    const { kind } = copy.queue;
    // What was on its way to one that has ended still comes.
    if (kind.isSingle !== true || this.over.has(consumer)) return;
    const before = this.active.get(incarnation);
    this.active.set(incarnation, delivery);
    if (before === undefined || before.facts.consumer === consumer || this.over.has(before.facts.consumer)) return;
    if (before.facts.epoch === epoch && this.isTied(before)) this.fail(`${delivery}, though active is ${before}`);
  }

  /** Its consumer's node has not lost the primary since. */
  private isTied({ facts: { node, group, attachment } }: Delivery): boolean {
    const probe = this.world.node(node).process?.probe;
    return probe !== undefined && probe.attachment(group) === attachment;
  }
}
