/**
 * Of a queue whose messages belong to groups, one client at a time has messages of a group, and is given them in order.
 *
 * What a client of a live node holds of a group keeps all of it from others, with the exceptions of `one-holder.ts`. And of one group's
 * messages those that are not flagged come in the order of their positions, whoever is given them and whatever fails.
 */
import type { Copy, Delivery } from '../history.js';
import { mayBeHeldTwice } from './one-holder.js';
import { Checker } from './checker.js';

export class GroupsTogether extends Checker {
  readonly name = 'groups-together';
  private readonly lastOf = new Map<string, Delivery>();

  override delivered(delivery: Delivery): void {
    const { copy, consumer, redelivered, incarnation } = delivery.facts;
    const { key } = copy.message.labels;
    if (copy.queue.kind.isGrouped !== true || key === 0) return;
    for (const other of sameGroup(copy))
      for (const held of other.deliveries) {
        if (held.state !== 'held' || held.facts.consumer === consumer) continue;
        if (!mayBeHeldTwice(this.world, held, delivery))
          this.fail(`${delivery}, of group ${key}, though somebody else holds ${held}`);
      }
    if (redelivered) return;
    const group = `${incarnation} ${key}`;
    const last = this.lastOf.get(group);
    if (last !== undefined && last.position > delivery.position)
      this.fail(`${delivery}, of group ${key}, after ${last}`);
    this.lastOf.set(group, delivery);
  }
}

function sameGroup({ queue, message }: Copy): Copy[] {
  return queue.copies.filter((other) => other.message.labels.key === message.labels.key);
}
