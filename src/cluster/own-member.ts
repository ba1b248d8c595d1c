import { type Clock, sleep } from '../base/clock.js';
import type { ClusterMap } from './cluster-map.js';
import type { Coordinator } from './coordinator/coordinator.js';
import { ClientPolicy, MapKey, type Member, MemberState, type Replica, sameReplica } from './map.js';

const retryMs = 20;
/** A coordinator that does not answer must not hold up a stop. */
const farewellMs = 500;
/** A stop takes no longer for what it gives away. */
const handOverMsMax = 10_000;
const movesPollMs = 5;

/** This node's own entry in the cluster map: nobody else changes it. */
export class OwnMember {
  private readonly self: Replica;
  private readonly coordinator: Coordinator;
  private readonly map: ClusterMap;
  private readonly clock: Clock;
  private toldAiling: string | undefined;
  private closed = false;

  constructor(self: Replica, coordinator: Coordinator, map: ClusterMap, clock: Clock) {
    this.self = self;
    this.coordinator = coordinator;
    this.map = map;
    this.clock = clock;
  }

  /** Resolves when it is changed, or after `close`. Rejects if another process has registered under our name. */
  async change(change: (member: Member) => Member): Promise<void> {
    const key = MapKey.member(this.self.node);
    while (!this.closed) {
      const entries = await this.coordinator.read(key).catch(() => []);
      const entry = entries.find((candidate) => candidate.key === key);
      if (entry !== undefined) {
        const member = JSON.parse(entry.value) as Member;
        if (!sameReplica(member, this.self)) throw new Error(`another process runs as node ${this.self.node}`);
        const outcome = await this.map.swapMember(change(member), entry.version);
        if (outcome.kind === 'done') return;
      }
      await sleep(this.clock, retryMs);
    }
  }

  /** The node ails, or is well again: what of, if at all, is asked when that is written. */
  tellHealth(ailing: () => string | undefined): void {
    if (this.toldAiling === ailing() || this.closed) return;
    this.toldAiling = ailing();
    // Another process has our name: it tells of itself.
    this.change((member) => ({ ...member, ailing: ailing() })).catch(() => {});
  }

  /**
   * Has this node give away what it leads, to whoever can take it, for a stop that others' clients do not notice. Resolves when
   * `hasMoves` says that there is nothing more to give, or after a time.
   */
  async handOver(hasMoves: () => boolean): Promise<void> {
    const deadline = this.clock.now() + handOverMsMax;
    const drained = this.change((member) => ({ ...member, state: MemberState.draining })).catch(() => {});
    await Promise.race([drained, sleep(this.clock, handOverMsMax / 5)]);
    while (hasMoves() && this.clock.now() < deadline) await sleep(this.clock, movesPollMs);
  }

  /** In hot standby: clients are sent here no more. Resolves when the cluster knows, or soon if it cannot be told. */
  async servesNoMore(): Promise<void> {
    if (this.map.config.clients === ClientPolicy.any) return;
    const told = this.change((member) => ({ ...member, amqp: '', amqps: undefined })).catch(() => {});
    await Promise.race([told, sleep(this.clock, farewellMs)]);
  }

  close(): void {
    this.closed = true;
  }
}
