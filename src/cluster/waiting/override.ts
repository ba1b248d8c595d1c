/**
 * The operator's decision not to wait: a node outside of the in-sync set becomes the primary of a group that has none, with what it
 * has. Rules that it keeps: the epoch grows by one, by compare-and-set of the record as it was read (2, 3); the lease of the recorded
 * primary's boot is waited for (11); what others have beyond the new primary they drop when they join (5, 8, 9).
 *
 *   the group waits ─▶ `contested` into the record ─▶ a lease's time ─▶ epoch + 1, primary and in-sync set: the candidate
 *
 * A primary that is alive, alone in its set and cut off from us reads its record: it takes the mark away again, and the last step
 * fails. If it cannot read, its lease, which rests on its last reading, is over by then.
 */
import { type Clock, sleep } from '../../base/clock.js';
import { Refusal, RefusedError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import type { Rules } from '../../base/rules.js';
import { type ClusterMap, type SwapOutcome, untilNextAttempt } from '../cluster-map.js';
import { refreshed } from '../consulting.js';
import type { Liveness } from '../liveness/liveness.js';
import type { GroupRecord, Versioned } from '../map.js';
import type { Candidate } from './standing.js';
import { describeGroup, describeLoss } from './texts.js';
import type { GroupWait, WaitingGroups } from './waiting-groups.js';

export interface OverrideRequest {
  group: number;
  /** Who is to lead it; undefined: whoever has most. */
  node: string | undefined;
  /** Without it nothing is done but to say what may be lost. */
  acceptLoss: boolean;
  /** For the log. */
  asker: string;
}

export interface OverrideResult {
  group: number;
  epoch: number;
  primary: string;
  /** What may be lost, in words. */
  loss: string;
}

export interface OverrideSources {
  readonly map: ClusterMap;
  readonly liveness: Liveness;
  readonly waiting: WaitingGroups;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly rules: Rules;
  readonly leaseMs: number;
}

const pollMs = 50;
const saidWithinMs = 3000;
/** Tries at a compare-and-set whose outcome is not known. */
const attemptsMax = 100;

export class Override {
  private readonly sources: OverrideSources;
  private readonly under: Set<number> = new Set();

  constructor(sources: OverrideSources) {
    this.sources = sources;
  }

  /** Resolves when the record names the candidate. Rejects with RefusedError: `notAllowed`
   * if something stands against it, `internalError` if the coordinator does not answer. Takes somewhat more than a lease's time. */
  async run(request: OverrideRequest): Promise<OverrideResult> {
    const { group } = request;
    if (this.under.has(group))
      throw new RefusedError(Refusal.notAllowed, `an override of ${describeGroup(group)} is under way already`);
    this.under.add(group);
    try {
      return await this.decide(request);
    } finally {
      this.under.delete(group);
    }
  }

  private async decide({ group, node, acceptLoss, asker }: OverrideRequest): Promise<OverrideResult> {
    const { map, liveness, logger } = this.sources;
    await refreshed(map);
    if (!map.groups.has(group)) throw new RefusedError(Refusal.notFound, `there is no group ${group}`);
    const wait = await this.untilWaiting(group);
    const record = map.groups.get(group)!;
    const candidate = this.choose(record.value, wait, node);
    const loss = describeLoss(record.value, wait, candidate);
    if (!acceptLoss) throw new RefusedError(Refusal.notAllowed, `${loss}. If that is accepted, say so`);
    const { primary } = record.value;
    const deposal = liveness.depose(primary.node, primary.boot);
    if (deposal === null)
      throw new RefusedError(Refusal.notAllowed, `${primary.node} is up: it leads ${describeGroup(group)}`);
    try {
      logger.warn('override: the loss is accepted', { group, by: asker, loss });
      const epoch = await this.replace(record, candidate);
      logger.warn('override: done', { group, by: asker, primary: candidate.replica.node, epoch });
      return { group, epoch, primary: candidate.replica.node, loss };
    } catch (error) {
      logger.warn('override: not done', { group, by: asker, reason: (error as Error).message });
      throw error;
    } finally {
      deposal.end();
    }
  }

  /** Whoever was heard of lately is given the time of its lease, and every node that is up the time to say what it has. */
  private async untilWaiting(group: number): Promise<GroupWait> {
    const { waiting, clock, leaseMs, map } = this.sources;
    for (const deadline = clock.now() + Math.max(leaseMs * 1.5, saidWithinMs); ; await sleep(clock, pollMs)) {
      const wait = waiting.of(group);
      if (wait?.silent.length === 0) return wait;
      if (clock.now() < deadline) continue;
      if (wait !== undefined) return wait;
      const { primary, inSync } = map.groups.get(group)!.value;
      const names = inSync.map((member) => member.node).join(', ');
      throw new RefusedError(
        Refusal.notAllowed,
        `${describeGroup(group)} does not wait for anybody: its primary is ${primary.node}, its in-sync set ${names}, ` +
          'and one of them is up, or was heard of within the time of a lease',
      );
    }
  }

  private choose(record: GroupRecord, { candidates, silent }: GroupWait, node: string | undefined): Candidate {
    // What is not known may be more.
    if (node === undefined && silent.length > 0)
      throw new RefusedError(
        Refusal.notAllowed,
        `${silent.join(', ')} may be up, and has not said what it has of ${describeGroup(record.group)}: ask again, or name the node that is to lead it`,
      );
    const [best] = node === undefined ? candidates : candidates.filter(({ replica }) => replica.node === node);
    if (best === undefined)
      throw new RefusedError(
        Refusal.notAllowed,
        node === undefined
          ? `no node that is up has a replica of ${describeGroup(record.group)}`
          : `${node} is not up, or has no replica of ${describeGroup(record.group)}; those that have: ${candidates.map(({ replica }) => replica.node).join(', ') || 'none'}`,
      );
    if (best.epoch > record.epoch)
      throw new RefusedError(
        Refusal.notAllowed,
        `${best.replica.node} knows of epoch ${best.epoch} of ${describeGroup(record.group)}, the coordinator of ${record.epoch} only: the coordinator was put back to an older state`,
      );
    return best;
  }

  /** Returns the new epoch. */
  private async replace(record: Versioned<GroupRecord>, { replica }: Candidate): Promise<number> {
    const { group, epoch, primary } = record.value;
    let contested = record;
    if (this.sources.rules.overrideWaits) {
      contested = await this.swap({ ...record.value, contested: replica.node }, record.version);
      await sleep(this.sources.clock, this.sources.leaseMs * 1.25);
    }
    const { contested: _mark, movedFrom: _from, ...value } = contested.value;
    const replicas = value.replicas.includes(replica.node) ? value.replicas : [...value.replicas, replica.node];
    const next = { ...value, epoch: epoch + 1, primary: replica, inSync: [replica], replicas, overridden: epoch + 1 };
    const now = this.sources.map.groups.get(group)!;
    if (now.version !== contested.version) throw this.changed(now, primary.node);
    return (await this.swap(next, contested.version)).value.epoch;
  }

  private async swap(value: GroupRecord, version: number): Promise<Versioned<GroupRecord>> {
    const { map } = this.sources;
    let outcome: SwapOutcome<GroupRecord> = { kind: 'unavailable' };
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      outcome = await map.swapGroup(value, version);
      if (outcome.kind === 'done') return outcome.record;
      if (outcome.kind === 'conflict') {
        const { record } = outcome;
        // The answer to an earlier try was lost.
        if (record !== undefined && attempt > 0 && JSON.stringify(record.value) === JSON.stringify(value))
          return record;
        throw this.changed(record, value.primary.node);
      }
      await untilNextAttempt(this.sources.clock, this.sources.random);
    }
    throw new RefusedError(Refusal.internalError, 'the coordinator does not answer: whether it was done is not known');
  }

  private changed(record: Versioned<GroupRecord> | undefined, primary: string): RefusedError {
    const now = record === undefined ? 'gone' : `epoch ${record.value.epoch} with primary ${record.value.primary.node}`;
    return new RefusedError(
      Refusal.notAllowed,
      `the record was changed meanwhile (it is ${now}): ${primary} or another member of the in-sync set is up`,
    );
  }
}
