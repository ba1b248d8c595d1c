/** On which nodes a group's replicas are to be. Pure functions over the cluster map. */
import type { ClusterMap } from '../cluster-map.js';
import { type GroupRecord, Placement, sameReplica, sizeOf, systemGroup } from '../map.js';

/**
 * The nodes that should hold a replica of the group, or undefined if that is so already. The system group is on every node. Others
 * have `config.replicas`, or as many as their record says: on the nodes that an operator wants; in a ring, on neighbours; else where they are, and in the places of
 * nodes in `lost` comes the node with the fewest replicas, if there is one.
 */
export function wantedReplicas(
  record: GroupRecord,
  map: ClusterMap,
  lost: ReadonlySet<string>,
  self: string,
): string[] | undefined {
  const names = available(map);
  if (record.group === systemGroup) {
    const kept = remembered(record, map);
    const missing = names.filter((node) => !kept.includes(node));
    return missing.length === 0 && kept.length === record.replicas.length ? undefined : [...kept, ...missing];
  }
  const present = names.filter((node) => !lost.has(node));
  const chosen = pinned(record, map, present) ?? ring(record, map, present);
  if (chosen === undefined) return filled(record, map, present, lost, self);
  return chosen.length === record.replicas.length && chosen.every((node, i) => node === record.replicas[i])
    ? undefined
    : chosen;
}

/** Members of the in-sync set that are there for nothing: all replicas that are wanted are in it, and they are none of them. */
export function surplus(record: GroupRecord, map: ClusterMap, self: string): GroupRecord['inSync'] {
  const { replicas, inSync } = record;
  if (record.group === systemGroup || inSync.length <= replicas.length) return [];
  const isIn = (node: string): boolean => {
    const member = map.members.get(node)?.value;
    return member !== undefined && inSync.some((entry) => sameReplica(entry, member));
  };
  if (!replicas.every(isIn)) return [];
  return inSync.filter(({ node }) => node !== self && !replicas.includes(node));
}

/** Without nodes that are forgotten; who is in sync stays until it is taken out. */
function remembered({ replicas, inSync }: GroupRecord, map: ClusterMap): string[] {
  return replicas.filter((node) => !map.isForgotten(node) || inSync.some((member) => member.node === node));
}

/** The names of all members, in order. */
function available(map: ClusterMap): string[] {
  return [...map.members.keys()].sort();
}

/** What an operator wants, as far as the nodes are there. */
function pinned({ group }: GroupRecord, map: ClusterMap, present: readonly string[]): string[] | undefined {
  const wanted = map.transfers.get(group)?.value.replicas;
  return wanted?.every((node) => present.includes(node)) === true ? wanted : undefined;
}

/** The nodes in the order of their names form a ring; each group begins at one of them. A new node moves some of its neighbours'. */
export function ring(
  record: Pick<GroupRecord, 'group' | 'size'>,
  map: ClusterMap,
  present: readonly string[],
): string[] | undefined {
  if (map.config.placement !== Placement.ring || present.length === 0) return undefined;
  // A single replica stays where its queues were declared.
  if (record.size === 1) return undefined;
  const { group } = record;
  const count = Math.min(sizeOf(record, map.config), present.length);
  return Array.from({ length: count }, (_, i) => present[(group - 1 + i) % present.length]!);
}

/** Where they are, and in the places that are free or lost who has least. */
function filled(
  record: GroupRecord,
  map: ClusterMap,
  present: readonly string[],
  lost: ReadonlySet<string>,
  self: string,
): string[] | undefined {
  const size = sizeOf(record, map.config);
  const wanted = remembered(record, map);
  const isLost = (node: string): boolean => lost.has(node) && node !== self;
  let changed = wanted.length < record.replicas.length;
  // As a rule. It is asked for every group, and what follows looks at all of them.
  if (!changed && wanted.length >= size && !wanted.some(isLost)) return undefined;
  // In the one order, all groups have the same replicas: whoever takes over from their primary has all of them.
  const count = load(map);
  const weight = map.config.placement === Placement.single ? rankOf(map) : (node: string) => count.get(node) ?? 0;
  const spare = present
    .filter((node) => !record.replicas.includes(node))
    .sort((a, b) => weight(a) - weight(b) || (a < b ? -1 : 1));
  while (wanted.length < size && spare.length > 0) {
    wanted.push(spare.shift()!);
    changed = true;
  }
  for (let i = 0; i < wanted.length && spare.length > 0; i++) {
    if (!isLost(wanted[i]!)) continue;
    wanted[i] = spare.shift()!;
    changed = true;
  }
  return changed ? wanted : undefined;
}

/** The one order of all nodes, if placement is single: in which they joined the system group. */
function rankOf(map: ClusterMap): (node: string) => number {
  const order = map.groups.get(systemGroup)?.value.replicas ?? [];
  return (node) => (order.includes(node) ? order.indexOf(node) : order.length);
}

/** How many replicas each node has been given, system group left out. */
function load(map: ClusterMap): Map<string, number> {
  const count = new Map<string, number>();
  for (const { value } of map.groups.values())
    if (value.group !== systemGroup) for (const node of value.replicas) count.set(node, (count.get(node) ?? 0) + 1);
  return count;
}
