/**
 * With min-in-sync M, a publish is confirmed only while the recorded in-sync set of its group has M members at least (rule 21). M is
 * that of its queue: the least that may have been in effect since it was sent.
 *
 * Looked at where the confirm of a primary's own client is handed over: that is the turn in which the primary decides, so the
 * coordinator's record of that moment is one of the sets that the primary must reckon with. What a queue's earlier life was sent is
 * not judged: it goes nowhere, and is confirmed at once. A message that waits for its time does so in a queue of its own, where the
 * default is in effect.
 */
import { type GroupRecord, isLocalGroup, MapKey } from '../../src/cluster/map.js';
import type { Message } from '../history.js';
import { delayingExchange } from '../workload/declarer.js';
import { Checker } from './checker.js';

export class MinInSync extends Checker {
  readonly name = 'min-in-sync';

  override confirmed(message: Message, node: string): void {
    const queue = message.copies.length === 1 ? message.copies[0]!.queue : undefined;
    const probe = this.world.node(node).process?.probe;
    if (queue === undefined || queue.deletedFrom >= 0 || queue.moves || probe === undefined) return;
    const { settings, loop } = this.world;
    const isDelayed = message.delayMs > 0;
    const sentAt = message.sends[0]!.at;
    const minInSync = isDelayed ? settings.minInSyncDefault : settings.leastMinInSync(queue.name, sentAt, loop.now);
    if (minInSync < 2) return;
    // That life of the queue went with its last replica after it had taken the message: what is there now is another one.
    if (queue.lostAt >= 0 && queue.lostAt >= message.sends.at(-1)!.takenAt) return;
    const group = isDelayed ? probe.delayGroup('/', delayingExchange) : probe.groupOf('/', queue.name);
    if (group < 0 || isLocalGroup(group)) return;
    const entry = this.world.coordinator.peek(MapKey.group(group));
    if (entry === undefined) return;
    const record = JSON.parse(entry.value) as GroupRecord;
    const own = record.primary.node === node && record.epoch === probe.attachedEpoch(group);
    if (own && record.inSync.length < minInSync)
      this.fail(
        `${message} is confirmed by ${node}, group ${group}, with ${record.inSync.length} of ${minInSync} in sync`,
      );
  }
}
