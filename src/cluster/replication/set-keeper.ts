/**
 * Keeps the in-sync set of a group true, for its primary: takes out who is gone or too slow, admits who has joined, holds
 * the tenure (lease) that covers the set, and gives lost replicas' places to other nodes. All changes are compare-and-sets
 * of the whole record, one at a time (rules 3, 5, 8, 11, 21).
 */
import { type SwapOutcome, untilNextAttempt } from '../cluster-map.js';
import type { Tenure } from '../liveness/liveness.js';
import {
  type GroupRecord,
  isLocalGroup,
  MemberState,
  type Replica,
  sameReplica,
  systemGroup,
  type Versioned,
  sizeOf,
} from '../map.js';
import type { Follower } from './follower.js';
import { surplus, wantedReplicas } from './replica-places.js';
import type { Primary } from './primary.js';

export class SetKeeper {
  private record: Versioned<GroupRecord>;
  private readonly primary: Primary;
  private readonly tenure: Tenure;
  private swapping = false;
  /** Records that are on their way to our disk. */
  private saving = 0;
  private wantsRelaxed = false;
  /** The change of the set that was asked for last, and is not made yet. */
  private asked = '';
  private lostSince: Map<string, number> = new Map();
  /** Until when a node outside the set may still route, by its last reading of the record or its primary's word (rule 15). */
  private strangersUntil: number;
  private tickedAt: number;
  /** Before this nobody is taken for lost because of a promise that is about to end. */
  private judgeFrom = 0;
  /** An operator takes us for gone: nothing goes out until the mark is off our record again. */
  private contested = false;
  /** Since when we hear fewer of the set than we do not. */
  private outnumberedSince = Number.POSITIVE_INFINITY;

  constructor(primary: Primary, record: Versioned<GroupRecord>) {
    this.primary = primary;
    this.record = record;
    this.strangersUntil = this.routingEnds();
    this.tickedAt = this.context.clock.now();
    // The last read or compare-and-set that showed us as primary is the latest that the view rests on.
    this.tenure = this.context.liveness.tenure(this.others(), this.context.map.confirmedAt);
  }

  /** The record is being changed, or what it is now is not in force yet. */
  private get busy(): boolean {
    return this.swapping || this.saving > 0;
  }

  private get context() {
    return this.primary.replica.context;
  }
  private get self(): Replica {
    return this.context.self;
  }

  /** The others in the recorded set and in a proposal that may be recorded: each of them could replace us. */
  private others(): Replica[] {
    return this.primary.set.required.filter((member) => member.node !== this.self.node);
  }

  // ---- the lease ----

  /** One look at the clock; asked for every turn's answers. */
  leaseValid(): boolean {
    if (this.contested) return false;
    if (this.primary.set.required.length > 1) return this.tenure.holds();
    return this.context.clock.now() < this.context.map.confirmedAt + this.context.limits.leaseMs;
  }

  /**
   * A node routes for a lease's time after a reading of the system group's record that shows it in the set, or after it asked the
   * primary and heard so (RouteLease); a quarter more for clocks that drift.
   */
  private routingEnds(): number {
    return this.context.clock.now() + this.context.limits.leaseMs * 1.25;
  }

  /** A node that is out of the set, and not known to be dead, may still route with the wiring that it had. */
  strangersMayRoute(): boolean {
    if (this.context.clock.now() >= this.strangersUntil) return false;
    for (const { value: member } of this.context.map.members.values()) {
      if (member.state === MemberState.joining || this.primary.set.includes(member)) continue;
      if (!this.context.isDead(member.boot)) return true;
    }
    return false;
  }

  private coverSet(): void {
    this.tenure.cover(this.others());
  }

  /** A lapsed lease is never revived: promises count only if they stand without a gap since the record was read again. */
  private recoverLease(): void {
    if (this.leaseValid()) return;
    this.tenure.cover(this.others(), this.context.map.confirmedAt);
    if (!this.leaseValid()) this.context.map.refreshSoon();
  }

  // ---- changes of the set ----

