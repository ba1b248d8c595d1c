/**
 * A message is held by one client at a time: what a client of a live node holds is not given to another.
 *
 * A node that was in trouble itself since the delivery (frozen, cut off, slow, its heartbeats late) may have lost its lease, and
 * then its clients' messages are given again, flagged. So may any node whose primary was in trouble and is primary still: it has
 * not heard the others. The failure of other nodes is no excuse: a new primary must first hear what the live nodes' clients hold.
 */
import { type GroupRecord, MapKey } from '../../src/cluster/map.js';
import type { Delivery } from '../history.js';
import { Checker } from './checker.js';

export class OneHolder extends Checker {
  readonly name = 'one-holder';

  override delivered(delivery: Delivery): void {
    for (const other of delivery.copy.deliveries) {
      if (other === delivery || !other.isSameMessage(delivery) || other.facts.noAck) continue;
      if (other.state !== 'held' || this.world.inTroubleSince(other.facts.node, other.facts.at)) continue;
      if (other.facts.epoch === delivery.facts.epoch && this.isPrimaryInTrouble(other)) continue;
      this.fail(`${delivery}, though still held: ${other}`);
    }
  }

  /** The primary that delivered it is primary still, and was in trouble since. */
  private isPrimaryInTrouble({ facts: { group, epoch, at } }: Delivery): boolean {
    const entry = this.world.coordinator.peek(MapKey.group(group));
    const record = entry === undefined ? undefined : (JSON.parse(entry.value) as GroupRecord);
    return record?.epoch === epoch && this.world.inTroubleSince(record.primary.node, at);
  }
}
