/**
 * A node that will not come back is forgotten: its entry leaves the map, and with it its replicas; what is left of it is a note that its
 * store is one of ours no more. Only of a node that is down, and that nobody needs: it is in no in-sync set, which its groups' primaries
 * see to as soon as it is gone.
 */
import { type Clock, sleep } from '../base/clock.js';
import { Refusal, RefusedError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { ClusterMap } from './cluster-map.js';
import { memberOf, refreshed } from './consulting.js';
import { type Coordinator, OutcomeUnknownError, type SwapResult } from './coordinator/coordinator.js';
import type { Liveness } from './liveness/liveness.js';
import { type Forgotten, MapKey, type Member, type Replica, type Versioned } from './map.js';
import { describeGroups } from './waiting/texts.js';

export interface ForgetSources {
  readonly self: Replica;
  readonly map: ClusterMap;
  readonly coordinator: Coordinator;
  readonly liveness: Liveness;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs: number;
}

const pollMs = 50;
/** For its groups to be taken over. */
const takenOverMs = 5000;
const attemptsMax = 100;

export class Forgetting {
  private readonly sources: ForgetSources;

  constructor(sources: ForgetSources) {
    this.sources = sources;
  }

  /**
   * Resolves when the map knows the node no more. Rejects with RefusedError: `notFound`; `notAllowed` if something stands against it;
   * `internalError` if the coordinator does not answer. Takes some seconds, so that all that the node was promised is over.
   */
  async forget(node: string, asker: string): Promise<void> {
    const { self, map, liveness, leaseMs, logger } = this.sources;
    if (node === self.node) throw refused(`this is ${node}: stop it, and ask another node to forget it`);
    await refreshed(map);
    const member = memberOf(map, node);
    await this.untilUnneeded(member.value);
    const deposal = liveness.depose(node, member.value.boot);
    if (deposal === null) throw refused(`${node} is up: stop it first`);
    try {
      // Until then it might still route with what it knew (rule 15).
      await sleep(this.sources.clock, leaseMs * 1.25);
      const needed = this.needs(member.value);
      if (needed !== '') throw refused(needed);
      await this.strike(member, asker);
      logger.warn('a node is forgotten', { node, by: asker });
    } finally {
      deposal.end();
    }
  }

  private async untilUnneeded(member: Member): Promise<void> {
    const { clock, leaseMs } = this.sources;
    for (const deadline = clock.now() + Math.max(leaseMs * 2, takenOverMs); ; await sleep(clock, pollMs)) {
      const needed = this.needs(member);
      if (needed === '') return;
      if (clock.now() >= deadline) throw refused(needed);
    }
  }

  /** What stands against forgetting it; '' if nothing does. */
  private needs({ node, boot }: Member): string {
    const { map, liveness } = this.sources;
    if ((map.members.get(node)?.value.boot ?? boot) !== boot || !liveness.mayDepose(node, boot))
      return `${node} is up, or was heard of within the time of a lease: stop it first`;
    const records = [...map.groups.values()].map(({ value }) => value);
    const needs = records.filter(({ inSync }) => inSync.some((entry) => entry.node === node));
    if (needs.length === 0) return '';
    const groups = (list: typeof needs): string => describeGroups(list.map(({ group }) => group));
    const alone = needs.filter(({ inSync }) => inSync.every((entry) => entry.node === node));
    if (alone.length > 0)
      return (
        `${node} is the only one that has everything of these groups: ${groups(alone)}. Start it and wait until others are in sync; ` +
        'or, if it is lost, accept that with `understudy override` first'
      );
    return `${node} is in the in-sync sets of these groups, which nobody leads: ${groups(needs)}. Start another of their members first`;
  }

  private async strike(member: Versioned<Member>, asker: string): Promise<void> {
    const { node, store, boot, ordinal } = member.value;
    const note: Forgotten = { node, boot, ordinal, by: asker, at: this.sources.clock.wall() };
    const changes = [
      { key: MapKey.member(node), expect: member.version, value: null },
      { key: MapKey.forgotten(store), expect: 0, value: JSON.stringify(note) },
    ];
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      let result: SwapResult | undefined;
      try {
        result = await this.sources.coordinator.swap(changes);
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError)) this.sources.logger.debug('not yet', { error: String(error) });
      }
      const note = result?.entries[1];
      // It may have been an earlier attempt whose answer was lost.
      if (result?.ok === true || (note !== undefined && note.version > 0)) return await this.sources.map.refresh();
      if (result !== undefined) throw refused(`${node} has changed meanwhile: it is up`);
      await sleep(this.sources.clock, pollMs);
    }
    throw new RefusedError(Refusal.internalError, 'the coordinator does not answer: whether it was done is not known');
  }
}

function refused(text: string): RefusedError {
  return new RefusedError(Refusal.notAllowed, text);
}
