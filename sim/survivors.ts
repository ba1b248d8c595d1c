/**
 * What may legally be lost. A message or queue that is not durable lives as long as one intact replica of its group's in-sync
 * set does: a boot that has been up since it was last in the set. When the last of them goes, its messages are excused, and when
 * that was the system group, so are the queues themselves until they are declared again.
 *
 * It goes by crashing or freezing, or because it cannot be reached for a lease time: then a restarted member may be elected in
 * its place (rule 12).
 */
import { type GroupRecord, isLocalGroup, systemGroup } from '../src/cluster/map.js';
import type { SimNode } from './node.js';
import type { SimWorld } from './world.js';

/** Why something that is not durable may be gone. */
export const lostWithReplicas = 'not durable, and the last intact replica went';

/** To be called before the nodes `going` crash or freeze. */
export function excuseWhatMayBeLost(world: SimWorld, going: readonly SimNode[]): void {
  const gone = new Set(going);
  for (const entry of world.coordinator.peekAll('groups/')) {
    const record = JSON.parse(entry.value) as GroupRecord;
    const intact = intactMembers(world, record).filter((node) => !gone.has(node));
    if (intact.length === 0) excuseGroup(world, record.group);
  }
}

/** Excuses what a restarted primary cannot have, if every intact member had trouble of its own. */
export function watchElections(world: SimWorld): void {
  const records = new Map<number, GroupRecord>();
  world.coordinator.onChange = (entry) => {
    if (!entry.key.startsWith('groups/') || entry.version === 0) return;
    const record = JSON.parse(entry.value) as GroupRecord;
    const before = records.get(record.group);
    world.takeovers.note(record);
    records.set(record.group, record);
    if (before === undefined || isLocalGroup(record.group) || record.epoch === before.epoch) return;
    if (before.inSync.some(({ node, boot }) => node === record.primary.node && boot === record.primary.boot)) return;
    const healthy = intactMembers(world, before).filter((node) => !world.inTroubleSince(node.name, world.loop.now));
    if (healthy.length === 0) excuseGroup(world, record.group);
  };
}

function intactMembers(world: SimWorld, record: GroupRecord): SimNode[] {
  return record.inSync
    .filter(({ node, boot }) => world.node(node).process?.probe.boot === boot)
    .map(({ node }) => world.node(node))
    .filter((node) => node.alive && !node.frozen);
}

function excuseGroup(world: SimWorld, group: number): void {
  if (group === systemGroup) excuseQueues(world);
  excuseMessages(world, group);
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
      // One that moves is in two groups at times.
      if (!queue.moves && groupOf(world, queue.name) !== group) continue;
      queue.transientLost = true;
      for (const copy of queue.copies) if (!copy.durable && copy.excuse === '') copy.excuse = lostWithReplicas;
      // Who leads now does not know whose consumers were on their way back.
      queue.leftInPeace = false;
    }
  }
}

/** An operator is about to accept the loss of what the group has done since then. */
export function rollBack(world: SimWorld, group: number, since: number): void {
  world.trace.add('excuse', `what group ${group} has done since ${since.toFixed(2)} ms`);
  world.history.rollBack(group, ({ name, moves }) => moves || groupOf(world, name) === group, since);
}

/** As any node knows it; -1 = nobody does. */
function groupOf(world: SimWorld, queue: string): number {
  for (const node of world.nodes) {
    const group = node.process?.probe.groupOf('/', queue) ?? -1;
    if (group >= 0) return group;
  }
  return -1;
}