  tick(): void {
    if (isLocalGroup(this.record.value.group)) return;
    this.notePause();
    this.recoverLease();
    if (this.context.map.confirmedAt + this.context.limits.leaseMs / 3 < this.context.clock.now())
      this.context.map.refreshSoon();
    // Whoever asks for no promises hears none: that is no reason to go on without the others.
    if (this.busy || this.primary.paused || !this.context.makesProgress()) return;
    if (this.contested) {
      this.primary.replica.logger.warn('an operator takes us for gone: we are not');
      void this.swap(this.record.value);
      return;
    }
    const lost = this.others().filter((member) => this.isLost(member));
    if (this.leavesItToOthers(lost)) return;
    if (lost.length > 0) {
      this.propose(this.without(lost), `without ${lost.map((member) => member.node).join(', ')}`);
      return;
    }
    if (this.primary.replica.log.numbersLeft < this.context.limits.epochNumbersMin) this.renewEpoch();
    this.considerAdmissions();
    this.considerRelaxing();
    if (!this.busy) this.considerReplicas();
  }

  /** A takeover from ourselves: what is not committed is given back and comes again with numbers of the new epoch. */
  private renewEpoch(): void {
    this.primary.replica.logger.info('the numbers of the epoch run out: the next one begins');
    void this.swap({ ...this.record.value, epoch: this.primary.epoch + 1, movedFrom: undefined });
  }

  /** After this process stood still the others' promises look old: they are given time to renew them. */
  private notePause(): void {
    const now = this.context.clock.now();
    const { leaseMs } = this.context.limits;
    if (now - this.tickedAt > leaseMs / 8) this.judgeFrom = now + leaseMs / 4;
    this.tickedAt = now;
  }

  /**
   * Who hears fewer of the set than it does not hear, and knows none of those to be dead, is cut off itself, probably. The others, who
   * may hear each other, and more clients, have two leases' time to take over before we go on without them: they may have heard, and
   * promised, for one more than we have.
   */
  private leavesItToOthers(lost: readonly Replica[]): boolean {
    const { clock, limits } = this.context;
    const now = clock.now();
    const silent = lost.filter((member) => this.isSilent(member, now) && !this.context.isDead(member.boot)).length;
    if (silent <= 1 + this.others().length - lost.length) this.outnumberedSince = Number.POSITIVE_INFINITY;
    else if (this.outnumberedSince > now) this.outnumberedSince = now;
    const forMs = now - this.outnumberedSince;
    return forMs >= 0 && forMs < 2 * limits.leaseMs;
  }

  /** Its promise is about to end, or has ended. */
  private isSilent(member: Replica, now: number): boolean {
    const left = this.context.liveness.promisedUntil(member.node, member.boot) - now;
    return (
      now >= this.judgeFrom &&
      left < this.context.limits.shrinkAtLeftMs &&
      (left > Number.NEGATIVE_INFINITY || this.primary.age(now) > this.context.limits.leaseMs / 4)
    );
  }

  private isLost(member: Replica): boolean {
    const { liveness, clock, limits } = this.context;
    const now = clock.now();
    if (this.isSilent(member, now)) return true;
    if (liveness.mayDepose(member.node, member.boot)) return true;
    const follower = this.primary.followers.get(member.node);
    if (follower !== undefined && sameReplica(follower.replica, member))
      return follower.durable < this.primary.replica.disk.value && now - follower.levelAt > this.patience(member);
    return this.primary.unfollowedFor(member.node, now) > limits.slowMs;
  }

  /** Who says that it cannot write is not waited for as long as who may be slow for a moment. */
  private patience({ node }: Replica): number {
    const { map, limits } = this.context;
    return map.members.get(node)?.value.ailing === undefined ? limits.slowMs : limits.slowMs / 10;
  }

  private without(members: readonly Replica[]): Replica[] {
    return this.record.value.inSync.filter((member) => !members.some((other) => other.node === member.node));
  }

  /** Rule 8: whoever must join is taken out of the set first. */
  takeOut(node: string, why: string): void {
    if (this.busy || this.primary.paused) return;
    const members = this.record.value.inSync.filter((member) => member.node === node);
    if (members.length > 0) this.propose(this.without(members), `without ${node}: ${why}`);
  }

