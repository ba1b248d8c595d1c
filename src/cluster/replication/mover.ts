/**
 * Gives away the groups that this node leads and another is to lead, one at a time (rule 20): those that an operator wants
 * elsewhere, all when this node is drained or not to lead, and so many that the nodes lead alike.
 */
import { Feature } from '../../base/versions.js';
import { isLocalGroup, Placement, type Replica } from '../map.js';
import { type ReplicationContext, versionInUse } from './context.js';
import type { GroupReplica } from './group-replica.js';
import { leaderFor, type Leads, leadsOf, mayLead } from './placement.js';
import type { Primary } from './primary.js';

/** An empty group is given away when it was led for so long. */
const emptyAfterMs = 100;
/** A group that could not be given away is left alone for so long: each attempt costs its clients a pause. */
const againAfterMs = 1000;
/** Nothing is given away when the coordinator was not heard of for so long, or half of a lease. */
const freshMs = 1000;

export class Mover {
  private readonly context: ReplicationContext;
  private readonly replicas: ReadonlyMap<number, GroupReplica>;
  private readonly kept: (group: number) => void;
  /** When a group was last tried, or last given away. */
  private readonly triedAt: Map<number, number> = new Map();

  /** @param kept called if a group that was to be given away stays here */
  constructor(context: ReplicationContext, replicas: ReadonlyMap<number, GroupReplica>, kept: (group: number) => void) {
    this.context = context;
    this.replicas = replicas;
    this.kept = kept;
  }

  /** Begins one move, if one is due and none is under way. */
  tick(): void {
    this.sample();
    // A compare-and-set without an answer would keep the group paused until there is one.
    const { map, clock, limits } = this.context;
    if (clock.now() - map.confirmedAt > Math.max(limits.leaseMs / 2, freshMs)) return;
    for (const { primary } of this.replicas.values()) if (primary?.paused === true) return;
    const leads = leadsOf(map);
    for (const replica of this.replicas.values()) if (this.move(replica, leads)) return;
  }

  /** Placements that go by consumers know what these take. */
  private sample(): void {
    const { map, clock } = this.context;
    const { placement } = map.config;
    if (placement !== Placement.followConsumers && placement !== Placement.timeShared) return;
    for (const { primary } of this.replicas.values())
      if (primary?.service !== undefined) primary.demand.sample(clock.now(), () => primary.service!.usesByNode());
  }

  /** There is a group of ours that another could lead instead; with its consent it will. */
  get hasWork(): boolean {
    const leads = leadsOf(this.context.map);
    for (const replica of this.replicas.values()) {
      if (replica.primary === undefined || isLocalGroup(replica.group)) continue;
      if (replica.primary.paused || this.target(replica, leads) !== undefined) return true;
    }
    return false;
  }

  private move(replica: GroupReplica, leads: Leads): boolean {
    const { group, primary } = replica;
    if (primary === undefined || isLocalGroup(group)) return false;
    const to = this.target(replica, leads);
    if (to === undefined) return false;
    const now = this.context.clock.now();
    if (now - (this.triedAt.get(group) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return false;
    const begun = primary.giveAway(to, () => this.kept(group));
    if (!begun) return false;
    this.triedAt.set(group, now);
    replica.logger.info('giving the group away', { to: to.node });
    return true;
  }

  private target(replica: GroupReplica, leads: Leads): Replica | undefined {
    const { map, self } = this.context;
    const record = replica.record?.value;
    if (record === undefined || this.isTooYoung(replica)) return undefined;
    // To a node that may know no hand-over, empty ones only.
    if (replica.state.queueCount > 0 && versionInUse(this.context) < Feature.handOver) return undefined;
    const node = leaderFor(record, map, self.node, leads, (isAble) => this.byConsumers(replica.primary!, isAble));
    return record.inSync.find((member) => member.node === node);
  }

  /** A group that came here lately stays for a while, unless it was sent elsewhere, or we are not to lead. */
  private isTooYoung({ group, primary, state }: GroupReplica): boolean {
    const { map, self, clock, limits } = this.context;
    if (!mayLead(map, self.node) || map.transfers.has(group)) return false;
    return primary!.age(clock.now()) < (state.queueCount === 0 ? emptyAfterMs : limits.balanceAfterMs);
  }

  /**
   * Where most is taken; or, in turn, all nodes that have consumers: the next one in the circle of names when this one has none, or
   * has had its time. A group without consumers is balanced like others.
   */
  private byConsumers(primary: Primary, isAble: (node: string) => boolean): string | undefined | null {
    const { map, self, clock, limits } = this.context;
    const { placement } = map.config;
    const { demand } = primary;
    if (demand.interested.length === 0) return null;
    if (placement === Placement.followConsumers) {
      const heaviest = demand.heaviest(self.node);
      return heaviest !== undefined && isAble(heaviest) ? heaviest : undefined;
    }
    if (placement !== Placement.timeShared) return null;
    if (demand.interested.includes(self.node) && primary.age(clock.now()) < limits.timeShareMs) return undefined;
    return demand.nextAfter(self.node, isAble);
  }
}
