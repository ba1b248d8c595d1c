/**
 * What may legally be lost. A message or queue that is not durable lives as long as one intact replica of its group's in-sync
 * set does: a boot that has been up since it was last in the set. When the last of them goes, its messages are excused, and when
 * that was the system group, so are the queues themselves until they are declared again.
 *
 * A frozen process counts as dead here: a restarted replica may be elected in its place.
 */
import { type GroupRecord, systemGroup } from '../src/cluster/map.js';
import type { SimNode } from './node.js';
import type { SimWorld } from './world.js';

/** Why something that is not durable may be gone. */
export const lostWithReplicas = 'not durable, and the last intact replica went';

function intactMembers(world: SimWorld, record: GroupRecord, going: ReadonlySet<SimNode>): number {
  let count = 0;
  for (const member of record.inSync) {
    const node = world.node(member.node);
    if (node.alive && !node.frozen && !going.has(node) && node.process?.probe.boot === member.boot) count++;
  }
  return count;
}

/** To be called before the nodes `going` crash or freeze. */
export function excuseWhatMayBeLost(world: SimWorld, going: readonly SimNode[]): void {
  const gone = new Set(going);
  for (const entry of world.coordinator.peekAll('groups/')) {
    const record = JSON.parse(entry.value) as GroupRecord;
    if (intactMembers(world, record, gone) > 0) continue;
    if (record.group === systemGroup) excuseQueues(world);
    excuseMessages(world, record.group);
  }
}

function excuseQueues(world: SimWorld): void {
  world.trace.add('excuse', 'queues that are not durable');
  for (const lives of world.history.queues.values()) {
    const queue = lives.at(-1)!;
    if (queue.durable) continue;
    queue.lostAt = world.loop.now;
    queue.publishExcuse ||= lostWithReplicas;
    queue.excuseAll(lostWithReplicas);
  }
}

function excuseMessages(world: SimWorld, group: number): void {
  world.trace.add('excuse', `messages of group ${group} that are not durable`);
  for (const lives of world.history.queues.values()) {
    for (const queue of lives) {
      if (groupOf(world, queue.name) !== group) continue;
      for (const copy of queue.copies) if (!copy.durable && copy.excuse === '') copy.excuse = lostWithReplicas;
    }
  }
}

/** As any node knows it; -1 = nobody does. */
function groupOf(world: SimWorld, queue: string): number {
  for (const node of world.nodes) {
    const group = node.process?.probe.groupOf('/', queue) ?? -1;
    if (group >= 0) return group;
  }
  return -1;
}
