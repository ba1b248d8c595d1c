/**
 * Taking over a group whose primary is gone (rules 11, 12): read the record, then find out whether its primary may be
 * deposed, then one compare-and-set against the version read. Who comes first is well known (r15): the in-sync members in the
 * order of the replicas after the old primary; each later one waits a little longer.
 */
import type { Logger } from '../../base/logger.js';
import { untilNextAttempt } from '../cluster-map.js';
import type { Deposal } from '../liveness/liveness.js';
import { type GroupRecord, Placement, type Replica, sameReplica, type Versioned } from '../map.js';
import type { ReplicationContext } from './context.js';
import type { GroupReplica } from './group-replica.js';
import { succession } from './placement.js';

export class Election {
  private readonly replica: GroupReplica;
  private readonly context: ReplicationContext;
  private readonly logger: Logger;
  private running = false;
  /** When the primary was first seen to be gone, for the record version `goneVersion`. */
  private goneSince = 0;
  private goneVersion = -1;
  /** The version of the record that we said we take over from. */
  private announced = -1;

  constructor(replica: GroupReplica) {
    this.replica = replica;
    this.context = replica.context;
    this.logger = replica.logger;
  }

  /** To be called often and whenever somebody is gone; starts an election if it is due and ours to win. */
  consider(): void {
    const record = this.replica.record;
    if (this.running || record === undefined || !this.context.makesProgress() || !this.isCandidate(record.value))
      return;
    const { primary } = record.value;
    const { clock, liveness, rules } = this.context;
    if (sameReplica(primary, this.context.self)) return;
    liveness.learn(primary);
    if (!liveness.mayDepose(primary.node, primary.boot) && rules.liveNotDeposed) {
      this.goneVersion = -1;
      return;
    }
    const now = clock.now();
    if (this.goneVersion !== record.version) {
      this.goneVersion = record.version;
      this.goneSince = now;
    }
    if (now - this.goneSince < this.rank(record.value) * this.rankDelayMs) return;
    if (!this.hasMost(record.value, now)) return;
    void this.run(record);
  }

  /**
   * Where events counted before they were on disk, restarted members may have more or less of them: the one with most is elected
   * (rule 12). Those who cannot be asked are waited for, not for ever.
   */
  private hasMost(record: GroupRecord, now: number): boolean {
    const { self, rules, limits } = this.context;
    const isIntact = record.inSync.some((member) => sameReplica(member, self));
    if (isIntact || record.relaxed !== true || record.inSync.length < 2 || !rules.mostElected) return true;
    const { ahead, unknown } = this.context.rivals(record);
    if (ahead) return false;
    return !unknown || now - this.goneSince >= limits.compareMs;
  }

  /** A member of the set that may be elected: intact, or restarted with its store undamaged and no intact one up (rule 12). */
  private isCandidate(record: GroupRecord): boolean {
    const { self, rules, journalIntact } = this.context;
    if (this.replica.primary !== undefined && this.replica.primary.epoch === record.epoch) return false;
    if (this.replica.joining && rules.joinerNotElectable) return false;
    if (record.epoch < this.replica.epoch && rules.noLowerEpoch) return false;
    const entry = record.inSync.find((member) => member.node === self.node);
    if (entry === undefined) return !rules.joinerNotElectable && this.replica.joining;
    if (entry.boot === self.boot) return !this.replica.mustJoin;
    if (rules.sameStore && (entry.store !== self.store || !journalIntact)) return false;
    return !rules.intactFirst || !record.inSync.some((member) => member.node !== self.node && !this.isGone(member));
  }

  private isGone(member: Replica): boolean {
    this.context.liveness.learn(member);
    return this.context.liveness.mayDepose(member.node, member.boot);
  }

  /** With a single placement the order is worth more than time: all groups are to go to the same node, where clients look for it. */
  private get rankDelayMs(): number {
    return this.context.map.config.placement === Placement.single ? singleRankDelayMs : rankDelayMs;
  }

  /** How many living members come before us. */
  private rank(record: GroupRecord): number {
    let rank = 0;
    for (const node of succession(record, this.context.map, record.primary.node)) {
      if (node === this.context.self.node) return rank;
      const member = record.inSync.find((entry) => entry.node === node);
      if (member !== undefined && !this.isGone(member)) rank++;
    }
    return rank;
  }

  private async run(seen: Versioned<GroupRecord>): Promise<void> {
    this.running = true;
    let deposal: Deposal | null = null;
    try {
      const { liveness, map, self, rules, clock, random } = this.context;
      const { primary } = seen.value;
      deposal = liveness.depose(primary.node, primary.boot);
      if (deposal === null && rules.liveNotDeposed) return;
      const record = this.successor(seen.value);
      if (this.announced !== seen.version) this.logger.info('taking over', { from: primary.node, epoch: record.epoch });
      this.announced = seen.version;
      for (let isSettled = true; ; ) {
        const outcome = await map.swapGroup(record, seen.version);
        if (outcome.kind === 'done' || outcome.kind === 'conflict') break;
        // It certainly did not happen: whoever is deposed gets its promises again until there is another attempt.
        if (outcome.kind === 'unavailable' && isSettled) return;
        isSettled = false;
        await untilNextAttempt(clock, random);
        const now = this.replica.record;
        if (now !== undefined && now.version !== seen.version) break;
      }
      if (rules.noResume || primary.node !== self.node) this.goneVersion = -1;
    } finally {
      deposal?.end();
      this.running = false;
    }
  }

  /**
   * The next epoch's record. The old primary always leaves the set, as does every member that is gone: they may have what we do
   * not, or lack what we have, and come back by set difference.
   */
  private successor(record: GroupRecord): GroupRecord {
    const { self } = this.context;
    const others = record.inSync.filter(
      (member) => member.node !== self.node && member.node !== record.primary.node && !this.isGone(member),
    );
    const { contested: _mark, movedFrom: _from, ...kept } = record;
    return { ...kept, epoch: record.epoch + 1, primary: self, inSync: [self, ...others] };
  }
}

const rankDelayMs = 150;
const singleRankDelayMs = 400;
