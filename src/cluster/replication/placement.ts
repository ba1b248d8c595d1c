/** Where groups are to be led, and which group is whose. Pure functions over the cluster map. */
import { hashText } from '../../model/exchange/hash.js';
import type { ClusterMap } from '../cluster-map.js';
import {
  type ClusterConfig,
  type GroupRecord,
  localGroup,
  MemberState,
  Placement,
  systemGroup,
  sizeOf,
} from '../map.js';

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

/** Who of those that `isAble` is to lead the group by what its consumers take; undefined: nobody else. Null: that does not matter. */
export type ByConsumers = (isAble: (node: string) => boolean) => string | undefined | null;

/** How many groups a node leads, system group left out. */
export type Leads = (node: string) => number;

/** Counted over all groups once, when it is first asked: to be kept no longer than the map stays as it is. */
export function leadsOf(map: ClusterMap): Leads {
  let leads: Map<string, number> | undefined;
  return (node) => (leads ??= countLeads(map)).get(node) ?? 0;
}

function countLeads(map: ClusterMap): Map<string, number> {
  const leads = new Map<string, number>();
  for (const { value } of map.groups.values())
    if (value.group !== systemGroup) leads.set(value.primary.node, (leads.get(value.primary.node) ?? 0) + 1);
  return leads;
}

/**
 * Who should lead this group instead of `self`; undefined: nobody. In this order: whom an operator wants; another than we, if we are not
 * to lead; one that is to have a replica; and as the placement says. The system group stays where it is, unless its node is not to lead.
 */
export function leaderFor(
  record: GroupRecord,
  map: ClusterMap,
  self: string,
  leads: Leads,
  byConsumers: ByConsumers = () => null,
): string | undefined {
  const isAble = (node: string): boolean => record.inSync.some((member) => member.node === node) && mayLead(map, node);
  const other = (node: string | undefined): string | undefined => (node === self ? undefined : node);
  const wanted = map.transfers.get(record.group)?.value.to;
  if (wanted !== undefined && isAble(wanted)) return other(wanted);
  if (record.group === systemGroup) return mayLead(map, self) ? undefined : succession(record, map, self).find(isAble);
  const placed = record.replicas.filter(isAble);
  if (map.config.placement === Placement.single) {
    const single = home(map);
    if (single !== undefined && record.inSync.some(({ node }) => node === single)) return other(single);
  }
  if (map.config.placement === Placement.ring && placed.length > 0) return other(placed[0]);
  const candidates = placed.length > 0 ? placed : record.inSync.map(({ node }) => node).filter(isAble);
  if (!candidates.includes(self)) return leastLoaded(candidates, leads);
  const taken = byConsumers((node) => placed.includes(node));
  if (taken !== null) return other(taken);
  const best = leastLoaded(
    candidates.filter((node) => node !== self),
    leads,
  );
  return best !== undefined && leads(best) + 1 < leads(self) ? best : undefined;
}

function leastLoaded(nodes: readonly string[], leads: Leads): string | undefined {
  let best: string | undefined;
  for (const node of nodes) if (best === undefined || leads(node) < leads(best)) best = node;
  return best;
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

/** The group in which messages wait that an exchange delays: any, but always the same one. */
export function delayGroup(vhost: string, exchange: string, { groups }: Pick<ClusterConfig, 'groups'>): number {
  return 1 + (hashText(`${vhost}\0${exchange}`) % Math.max(1, groups));
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
  // The name's hash is stable over versions and machines (r163).
  return candidates[hashText(`${queue.vhost}\0${queue.name}`) % candidates.length]!.group;
}
