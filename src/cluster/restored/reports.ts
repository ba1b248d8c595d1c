/**
 * What nodes know of the cluster's records when the coordinator was put back to an older state, and what follows from it (rule 18). Pure.
 */
import type { GroupMeta } from '../../log/journal.js';
import type { Entry } from '../coordinator/coordinator.js';
import { type GroupRecord, isLocalGroup, MapKey, parseEntry, type Versioned } from '../map.js';

/** Above all epochs that may have been begun without a trace. */
const epochJump = 1000;
/** Likewise for boots. */
const bootJump = 1000;

export const RestoredKey = {
  state: 'restored',
  report: (node: string): string => `reports/${node}`,
} as const;

/** How often the coordinator was put back, and whether the last time is settled. */
export interface RestoredState {
  /** Counts: it is the `restorations` of the nodes that have settled it. */
  number: number;
  /** Of the coordinator as it is since. */
  identity: string;
  open: boolean;
  /** The operator does not wait for those that have not reported: who that was. */
  accepted: string;
}

export interface GroupReport {
  /** The record that the node last acted on. */
  record: Versioned<GroupRecord>;
  /** The highest epoch that it acted in. */
  epoch: number;
}

export interface NodeReport {
  node: string;
  store: string;
  number: number;
  /** The highest boot that it knows of. */
  boots: number;
  groups: GroupReport[];
}

/** What a node's journal says. */
export function reportOf(
  self: { node: string; store: string; boots: number },
  number: number,
  metas: Iterable<[group: number, meta: GroupMeta]>,
): NodeReport {
  const { node, store } = self;
  let { boots } = self;
  const groups: GroupReport[] = [];
  for (const [group, { record, epoch, publishers }] of metas) {
    if (isLocalGroup(group)) continue;
    for (const [boot] of publishers) boots = Math.max(boots, boot);
    if (record === '') continue;
    const known = JSON.parse(record) as Versioned<GroupRecord>;
    for (const { boot } of [known.value.primary, ...known.value.inSync]) boots = Math.max(boots, boot);
    groups.push({ record: known, epoch });
  }
  return { node, store, number, boots, groups };
}

export interface Settlement {
  /** Wanted replicas that have not reported, and the groups that need them. */
  missing: Map<string, number[]>;
  /** The records as they are to be now. */
  records: GroupRecord[];
  /** The boots' counter as it is to be. */
  boots: number;
}

/**
 * Of each group the newest record that anybody knows: the coordinator as it is, or a node. Versions are compared within an epoch only:
 * another restoration may lie between them.
 */
export function settle(entries: readonly Entry[], reports: readonly NodeReport[]): Settlement {
  const known = new Map<number, { newest: Versioned<GroupRecord>; epoch: number }>();
  const learn = (record: Versioned<GroupRecord>, epoch: number): void => {
    const { group } = record.value;
    const now = known.get(group);
    const newest = now === undefined || isNewer(record, now.newest) ? record : now.newest;
    known.set(group, { newest, epoch: Math.max(now?.epoch ?? 0, epoch, record.value.epoch) });
  };
  for (const entry of entries) if (entry.key.startsWith('groups/')) learn(parseEntry<GroupRecord>(entry), 0);
  for (const { groups } of reports) for (const { record, epoch } of groups) learn(record, epoch);

  const reported = new Set(reports.map(({ node }) => node));
  const missing = new Map<string, number[]>();
  const records: GroupRecord[] = [];
  for (const [group, { newest, epoch }] of [...known].sort(([a], [b]) => a - b)) {
    const { contested: _mark, movedFrom: _from, ...record } = newest.value;
    for (const node of new Set([...record.replicas, ...record.inSync.map((member) => member.node)]))
      if (!reported.has(node)) missing.set(node, [...(missing.get(node) ?? []), group]);
    records.push({ ...record, epoch: epoch + epochJump });
  }
  const counter = entries.find((entry) => entry.key === MapKey.boots);
  const boots = Math.max(Number(counter?.value ?? 0), ...reports.map((report) => report.boots)) + bootJump;
  return { missing, records, boots };
}

/** The first group of which the node acted on a newer record than the coordinator has; undefined: none. */
export function forgottenRecord(
  entries: readonly Entry[],
  metas: Iterable<[group: number, meta: GroupMeta]>,
): GroupRecord | undefined {
  const there = new Map(entries.map((entry) => [entry.key, entry]));
  for (const [group, { record }] of metas) {
    if (isLocalGroup(group) || record === '') continue;
    const known = JSON.parse(record) as Versioned<GroupRecord>;
    const entry = there.get(MapKey.group(group));
    if (entry === undefined || isNewer(known, parseEntry<GroupRecord>(entry))) return known.value;
  }
  return undefined;
}

function isNewer(a: Versioned<GroupRecord>, b: Versioned<GroupRecord>): boolean {
  return a.value.epoch > b.value.epoch || (a.value.epoch === b.value.epoch && a.version > b.version);
}
