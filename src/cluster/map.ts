/**
 * The cluster map: what the coordinator knows. Keys: `cluster`, `boots`, `members/<node>`, `groups/<id>`, `transfers/<id>`.
 */
import type { SpokenVersions, VersionRange } from '../base/versions.js';
import { firstVersions } from '../base/versions.js';
import { ReplicateDefault } from '../model/policy/definition.js';
import type { Entry } from './coordinator/coordinator.js';

/** One life of one replica (rule 1). */
export interface Replica {
  node: string;
  /** Identity of its journal. */
  store: string;
  /** Unique over the whole cluster and growing: drawn from the `boots` counter. */
  boot: number;
}

/** Where a node's clients connect, HOST:PORT; '' if they cannot in the clear. */
export interface ClientEndpoints {
  amqp: string;
  http: string;
  /** The same over TLS; left out if there is none. */
  amqps?: string | undefined;
  https?: string | undefined;
}

export interface Member extends Replica, ClientEndpoints {
  /** Small number for this node, never used again: its local group is `localGroup + ordinal`. */
  ordinal: number;
  /** HOST:PORT for links between brokers; '' if there is none. */
  address: string;
  pid: number;
  /** False: a node that is to be primary of nothing, if it can be avoided. */
  lead: boolean;
  /** Its journal lacks something: this boot is not elected before it has joined anew. Older versions do not say. */
  damaged?: boolean;
  state: MemberState;
  /** Why it is not to lead now, though it runs; left out if it is well. */
  ailing?: string | undefined;
  /** Protocol versions that it speaks; not there: the first program did not say. See `versionsOf`. */
  versions?: VersionRange;
  /** Its journal is marked: older programs than this version's do not open it any more. */
  format?: number;
}

export function versionsOf(member: Member): VersionRange {
  return member.versions ?? firstVersions;
}

export const MemberState = { joining: 'joining', ready: 'ready', draining: 'draining' } as const;
export type MemberState = (typeof MemberState)[keyof typeof MemberState];

export interface GroupRecord {
  group: number;
  epoch: number;
  primary: Replica;
  /** The replicas whose acks are needed to commit; contains the primary. */
  inSync: Replica[];
  /** Names of the nodes that are to hold a replica, in the order of succession. */
  replicas: string[];
  /** How many replicas it is to have, if not as many as `ClusterConfig.replicas` says. */
  size?: number;
  /** Events of the group may have counted before they were on disk: a restarted member may lack them (rule 12). */
  relaxed?: boolean;
  /** An operator wants this node to lead the group although it is not in sync: a primary that is alive takes the mark away. */
  contested?: string;
  /** The last epoch that began so. */
  overridden?: number;
  /** Whose group it was when this epoch began, if that gave it away (rule 20). */
  movedFrom?: MovedFrom | undefined;
}

export interface MovedFrom {
  node: string;
  boot: number;
  /** Nodes that were attached to it, whose clients may hold messages: the next primary hears them first, or waits for a lease's time. */
  attached: readonly (readonly [node: string, boot: number])[];
}

/** What an operator wants for a group. */
export interface Transfer {
  group: number;
  /** To be led by that node, whenever that may lead and is in sync. */
  to?: string | undefined;
  /** To have its replicas on these nodes. */
  replicas?: string[] | undefined;
}

/** Which nodes serve ordinary clients: all, or the system group's primary alone (hot standby). */
export const ClientPolicy = { any: 'any', primary: 'primary' } as const;
export type ClientPolicy = (typeof ClientPolicy)[keyof typeof ClientPolicy];

/** Where groups are led. */
export const Placement = {
  /** By all nodes alike. */
  spread: 'spread',
  /** By the system group's primary. */
  single: 'single',
  /** Each by a node in the order of their names, with the next ones as its backups. */
  ring: 'ring',
  /** By the node whose clients take most from it. */
  followConsumers: 'follow-consumers',
  /** By all nodes whose clients take from it, in turn. */
  timeShared: 'time-shared',
} as const;
export type Placement = (typeof Placement)[keyof typeof Placement];

export interface ClusterConfig extends SpokenVersions {
  /** '' until the cluster is founded. */
  id: string;
  /** Number of replicated groups; they have the ids 1..groups. */
  groups: number;
  replicas: number;
  minInSync: number;
  clients: ClientPolicy;
  placement: Placement;
  /** Which queues are on several nodes, where neither queue nor policy says so. */
  replicate: ReplicateDefault;
}

/** Before anything is known, and what older versions did not write. */
export const noConfig: ClusterConfig = {
  id: '',
  groups: 0,
  replicas: 0,
  minInSync: 0,
  clients: ClientPolicy.any,
  placement: Placement.spread,
  replicate: ReplicateDefault.all,
  version: 1,
  versionFloor: 1,
};

/** Group ids: 0 = system group; 1..groups = replicated groups; localGroup + ordinal = a node's local group. */
export const systemGroup = 0;
export const localGroup = 0x8000;

export function isLocalGroup(group: number): boolean {
  return group >= localGroup;
}

/** A node that was removed from the cluster: its store's entry, so that nobody takes it for one of ours. */
export interface Forgotten {
  node: string;
  /** Its last boot. */
  boot: number;
  ordinal: number;
  /** Who asked for it, and when, by the wall. */
  by: string;
  at: number;
}

export const MapKey = {
  cluster: 'cluster',
  boots: 'boots',
  member: (node: string): string => `members/${node}`,
  forgotten: (store: string): string => `forgotten/${store}`,
  group: (group: number): string => `groups/${group}`,
  transfer: (group: number): string => `transfers/${group}`,
} as const;

/** A record with the version that a compare-and-set must name. */
export interface Versioned<T> {
  value: T;
  version: number;
}

export function parseEntry<T>(entry: Entry): Versioned<T> {
  return { value: JSON.parse(entry.value) as T, version: entry.version };
}

/** The configuration as it was written when the cluster was founded; what was not there yet has its default. */
export function parseConfig(entry: Entry): ClusterConfig {
  const written = JSON.parse(entry.value) as Partial<ClusterConfig>;
  return { ...noConfig, ...written };
}

/** How many replicas the group is to have, if there are nodes enough. */
export function sizeOf(record: Pick<GroupRecord, 'size'>, config: ClusterConfig): number {
  return record.size ?? config.replicas;
}

export function sameReplica(a: Replica, b: Replica): boolean {
  return a.node === b.node && a.store === b.store && a.boot === b.boot;
}
