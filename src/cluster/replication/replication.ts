/**
 * The replication of all groups of one node: makes a GroupReplica for each group of the map, brings it records, frames and the
 * passing of time, and says who leads what (GroupDirectory).
 */
import type { Timer } from '../../base/clock.js';
import type { GroupMeta } from '../../log/journal.js';
import { GroupState } from '../../model/group-state.js';
import type { AttachableService, GroupDirectory, Leadership, LedGroup } from '../client/ports.js';
import type { MapListener } from '../cluster-map.js';
import type { Frame } from '../link/frame.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { FrameType } from '../link/frame-types.js';
import { type Forgotten, type GroupRecord, isLocalGroup, localGroup, type Member, type Versioned } from '../map.js';
import type { ReplicationContext } from './context.js';
import { Election } from './election.js';
import { type FollowMessage, type RefuseMessage, readJson, sendJson } from './frames.js';
import { GroupReplica, type RoleListener } from './group-replica.js';
import { Mover } from './mover.js';
import { delayGroup } from './placement.js';

/** A group as recovery left it. */
export interface RecoveredGroup {
  state: GroupState;
  meta: GroupMeta;
}

export class Replication implements MapListener, RoleListener, GroupDirectory {
  readonly replicas: Map<number, GroupReplica> = new Map();
  private readonly context: ReplicationContext;
  private readonly recovered: Map<number, RecoveredGroup>;
  private readonly elections: Map<number, Election> = new Map();
  private readonly listeners: ((group: number) => void)[] = [];
  private readonly ordinal: number;
  private readonly mover: Mover;
  /** Boots known to be dead. */
  private readonly dead: Set<number> = new Set();
  private timer: Timer | undefined;
  private hasRejoined = false;

  constructor(context: ReplicationContext, ordinal: number, recovered: Map<number, RecoveredGroup>) {
    this.context = context;
    this.ordinal = ordinal;
    this.recovered = recovered;
    this.mover = new Mover(context, this.replicas, (group) => this.changed(group));
  }

  /** Starts with the local group; the replicated ones follow from the map. */
  start(links: Links | undefined): void {
    const { self, clock, map } = this.context;
    const group = localGroup + this.ordinal;
    const record: GroupRecord = { group, epoch: self.boot, primary: self, inSync: [self], replicas: [self.node] };
    this.replica(group).recordChanged({ value: record, version: 1 });
    if (links !== undefined) this.useLinks(links);
    map.listen(this);
    for (const known of map.groups.values()) this.groupChanged(known);
    this.context.liveness.observe({
      gone: (node, boot, reason) => {
        if (reason === 'dead') this.bootDied(node, boot);
        for (const { primary } of this.replicas.values()) primary?.reap(node, boot);
        this.considerElections();
      },
      lapsed: () => {},
      back: (node, boot) => this.bootIsBack(node, boot),
    });
    this.timer = clock.every(tickMs, () => this.tick());
  }

  /** The replica of a group that this node has; made on first use. */
  replica(group: number): GroupReplica {
    let replica = this.replicas.get(group);
    if (replica !== undefined) return replica;
    const recovered = this.recovered.get(group);
    this.recovered.delete(group);
    const state = recovered?.state ?? this.newState(group);
    replica = new GroupReplica(group, this.context, state, recovered?.meta, this);
    this.replicas.set(group, replica);
    this.elections.set(group, new Election(replica));
    return replica;
  }

  private newState(group: number): GroupState {
    return this.context.newState(group);
  }

  close(): void {
    this.timer?.cancel();
    for (const replica of this.replicas.values()) replica.close();
  }

  // ---- the map ----

  groupChanged(record: Versioned<GroupRecord>): void {
    const { value } = record;
    const { self } = this.context;
    const concerns = value.replicas.includes(self.node) || value.inSync.some((member) => member.node === self.node);
    if (concerns || this.replicas.has(value.group) || this.recovered.has(value.group))
      this.replica(value.group).recordChanged(record);
    this.changed(value.group);
  }

  forgotten(_store: string, { ordinal }: Forgotten): void {
    this.changed(localGroup + ordinal);
  }

  memberChanged(member: Member | undefined, _node: string): void {
    if (member === undefined) return;
    this.context.liveness.learn(member);
    this.changed(localGroup + member.ordinal);
  }

  roleChanged(replica: GroupReplica): void {
    if (replica.primary?.service !== undefined) this.context.leading(replica);
    else this.context.released(replica.group);
    this.changed(replica.group);
  }

  retired(replica: GroupReplica): void {
    this.replicas.delete(replica.group);
    this.elections.delete(replica.group);
    this.context.released(replica.group);
    this.changed(replica.group);
  }

  private changed(group: number): void {
    for (const listener of this.listeners) listener(group);
  }

  // ---- GroupDirectory ----

  delayGroup(vhost: string, exchange: string): number {
    return delayGroup(vhost, exchange, this.context.map.config);
  }

  leadership(group: number): Leadership | undefined {
    if (isLocalGroup(group)) {
      const member = this.ownerOf(group);
      return member === undefined ? undefined : { epoch: member.boot, node: member.node, boot: member.boot };
    }
    const record = this.context.map.groups.get(group)?.value;
    if (record === undefined) return undefined;
    const { epoch, primary, movedFrom } = record;
    return { epoch, node: primary.node, boot: primary.boot, movedFrom };
  }

