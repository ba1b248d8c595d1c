/**
 * What operators ask of a cluster, through any node: wishes written into the map, which the nodes concerned act on. The map is read
 * first: what was just asked of another node counts.
 */
import type { Clock } from '../base/clock.js';
import { Refusal, RefusedError } from '../base/errors.js';
import { Feature } from '../base/versions.js';
import type { ClusterMap, SwapOutcome } from './cluster-map.js';
import { memberOf, refreshed } from './consulting.js';
import { type GroupRecord, isLocalGroup, MemberState, type Replica, systemGroup, type Transfer } from './map.js';

/** A wish is written again if somebody else changed the same place, or the coordinator did not say whether it was. */
const attemptsMax = 10;
const retryMs = 50;

/** Who is up. */
export interface Presence {
  isPresent(replica: Replica): boolean;
}

export class Operations {
  private readonly map: ClusterMap;
  private readonly presence: Presence;
  private readonly clock: Clock;

  constructor(map: ClusterMap, presence: Presence, clock: Clock) {
    this.map = map;
    this.presence = presence;
    this.clock = clock;
  }

  /**
   * The group is to be led by the node from now on, whenever that is in sync and may lead; undefined: by whoever the placement says, with replicas where it says.
   * Resolves when that is written down; the move follows. Rejects with a RefusedError.
   */
  async transfer(group: number, to: string | undefined): Promise<void> {
    await refreshed(this.map);
    this.refuseTooEarly(`group ${group} cannot be moved`);
    const record = this.known(group);
    if (to !== undefined) {
      const member = memberOf(this.map, to);
      // One that has just gone may be in the record still.
      const inSync = record.inSync.filter((entry) => this.presence.isPresent(entry)).map((entry) => entry.node);
      if (!inSync.includes(to))
        throw new RefusedError(
          Refusal.notAllowed,
          `group ${group} cannot move to ${to}, which is not in sync with it: ` +
            `in sync are ${inSync.join(', ')}; wait until it has joined, or choose one of them`,
        );
      if (member.value.state === MemberState.draining)
        throw new RefusedError(
          Refusal.notAllowed,
          `group ${group} cannot move to ${to}, which is being drained: 'understudy revive ${to}' first`,
        );
    }
    await this.change(group, to === undefined ? { to, replicas: undefined } : { to });
  }

  /**
   * The group's replica on `from` is to be on `to` instead. Resolves when that is written down; the new one joins, then the old
   * one goes. Rejects with a RefusedError.
   */
  async transferReplica(group: number, from: string, to: string): Promise<void> {
    await refreshed(this.map);
    this.refuseTooEarly(`a replica of group ${group} cannot be moved`);
    const record = this.known(group);
    memberOf(this.map, to);
    const refuse = (text: string): never => {
      const { replicas } = record;
      throw new RefusedError(Refusal.notAllowed, `${text}: group ${group} has replicas on ${replicas.join(', ')}`);
    };
    if (group === systemGroup) refuse('the system group has a replica on every node, and none of them can be moved');
    if (!record.replicas.includes(from)) refuse(`there is no replica on ${from}`);
    if (record.replicas.includes(to)) refuse(`there is a replica on ${to} already`);
    await this.change(group, { replicas: record.replicas.map((node) => (node === from ? to : node)) });
  }

  private change(group: number, wish: Partial<Transfer>): Promise<void> {
    return this.insist(`the transfer of group ${group}`, () => {
      const known = this.map.transfers.get(group);
      return this.map.swapTransfer({ ...known?.value, group, ...wish }, known?.version ?? 0);
    });
  }

  /** The record of a group that can be moved. */
  private known(group: number): GroupRecord {
    const record = this.map.groups.get(group)?.value;
    if (record !== undefined && !isLocalGroup(group)) return record;
    throw new RefusedError(Refusal.notFound, `there is no group ${group}: see 'understudy status'`);
  }

  /** The node is to lead nothing, until it is revived or started again. Resolves when that is written down. Rejects with a RefusedError. */
  async drain(node: string): Promise<void> {
    await refreshed(this.map);
    this.refuseTooEarly(`${node} cannot be drained`);
    await this.setState(node, MemberState.draining);
  }

  /** It may lead again. */
  async revive(node: string): Promise<void> {
    await refreshed(this.map);
    await this.setState(node, MemberState.ready);
  }

  private async setState(node: string, state: MemberState): Promise<void> {
    await this.insist(
      `the change of ${node}`,
      () => {
        const { value, version } = memberOf(this.map, node);
        if (value.state !== MemberState.ready && value.state !== MemberState.draining)
          throw new RefusedError(Refusal.notAllowed, `${node} is ${value.state}: wait until it is ready`);
        return this.map.swapMember({ ...value, state }, version);
      },
      () => memberOf(this.map, node).value.state === state,
    );
  }

  private refuseTooEarly(what: string): void {
    const { version } = this.map.config;
    if (version < Feature.handOver)
      throw new RefusedError(
        Refusal.notAllowed,
        `${what} while the cluster speaks protocol version ${version}: it takes ${Feature.handOver}, which is spoken when all nodes ` +
          "run a program that does; 'understudy status' says which do not",
      );
  }

  private async insist(
    what: string,
    swap: () => Promise<SwapOutcome<unknown>>,
    isDone: () => boolean = () => false,
  ): Promise<void> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      if (isDone() || (await swap()).kind === 'done') return;
      await new Promise<void>((resolve) => this.clock.after(retryMs, resolve));
    }
    throw new RefusedError(
      Refusal.internalError,
      `${what} could not be written down: the coordinator does not answer; try again when it does`,
    );
  }
}
