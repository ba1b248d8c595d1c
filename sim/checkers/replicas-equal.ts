/**
 * Replicas are equal at rest: for each group, all in-sync replicas have the same queues with the same messages.
 *
 * Only what is committed is compared; backups learn of the last commits a little later than the primary, so the run waits a
 * bounded time for this to become true. Messages are still in the queues when it is asked first.
 */
import { type GroupRecord, isLocalGroup } from '../../src/cluster/map.js';
import type { QueueProbe } from '../node-ports.js';
import { Checker } from './checker.js';

function digest(queues: readonly QueueProbe[]): string {
  return [...queues]
    .sort((a, b) => a.incarnation - b.incarnation)
    .map(
      (queue) =>
        `${queue.incarnation}${queue.durable ? ' durable' : ''}: ${queue.positions.join(' ')}${queue.returns === '' ? '' : ` returns ${queue.returns}`}`,
    )
    .join('\n');
}

function firstDifference(a: string, b: string): string {
  const left = a.split('\n');
  const right = b.split('\n');
  const line = left.findIndex((text, i) => text !== right[i]);
  const at = line < 0 ? left.length : line;
  return `${(left[at] ?? 'nothing').slice(0, 200)} | ${(right[at] ?? 'nothing').slice(0, 200)}`;
}

export class ReplicasEqual extends Checker {
  readonly name = 'replicas-equal';

  override atRest(): string {
    for (const entry of this.world.coordinator.peekAll('groups/')) {
      const record = JSON.parse(entry.value) as GroupRecord;
      if (isLocalGroup(record.group)) continue;
      const primary = this.stateOf(record.primary.node, record.group);
      for (const member of record.inSync) {
        const state = this.stateOf(member.node, record.group);
        if (state !== primary)
          return `group ${record.group}: ${record.primary.node} | ${member.node}: ${firstDifference(primary, state)}`;
      }
    }
    return '';
  }

  private stateOf(node: string, group: number): string {
    const probe = this.world.node(node).process?.probe;
    return probe === undefined ? 'down' : digest(probe.queues(group));
  }
}