  /** A joiner whose acks have reached the commit point and the take-over's log end is admitted (rule 5). */
  considerAdmissions(): void {
    const { clock, limits } = this.context;
    for (const follower of this.primary.followers.values()) {
      if (!follower.matched || this.primary.set.includes(follower.replica)) continue;
      // Its place is another's by now, and it will hear so.
      if (!this.record.value.replicas.includes(follower.replica.node)) continue;
      // Who would be taken out again at once is not taken in, and wiring does not wait for it.
      if (this.isLost(follower.replica)) {
        follower.routesFrom = undefined;
        continue;
      }
      if (this.isAdmissible(follower)) {
        if (!this.hasWiring(follower)) continue;
        if (this.busy || this.primary.paused || this.primary.set.includesNode(follower.replica.node)) continue;
        this.propose([...this.record.value.inSync, follower.replica], `with ${follower.replica.node}`);
        return;
      }
      const now = clock.now();
      // Who lags far behind would hold up everybody and not be admitted all the same.
      if (now - follower.levelAt > limits.admitLagMs) continue;
      if (follower.candidateUntil + limits.admitWaitMs < now) follower.candidateUntil = now + limits.admitWaitMs;
    }
  }

  private isAdmissible(follower: Follower): boolean {
    const { rules } = this.context;
    if (rules.admitCommitted && follower.durable < this.primary.replica.log.committed) return false;
    return follower.durable >= this.primary.takeoverEnd;
  }

  /** It may learn from the record that it is in the set before it hears what was committed until then. */
  private hasWiring(follower: Follower): boolean {
    if (this.record.value.group !== systemGroup || !this.context.rules.wiringWaitsForAll) return true;
    follower.routesFrom ??= this.primary.replica.log.committed;
    return follower.applied >= follower.routesFrom;
  }

  private propose(inSync: readonly Replica[], what: string): void {
    const value: GroupRecord = { ...this.record.value, inSync: [...inSync] };
    // Once, however often it has to be asked for.
    if (what !== this.asked)
      this.primary.replica.logger.info(`in-sync set: ${what}`, { inSync: inSync.map((member) => member.node) });
    this.asked = what;
    this.primary.set.propose(inSync);
    this.coverProposal();
    void this.swap(value);
  }

  /** What was proposed is recorded nowhere: whoever it left out is a member like any other, and it may not be wanted any more. */
  private withdraw(): boolean {
    if (this.primary.set.proposal === undefined) return false;
    this.primary.set.confirm(this.primary.set.confirmed);
    if (this.tenure.holds()) this.coverSet();
    this.updateMinInSync();
    this.primary.advance();
    return true;
  }

  /** A proposal that adds a member needs its promise at once; one that removes keeps the old ones until it is answered. */
  private coverProposal(): void {
    if (this.tenure.holds()) this.coverSet();
    this.updateMinInSync();
  }

  /** Until it is answered, or has certainly not happened: then whoever still wants it tries again. */
  private async swap(value: GroupRecord): Promise<void> {
    this.swapping = true;
    const expected = this.record.version;
    let outcome: SwapOutcome<GroupRecord>;
    for (let isSettled = true; ; ) {
      outcome = await this.context.map.swapGroup(value, expected);
      if (this.primary.isClosed) return;
      if (outcome.kind === 'done' || outcome.kind === 'conflict') break;
      if (outcome.kind === 'unknown') isSettled = false;
      else if (isSettled) {
        // Before the next attempt at once.
        if (this.withdraw()) await this.pause();
        this.swapping = false;
        return;
      }
      // It did not happen, or may have: the same again, against the same version, cannot happen twice.
      await this.pause();
      if (this.primary.isClosed) return;
    }
    this.swapping = false;
    const record = outcome.record;
    if (record === undefined) return;
    this.recordChanged(record);
  }

  private pause(): Promise<void> {
    const { clock, random } = this.context;
    return untilNextAttempt(clock, random);
  }

