/** Where groups are to be led, and which group is whose. Pure functions over the cluster map. */
import type { ClusterMap } from '../cluster-map.js';
import { type GroupRecord, localGroup, MemberState, Placement, systemGroup, sizeOf } from '../map.js';

/** Where all groups are to be led, if placement is single: by the system group's primary. */
function home(map: ClusterMap): string | undefined {
  if (map.config.placement !== Placement.single) return undefined;
  return map.groups.get(systemGroup)?.value.primary.node;
}

/** False for a node that is to be primary of nothing, if it can be avoided: it says so, is being drained, or is not well. */
export function mayLead(map: ClusterMap, node: string): boolean {
  const member = map.members.get(node)?.value;
  if (member?.lead !== true || member.ailing !== undefined) return false;
  return member.state === MemberState.ready || member.state === MemberState.joining;
}

/**
 * Who should have this group instead of `self`: the in-sync member that leads the fewest groups, when it leads at least two
 * fewer than we do, or when we are not to lead at all. In a ring the first of its replicas; with a single placement: who leads the system group, which itself goes, from
 * a node that is not to lead, to the next in order. Undefined: nobody.
 */
export function betterPrimary(record: GroupRecord, map: ClusterMap, self: string): string | undefined {
  const isIn = (node: string): boolean => record.inSync.some((member) => member.node === node);
  if (record.group === systemGroup) {
    if (mayLead(map, self)) return undefined;
    return succession(record, map, self).find((node) => isIn(node) && mayLead(map, node));
  }
  if (!record.replicas.includes(self)) {
    const wanted = record.replicas.find((node) => isIn(node) && mayLead(map, node));
    if (wanted !== undefined) return wanted;
  }
  if (map.config.placement === Placement.ring) {
    const first = record.replicas.find((node) => isIn(node) && mayLead(map, node));
    return first === self ? undefined : first;
  }
  const single = home(map);
  if (single !== undefined) return single !== self && isIn(single) ? single : undefined;
  const leads = new Map<string, number>();
  for (const { value } of map.groups.values())
    if (value.group !== systemGroup) leads.set(value.primary.node, (leads.get(value.primary.node) ?? 0) + 1);
  let best: string | undefined;
  for (const { node } of record.inSync) {
    if (node === self || !mayLead(map, node)) continue;
    if (best === undefined || (leads.get(node) ?? 0) < (leads.get(best) ?? 0)) best = node;
  }
  if (best === undefined) return undefined;
  if (!mayLead(map, self)) return best;
  return (leads.get(best) ?? 0) + 1 < (leads.get(self) ?? 0) ? best : undefined;
}

/**
 * The order in which in-sync members take over from `from`: those that may lead first, by the replicas' order after it (r15).
 * With a single placement the order is that of the system group for all groups, so that they go to the same node: to where the
 * system group is already; else those go last that could not take over all of them.
 */
export function succession(record: GroupRecord, map: ClusterMap, from: string): string[] {
  const isSingle = map.config.placement === Placement.single;
  const order = (isSingle ? map.groups.get(systemGroup)?.value.replicas : undefined) ?? record.replicas;
  const start = order.indexOf(from) + 1;
  const rotated = [...order.slice(start), ...order.slice(0, start)].filter((node) => node !== from);
  const inSync = rotated.filter((node) => record.inSync.some((member) => member.node === node));
  // Of whom nothing is known yet: it may.
  const lead = (node: string): boolean => !map.members.has(node) || mayLead(map, node);
  const ordered = [...inSync.filter(lead), ...inSync.filter((node) => !lead(node))];
  if (!isSingle || ordered.length < 2) return ordered;
  const single = home(map);
  const groups = [...map.groups.values()];
  const holdsAll = (node: string): boolean =>
    groups.every(({ value }) => value.inSync.some((member) => member.node === node));
  const rank = new Map(ordered.map((node) => [node, node === single ? 0 : holdsAll(node) ? 1 : 2]));
  return ordered.sort((a, b) => rank.get(a)! - rank.get(b)!);
}

/** FNV-1a over the name: stable over versions and machines (r163). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/**
 * The group of a new queue: an exclusive one's is the local group of its owner's node; another's is one of `size` replicas that is
 * led by the node that declares it (with a single placement, by the one that leads all), or any if that leads none, by the hash
 * of its name. `here`: it must be led there. Undefined: there is none; then where it is to be led.
 */
export function chooseGroup(
  queue: { vhost: string; name: string; owner: string },
  node: string,
  map: ClusterMap,
  size: number = map.config.replicas,
  here: boolean = false,
): number | { leader: string } {
  if (queue.owner !== '') {
    const owner = map.members.get(queue.owner.slice(0, queue.owner.indexOf('/')))?.value;
    if (owner !== undefined) return localGroup + owner.ordinal;
  }
  const groups = [...map.groups.values()]
    .map((record) => record.value)
    .filter((record) => record.group !== systemGroup && sizeOf(record, map.config) === size);
  groups.sort((a, b) => a.group - b.group);
  const leader = home(map) ?? node;
  const led = groups.filter((record) => record.primary.node === leader);
  const candidates = led.length > 0 || here ? led : groups;
  if (candidates.length === 0) return { leader };
  return candidates[hash(`${queue.vhost}\0${queue.name}`) % candidates.length]!.group;
}
