/**
 * Gives away the groups that this node leads and another is to lead, one at a time (rule 20): those that an operator wants
 * elsewhere, all when this node is drained or not to lead, and so many that the nodes lead alike.
 */
import { Feature } from '../../base/versions.js';
import { type GroupRecord, isLocalGroup, Placement, type Replica, systemGroup } from '../map.js';
import { type ReplicationContext, versionInUse } from './context.js';
import type { GroupReplica } from './group-replica.js';
import { betterPrimary, mayLead } from './placement.js';
import type { Primary } from './primary.js';

/** An empty group is given away when it was led for so long. */
const emptyAfterMs = 100;
/** A group that could not be given away is left alone for so long: each attempt costs its clients a pause. */
const againAfterMs = 1000;

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
    for (const { primary } of this.replicas.values()) if (primary?.paused === true) return;
    for (const replica of this.replicas.values()) if (this.move(replica)) return;
  }

  /** There is a group of ours that another could lead instead; with its consent it will. */
  get hasWork(): boolean {
    for (const replica of this.replicas.values()) {
      if (replica.primary === undefined || isLocalGroup(replica.group)) continue;
      if (replica.primary.paused || this.target(replica) !== undefined) return true;
    }
    return false;
  }

  private move(replica: GroupReplica): boolean {
    const { group, primary } = replica;
    if (primary === undefined || isLocalGroup(group)) return false;
    const to = this.target(replica);
    if (to === undefined) return false;
    const now = this.context.clock.now();
    if (now - (this.triedAt.get(group) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return false;
    const begun = primary.giveAway(to, () => this.kept(group));
    if (!begun) return false;
    this.triedAt.set(group, now);
    replica.logger.info('giving the group away', { to: to.node });
    return true;
  }

  private target(replica: GroupReplica): Replica | undefined {
    const { map, self } = this.context;
    const record = replica.record?.value;
    if (record === undefined) return undefined;
    // To a node that may know no hand-over, empty ones only.
    if (replica.state.queueCount > 0 && versionInUse(this.context) < Feature.handOver) return undefined;
    const wanted = map.transfers.get(replica.group)?.value.to;
    const isPossible = wanted !== undefined && mayLead(map, wanted);
    const to = record.inSync.find(({ node }) => node === (isPossible ? wanted : this.better(replica)));
    return to?.node === self.node ? undefined : to;
  }

  private better(replica: GroupReplica): string | undefined {
    const { map, self, clock, limits } = this.context;
    const record = replica.record!.value;
    if (!mayLead(map, self.node) || replica.group === systemGroup) return betterPrimary(record, map, self.node);
    const primary = replica.primary!;
    const age = primary.age(clock.now());
    const isEmpty = replica.state.queueCount === 0;
    if (age < (isEmpty ? emptyAfterMs : limits.balanceAfterMs)) return undefined;
    if (!isEmpty && this.goesByConsumers(primary)) return this.byConsumers(primary, record, age);
    return betterPrimary(record, map, self.node);
  }

  /** The group's place is where its consumers are; without any it is balanced like others. */
  private goesByConsumers(primary: Primary): boolean {
    const { clock, map } = this.context;
    const { placement } = map.config;
    if (placement !== Placement.followConsumers && placement !== Placement.timeShared) return false;
    primary.demand.sample(clock.now(), () => primary.service?.usesByNode() ?? []);
    return primary.demand.interested.length > 0;
  }

  /**
   * Where most is taken; or, in turn, all nodes that have consumers: the next one in the circle of names when this one has none, or
   * has had its time.
   */
  private byConsumers({ demand }: Primary, { inSync }: GroupRecord, age: number): string | undefined {
    const { map, self, limits } = this.context;
    const isAble = (node: string): boolean => mayLead(map, node) && inSync.some((member) => member.node === node);
    if (map.config.placement === Placement.followConsumers) {
      const heaviest = demand.heaviest(self.node);
      return heaviest !== undefined && isAble(heaviest) ? heaviest : undefined;
    }
    if (demand.interested.includes(self.node) && age < limits.timeShareMs) return undefined;
    return demand.nextAfter(self.node, isAble);
  }
}
