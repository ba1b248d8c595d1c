/** What a node tells of the cluster: members, groups, joins. For `/api/cluster`, `status` and queue details. */
import type { AlarmKind } from './alarms/alarms.js';
import type { Shortages } from './alarms/shortages.js';
import type { ClusterMap } from './cluster-map.js';
import type { GroupMembers } from './client/ports.js';
import type { JoinNews } from './join-news.js';
import type { Liveness } from './liveness/liveness.js';
import {
  isLocalGroup,
  localGroup,
  type Member,
  MemberState,
  type Replica,
  sameReplica,
  systemGroup,
  versionsOf,
} from './map.js';
import type { Presence } from './operations.js';
import type { JoinStatus } from './replication/join-progress.js';
import type { Replication } from './replication/replication.js';
import type { Standing } from './waiting/standing.js';
import type { GroupWait, WaitingGroups } from './waiting/waiting-groups.js';

export interface MemberReport {
  name: string;
  pid: number;
  amqp: string;
  http: string;
  /** The same over TLS; left out if there is none. */
  amqps?: string;
  https?: string;
  state: 'ready' | 'joining' | 'draining' | 'down';
  /** Why it leads nothing if that can be avoided, such as a full disk; left out if it is well. */
  ailing?: string;
  /** What it runs short of, so that publishers wait on all nodes; left out if it is nothing. */
  alarms?: AlarmKind[];
  /** The oldest and the newest protocol version that it speaks. */
  protocol: [min: number, max: number];
}

export interface GroupReport {
  id: number;
  epoch: number;
  primary: string;
  /** Who is to lead it, as an operator wants. Left out if nobody said. */
  wanted?: string;
  inSync: string[];
  replicas: string[];
  /** Replicas that it is to have, if not the cluster's number. Left out otherwise. */
  size?: number;
  /** Of its queues one is, or was, `confirm: replicated`: a restarted member may lack something. Left out otherwise. */
  relaxed?: true;
  /** Without its status: not begun, or nobody has said anything of it yet. */
  joining: ({ node: string } & Partial<JoinStatus>)[];
  /** Nobody leads it, and nobody may: for whom it waits, and what the nodes have that are up. Left out otherwise. */
  waiting?: WaitingReport;
}

export interface WaitingReport {
  for: GroupWait['for'];
  candidates: ({ node: string } & Omit<Standing, 'group'>)[];
}

export interface ReportSources {
  readonly map: ClusterMap;
  readonly replication: Replication;
  readonly liveness: Liveness;
  readonly self: Replica;
  readonly shortages: Shortages;
  /** Undefined for a broker that is alone. */
  readonly joins: JoinNews | undefined;
  readonly waiting: WaitingGroups | undefined;
}

export class ClusterReport implements GroupMembers, Presence {
  private readonly sources: ReportSources;

  constructor(sources: ReportSources) {
    this.sources = sources;
  }

  members(): MemberReport[] {
    return [...this.sources.map.members.values()]
      .map(({ value }) => ({
        name: value.node,
        pid: value.pid,
        amqp: value.amqp,
        http: value.http,
        ...(value.amqps === undefined ? {} : { amqps: value.amqps }),
        ...(value.https === undefined ? {} : { https: value.https }),
        state: this.stateOf(value),
        ...(value.ailing === undefined ? {} : { ailing: value.ailing }),
        ...this.alarms(value.node),
        protocol: protocolOf(value),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  private alarms(node: string): { alarms?: AlarmKind[] } {
    const alarms = this.sources.shortages.alarms.of(node);
    return alarms.length === 0 ? {} : { alarms: [...alarms] };
  }

  /** All groups but the local ones, the system group first. */
  groups(): GroupReport[] {
    return [...this.sources.map.groups.values()]
      .map(({ value }) => ({
        id: value.group,
        epoch: value.epoch,
        primary: value.primary.node,
        ...this.wanted(value.group),
        inSync: value.inSync.filter((member) => this.isPresent(member)).map((member) => member.node),
        replicas: value.replicas,
        ...(value.size === undefined ? {} : { size: value.size }),
        ...(value.relaxed === true ? { relaxed: true as const } : {}),
        joining: this.joining(value.group, value.replicas, value.inSync),
        ...this.waiting(value.group),
      }))
      .sort((a, b) => a.id - b.id);
  }

  /** The wanted replicas that are not in sync though their node is up. */
  private joining(group: number, replicas: string[], inSync: Replica[]): GroupReport['joining'] {
    const joining: GroupReport['joining'] = [];
    for (const node of replicas) {
      const member = this.sources.map.members.get(node)?.value;
      if (member === undefined || this.stateOf(member) === 'down') continue;
      if (inSync.some((entry) => sameReplica(entry, member))) continue;
      joining.push({ node, ...this.joinStatus(node, group) });
    }
    return joining;
  }

  private wanted(group: number): { wanted?: string } {
    const to = this.sources.map.transfers.get(group)?.value.to;
    return to === undefined ? {} : { wanted: to };
  }

  private waiting(group: number): { waiting?: WaitingReport } {
    const wait = this.sources.waiting?.of(group);
    if (wait === undefined) return {};
    const candidates = wait.candidates.map(({ replica, group: _group, ...standing }) => ({
      node: replica.node,
      ...standing,
    }));
    return { waiting: { for: wait.for, candidates } };
  }

  private joinStatus(node: string, group: number): JoinStatus | undefined {
    const { self, replication, joins } = this.sources;
    if (node !== self.node) return joins?.status(node, group);
    return replication.replicas.get(group)?.backup?.joiner?.progress.status();
  }

  membersOf(group: number): { leader: string; members: string[]; online: string[] } {
    if (isLocalGroup(group)) {
      const owner = [...this.sources.map.members.values()].find(({ value }) => localGroup + value.ordinal === group);
      const node = owner?.value.node ?? '';
      return { leader: node, members: [node], online: [node] };
    }
    const record = this.sources.map.groups.get(group)?.value;
    if (record === undefined) return { leader: '', members: [], online: [] };
    const online = record.inSync.filter((member) => this.isPresent(member)).map((member) => member.node);
    return { leader: record.primary.node, members: record.replicas, online };
  }

  /** Every member is ready, and every group has its replicas in sync. */
  isComplete(): boolean {
    const { map } = this.sources;
    const members = this.members();
    if (members.some((member) => member.state !== 'ready')) return false;
    return this.groups().every((group) => {
      const size = group.size ?? map.config.replicas;
      const wanted = group.id === systemGroup ? members.length : Math.min(size, members.length);
      return group.inSync.length >= wanted;
    });
  }

  private stateOf(member: Member): MemberReport['state'] {
    if (!this.isPresent(member)) return 'down';
    if (member.state === MemberState.ready) return 'ready';
    return member.state === MemberState.draining ? 'draining' : 'joining';
  }

  /** Its node is up in the life that the replica was recorded in, as far as this one knows. */
  isPresent(replica: Replica): boolean {
    const { self, liveness, map } = this.sources;
    if (sameReplica(replica, self)) return true;
    const member = map.members.get(replica.node)?.value;
    return member?.boot === replica.boot &&
      liveness.promisedUntil(replica.node, replica.boot) > Number.NEGATIVE_INFINITY
      ? !liveness.mayDepose(replica.node, replica.boot)
      : false;
  }
}

function protocolOf(member: Member): [min: number, max: number] {
  const { min, max } = versionsOf(member);
  return [min, max];
}
