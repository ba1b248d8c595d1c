/**
 * The right of a node to route publishes with the wiring it has: only while it is in the system group's in-sync set, since whoever
 * takes it out lets wiring complete without it a lease's time and a quarter later (rule 15, `SetKeeper.strangersMayRoute`).
 *
 * A recent reading of the record shows it. While the coordinator does not answer, the system group's primary says it, who alone
 * could take the node out, as long as it leads:
 *
 *   node ── routeAsk, sent at s by its clock ──▶ primary: under its lease, in the confirmed set and in a proposal that is out?
 *   node ◀──────────── routeGrant, carries s ──── then it may route until s + the lease
 *
 * The primary says so before it proposes to take the node out, and routing ends before wiring completes without it. Who replaces
 * that primary does so after its lease, or its death, and lets strangers route for as long.
 */
import type { Clock, Timer } from '../../base/clock.js';
import type { ClusterMap } from '../cluster-map.js';
import { type Frame, FrameError } from '../link/frame.js';
import { FrameType } from '../link/frame-types.js';
import type { Link } from '../link/link.js';
import type { Links } from '../link/links.js';
import { type GroupRecord, type Replica, sameReplica, systemGroup, type Versioned } from '../map.js';

/** The system group's primary, if it is this node. */
export interface RoutePrimary {
  readonly paused: boolean;
  readonly set: { readonly confirmed: readonly Replica[]; readonly proposal: readonly Replica[] | undefined };
  /** Whether its lease is valid in this turn. */
  mayAct(): boolean;
}

export interface RouteLeaseOptions {
  self: Replica;
  map: Pick<ClusterMap, 'groups' | 'confirmedAt'>;
  links: Links;
  clock: Clock;
  leaseMs: number;
  primary(): RoutePrimary | undefined;
}

export class RouteLease {
  private readonly options: RouteLeaseOptions;
  private readonly timer: Timer;
  private grantedUntil = Number.NEGATIVE_INFINITY;
  /** The system group's record as last looked at, and whether we are in its set. */
  private record: Versioned<GroupRecord> | undefined;
  private isInSet = false;

  constructor(options: RouteLeaseOptions) {
    this.options = options;
    const { links, clock, leaseMs } = options;
    links.handle(FrameType.routeAsk, (link, frame) => this.asked(link, frame));
    links.handle(FrameType.routeGrant, (_link, frame) => this.granted(frame));
    this.timer = clock.every(leaseMs / 4, () => this.ask());
  }

  /** Asked for every publish. */
  holds(): boolean {
    const { map, clock, leaseMs, primary } = this.options;
    const record = map.groups.get(systemGroup);
    if (record !== this.record) {
      this.record = record;
      this.isInSet = record?.value.inSync.some((member) => sameReplica(member, this.options.self)) === true;
    }
    if (!this.isInSet) return false;
    const now = clock.now();
    if (now < map.confirmedAt + leaseMs || now < this.grantedUntil) return true;
    const own = primary();
    return own !== undefined && !own.paused && own.mayAct();
  }

  close(): void {
    this.timer.cancel();
  }

  /** Only when the coordinator has been silent for a while. */
  private ask(): void {
    const { self, map, links, clock, leaseMs } = this.options;
    const now = clock.now();
    const primary = map.groups.get(systemGroup)?.value.primary;
    if (primary === undefined || primary.node === self.node || now < map.confirmedAt + leaseMs / 2) return;
    const link = links.get(primary.node);
    if (link?.peer.boot === primary.boot) sendTime(link, FrameType.routeAsk, now);
  }

  private asked(link: Link, frame: Frame): void {
    const primary = this.options.primary();
    if (primary === undefined || primary.paused || !primary.mayAct()) return;
    const { confirmed, proposal } = primary.set;
    const includes = (set: readonly Replica[]): boolean => set.some((member) => sameReplica(member, link.peer));
    if (!includes(confirmed) || (proposal !== undefined && !includes(proposal))) return;
    sendTime(link, FrameType.routeGrant, frame.view.getFloat64(frame.start, true));
  }

  private granted(frame: Frame): void {
    const { clock, leaseMs } = this.options;
    const askedAt = frame.view.getFloat64(frame.start, true);
    const now = clock.now();
    if (!(askedAt <= now)) throw new FrameError(`a grant for ${askedAt}, now is ${now}`);
    this.grantedUntil = Math.max(this.grantedUntil, askedAt + leaseMs);
  }
}

function sendTime(link: Link, type: number, time: number): void {
  const output = link.beginFrame(type, 0, 8);
  output.view.setFloat64(output.offset, time, true);
}
