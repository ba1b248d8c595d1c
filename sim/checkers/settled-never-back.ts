/**
 * What was acked and settled never comes back.
 *
 * A client does not hear that its ack is safe, so this looks at the primary: once the committed state of the group's primary
 * (the node that the coordinator names, acting in the recorded epoch) has no longer a message that a client acked, its dequeue
 * was committed on every in-sync replica. From then on nobody may be given it again, whatever fails.
 *
 * A message that went with its queue says nothing of its ack: what was handed out before the deletion may still be on its way.
 *
 * Of messages that are not durable, the dequeue may be lost with the last intact replica, but then so is the message; of those
 * whose dequeues may count before they are on disk, the message may come back.
 */
import { type GroupRecord, MapKey } from '../../src/cluster/map.js';
import type { Delivery } from '../history.js';
import type { NodeProbe } from '../node-ports.js';
import { Checker } from './checker.js';

export class SettledNeverBack extends Checker {
  readonly name = 'settled-never-back';
  private pending: Delivery[] = [];
  private readonly settledPositions = new Map<string, { at: number; group: number }>();
  /** Groups' records, each with its text: it is looked at a hundred times before it changes. */
  private readonly records = new Map<number, { text: string; record: GroupRecord }>();

  override delivered(delivery: Delivery): void {
    // One that needs no ack is settled by being sent: it may arrive after that.
    if (delivery.facts.noAck) return;
    const settled = this.settledPositions.get(this.key(delivery));
    const { queue, excuse } = delivery.copy;
    if (settled !== undefined && !(queue.relaxed && excuse !== ''))
      this.fail(
        `settled at ${settled.at.toFixed(2)} ms and back: ${delivery}; before: ${delivery.copy.deliveries.map(String).join('; ')}`,
      );
  }

  override settled(delivery: Delivery): void {
    if (delivery.state !== 'acked' && delivery.state !== 'rejected') return;
    const { queue } = delivery.copy;
    if (queue.exclusive || queue.autoDelete) return;
    if (delivery.facts.incarnation > 0) this.pending.push(delivery);
  }

  override poll(): void {
    if (this.pending.length === 0) return;
    const { loop } = this.world;
    const primaries = new Map<number, NodeProbe | undefined>();
    this.pending = this.pending.filter((delivery) => {
      const { group, incarnation, position } = delivery.facts;
      if (!primaries.has(group)) primaries.set(group, this.primary(group));
      const primary = primaries.get(group);
      if (primary === undefined || primary.has(group, incarnation, position)) return true;
      if (primary.hasQueue(group, incarnation))
        this.settledPositions.set(this.key(delivery), { at: loop.now, group: delivery.facts.group });
      return false;
    });
  }

  override rolledBack(group: number, since: number): void {
    for (const [key, settled] of this.settledPositions)
      if (settled.group === group && settled.at >= since) this.settledPositions.delete(key);
  }

  private key(delivery: Delivery): string {
    return `${delivery.facts.incarnation} ${delivery.position}`;
  }

  /** The group's primary, as the coordinator names it, if it acts as that. */
  private primary(group: number): NodeProbe | undefined {
    const record = this.record(group);
    if (record === undefined) return undefined;
    const node = this.world.nodes.find((candidate) => candidate.name === record.primary.node);
    const probe = node?.process?.probe;
    if (node === undefined || !node.alive || probe === undefined || probe.boot !== record.primary.boot)
      return undefined;
    const state = probe.groups().find((candidate) => candidate.group === group);
    if (state?.role !== 'primary' || !state.settled || state.epoch !== record.epoch) return undefined;
    return probe;
  }

  private record(group: number): GroupRecord | undefined {
    const text = this.world.coordinator.peek(MapKey.group(group))?.value;
    if (text === undefined) return undefined;
    const known = this.records.get(group);
    if (known?.text === text) return known.record;
    const record = JSON.parse(text) as GroupRecord;
    this.records.set(group, { text, record });
    return record;
  }
}
