/**
 * A message is held by one client at a time: what a client of a live node holds is not given to another.
 *
 * A node that was in trouble itself since the delivery (frozen, cut off, slow, its heartbeats late) may have lost its lease, and
 * then its clients' messages are given again, flagged. So may any node whose primary was in trouble and is primary still: it has
 * not heard the others. The failure of other nodes is no excuse: a new primary must first hear what the live nodes' clients hold.
 */
import { type GroupRecord, MapKey } from '../../src/cluster/map.js';
import type { Delivery } from '../history.js';
import type { SimWorld } from '../world.js';
import { Checker } from './checker.js';

export class OneHolder extends Checker {
  readonly name = 'one-holder';

  override delivered(delivery: Delivery): void {
    for (const other of delivery.copy.deliveries) {
      if (other === delivery || !other.isSameMessage(delivery) || other.facts.noAck) continue;
      if (other.state !== 'held' || mayBeHeldTwice(this.world, other, delivery)) continue;
      this.fail(`${delivery}, though still held: ${other}`);
    }
  }
}

/** What is `held` may be given to somebody else now, in `next`: its holder's node, or its primary, was in trouble since. */
export function mayBeHeldTwice(world: SimWorld, held: Delivery, next: Delivery): boolean {
  const { node, at, epoch } = held.facts;
  return world.inTroubleSince(node, at) || (epoch === next.facts.epoch && isPrimaryInTrouble(world, held));
}

/** The primary that delivered it is primary still, and was in trouble since. */
function isPrimaryInTrouble(world: SimWorld, { facts: { group, epoch, at } }: Delivery): boolean {
  const entry = world.coordinator.peek(MapKey.group(group));
  const record = entry === undefined ? undefined : (JSON.parse(entry.value) as GroupRecord);
  return record?.epoch === epoch && world.inTroubleSince(record.primary.node, at);
}