  /** The record as it stands, from a swap or from the watch. Another primary or epoch: the replica deals with it. */
  recordChanged(record: Versioned<GroupRecord>): void {
    if (record.version <= this.record.version) return;
    const { contested, ...value } = record.value;
    this.contested = contested !== undefined;
    this.record = { value, version: record.version };
    this.asked = '';
    if (this.primary.replica.isDeposedBy(record)) return;
    if (this.others().some((member) => !record.value.inSync.some((other) => sameReplica(member, other))))
      this.strangersUntil = this.routingEnds();
    if (this.context.rules.recordPersist) this.whenSaved(record);
    else this.takeEffect(record);
  }

  /** Rule 18: should the coordinator forget the record, we know it, before anything rests on it. */
  private whenSaved(record: Versioned<GroupRecord>): void {
    this.saving++;
    this.primary.replica.saveMeta(() => {
      this.saving--;
      if (!this.primary.isClosed && this.record.version === record.version) this.takeEffect(record);
    });
  }

  private takeEffect(record: Versioned<GroupRecord>): void {
    this.primary.set.confirm(record.value.inSync);
    if (this.tenure.holds()) this.coverSet();
    else this.recoverLease();
    this.updateMinInSync();
    this.primary.advance();
  }

  /** Fewer may be in the set than the group is to have: confirms may be held. */
  get isShort(): boolean {
    return this.primary.set.smallest < sizeOf(this.record.value, this.context.map.config);
  }

  /** Whoever is elected after a restart must know that the record says so; until then everything is synced. */
  mayRelax(): boolean {
    this.wantsRelaxed ||= this.record.value.relaxed !== true;
    return this.record.value.relaxed === true;
  }

  private considerRelaxing(): void {
    if (!this.wantsRelaxed || this.busy) return;
    this.wantsRelaxed = false;
    if (isLocalGroup(this.record.value.group) || this.record.value.relaxed === true) return;
    void this.swap({ ...this.record.value, relaxed: true });
  }

  /** Rule 21: publishes are confirmed only with enough members in the smallest set that may be recorded. */
  updateMinInSync(): void {
    const { service, set } = this.primary;
    if (service === undefined) return;
    service.inSync = set.smallest;
    service.touch();
  }

  // ---- places ----

  private considerReplicas(): void {
    const { map, clock, liveness, limits } = this.context;
    const now = clock.now();
    for (const node of this.record.value.replicas) {
      const member = map.members.get(node)?.value;
      const up = node === this.self.node || (member !== undefined && liveness.promisedUntil(node, member.boot) > now);
      if (up) this.lostSince.delete(node);
      else if (!this.lostSince.has(node)) this.lostSince.set(node, now);
    }
    const lost = new Set<string>();
    for (const [node, since] of this.lostSince) if (now - since >= limits.reReplicateAfterMs) lost.add(node);
    const wanted = wantedReplicas(this.record.value, map, lost, this.self.node);
    if (wanted === undefined) {
      const left = surplus(this.record.value, map, this.self.node);
      if (left.length > 0)
        this.propose(this.without(left), `without ${left.map(({ node }) => node).join(', ')}: not wanted`);
      return;
    }
    this.primary.replica.logger.info('replicas placed', { replicas: wanted });
    void this.swap({ ...this.record.value, replicas: wanted });
  }

  // ---- giving the group away (rule 20) ----

  get current(): Versioned<GroupRecord> {
    return this.record;
  }

  /** A member that has all that is committed, over a link that is up, and is about to be taken out for nothing. */
  mayGiveTo(member: Replica): boolean {
    if (this.busy || this.primary.set.proposal !== undefined) return false;
    if (!this.primary.set.includes(member) || this.isLost(member)) return false;
    const follower = this.primary.followers.get(member.node);
    return (
      follower?.matched === true &&
      sameReplica(follower.replica, member) &&
      follower.durable >= this.primary.replica.log.committed
    );
  }

  /** Makes the record another primary's. Resolves when the outcome is known and, if it was done, acted on. */
  async give(value: GroupRecord): Promise<void> {
    // A set that has changed meanwhile decides for itself.
    if (!this.busy) await this.swap(value);
  }

  close(): void {
    this.tenure.end();
  }
}