  /**
   * A local group's node is dead: its queues died with it. So they did when the wiring was cleared of them because nobody
   * could tell for long whether it lives.
   */
  isOver(group: number): boolean {
    if (!isLocalGroup(group)) return false;
    // A member that is not known yet is not over.
    const owner = this.ownerOf(group);
    if (owner === undefined) return this.wasForgotten(group);
    if (this.dead.has(owner.boot)) return true;
    return this.context.liveness.mayDepose(owner.node, owner.boot) && !this.context.hasQueues(group);
  }

  isDead(boot: number): boolean {
    return this.dead.has(boot);
  }

  /** Boots are unique: once over, over for good. */
  private bootDied(node: string, boot: number): void {
    this.dead.add(boot);
    this.ownerChanged(node);
  }

  private bootIsBack(node: string, boot: number): void {
    this.dead.delete(boot);
    this.ownerChanged(node);
  }

  private ownerChanged(node: string): void {
    const member = this.context.map.members.get(node)?.value;
    if (member !== undefined) this.changed(localGroup + member.ordinal);
  }

  private wasForgotten(group: number): boolean {
    return [...this.context.map.forgotten.values()].some(({ ordinal }) => localGroup + ordinal === group);
  }

  private ownerOf(group: number): Member | undefined {
    for (const { value: member } of this.context.map.members.values())
      if (localGroup + member.ordinal === group) return member;
    return undefined;
  }

  led(group: number): LedGroup | undefined {
    const primary = this.replicas.get(group)?.primary;
    const service = primary?.service;
    if (primary === undefined || service === undefined) return undefined;
    const attachable: AttachableService = {
      attach: (node, boot, client, held, confirmed) =>
        service.attach(node, boot, client, held, confirmed, () => primary.gate.nodeAttached(node, boot)),
      taken: (boot) => service.taken(boot),
      detach: (node, boot) => service.detach(node, boot),
    };
    return { epoch: primary.epoch, service: attachable };
  }

  /** False: no group that this node leads is on its way to another, or to go there. */
  get hasMoves(): boolean {
    return this.mover.hasWork;
  }

  learnSoon(): void {
    this.context.map.refreshSoon();
  }

  onChange(listener: (group: number) => void): void {
    this.listeners.push(listener);
  }

  // ---- links ----

  private useLinks(links: Links): void {
    links.observe({
      up: (link) => {
        link.onDrain(() => this.linkDrained(link));
        for (const { backup } of this.replicas.values()) if (backup?.primary.node === link.peer.node) backup.linkUp();
      },
      down: (link) => {
        for (const replica of this.replicas.values()) {
          replica.primary?.linkDown(link);
          replica.backup?.linkDown(link);
        }
      },
    });
    for (const type of frameTypes) links.handle(type, (link, frame) => this.frame(link, frame));
  }

  private linkDrained(link: Link): void {
    for (const replica of this.replicas.values()) replica.primary?.linkDrained(link);
  }

  private frame(link: Link, frame: Frame): void {
    const { type, group, bytes, view, start, end } = frame;
    const replica = this.replicas.get(group);
    if (replica === undefined) return;
    switch (type) {
      case FrameType.follow: {
        const message = readJson<FollowMessage>(bytes, start, end);
        if (replica.primary !== undefined) replica.primary.follow(link, message);
        else this.refuse(link, group, message);
        return;
      }
      case FrameType.handOver: {
        const isLast = view.getUint32(start + 4, true) === 1;
        replica.handedOver(view.getUint32(start, true), isLast, bytes.subarray(start + 8, end));
        return;
      }
      case FrameType.ack:
      case FrameType.have:
      case FrameType.haveEnd:
        replica.primary?.frame(link, type, view, start, end);
        return;
      default:
        replica.backup?.frame(link, type, bytes, view, start, end);
    }
  }

  private refuse(link: Link, group: number, message: FollowMessage): void {
    const record = this.context.map.groups.get(group);
    if (record === undefined || message.epoch > record.value.epoch) this.context.map.refreshSoon();
    const refusal: RefuseMessage = { epoch: record?.value.epoch ?? 0, session: message.session };
    sendJson(link, FrameType.refuse, group, refusal);
  }

  // ---- time ----

  private considerElections(): void {
    for (const election of this.elections.values()) election.consider();
  }

  private tick(): void {
    const now = this.context.clock.now();
    for (const replica of this.replicas.values()) {
      replica.primary?.tick();
      replica.backup?.tick(now);
    }
    this.considerElections();
    this.mover.tick();
    this.noteRejoined();
    if (this.context.map.confirmedAt + mapRefreshMs < now) this.context.map.refreshSoon();
  }

  /** What damage may have taken from our disk is there again only when every group has been joined (rule 12). */
  private noteRejoined(): void {
    if (this.hasRejoined || this.recovered.size > 0) return;
    for (const replica of this.replicas.values()) if (replica.journaled && !replica.rejoined) return;
    this.hasRejoined = true;
    this.context.rejoined();
  }
}

const frameTypes = [
  FrameType.follow,
  FrameType.start,
  FrameType.join,
  FrameType.queues,
  FrameType.have,
  FrameType.backfill,
  FrameType.haveEnd,
  FrameType.joinEnd,
  FrameType.batch,
  FrameType.commit,
  FrameType.ack,
  FrameType.refuse,
  FrameType.handOver,
];
const tickMs = 50;
const mapRefreshMs = 500;
