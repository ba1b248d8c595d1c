/** What the replication of every group of a node shares. */
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { Random } from '../../base/random.js';
import type { Rules } from '../../base/rules.js';
import type { Turn } from '../../base/turn.js';
import type { VersionRange } from '../../base/versions.js';
import type { Chunks } from '../../log/chunk.js';
import type { Journal } from '../../log/journal.js';
import type { UnconfirmedKeeper } from '../client/ports.js';
import type { Link } from '../link/link.js';
import type { ClusterMap } from '../cluster-map.js';
import type { QueueUse } from '../../model/group-port.js';
import type { GroupState } from '../../model/group-state.js';
import type { Liveness } from '../liveness/liveness.js';
import type { GroupRecord, Replica } from '../map.js';
import type { HeaderCodec } from '../../model/dead-letter/death.js';
import type { QueueTraitsSource } from '../../model/group-service/traits-of.js';
import type { BackfillPace } from './backfill-pace.js';
import type { GroupReplica } from './group-replica.js';

export interface ReplicationLimits {
  /**
   * A backup is taken out of the in-sync set when its promise to us would end in less than this (so that the set is without
   * it before our lease ends), or when its disk lags behind ours by more than `slowMs`.
   */
  shrinkAtLeftMs: number;
  /** Time a sole primary may act on one reading of its record. */
  leaseMs: number;
  slowMs: number;
  /** While a write takes longer, everything waits for the disk, whatever its queue asks for. */
  syncWithinMs: number;
  /**
   * A restarted member waits so long at most to hear what the others have, before it is elected to a group whose events may have
   * counted before they were on disk (rule 12).
   */
  compareMs: number;
  /** Bytes of a group's log kept for followers that are behind; a joiner that needs more starts again. */
  tailBytesMax: number;
  /** Commits wait at most so long for a joiner that lags by less than `admitLagMs` and is about to be admitted. */
  admitWaitMs: number;
  admitLagMs: number;
  /** A backup that has so many bytes waiting for its disk follows no further until that is down to a half. */
  pendingBytesMax: number;
  /** A primary begins a new epoch when the present one has only so many numbers left (of 2^32). */
  epochNumbersMin: number;
  /** A lost replica's place is given to another node after this. */
  reReplicateAfterMs: number;
  /** A primary that leads more groups than others keeps each for so long at least. */
  balanceAfterMs: number;
  /** With placement time-shared: how long a node leads a group whose queues have consumers on others, too. */
  timeShareMs: number;
  /** Bytes of one backfill frame, and positions of one slice. */
  backfillBytes: number;
  backfillPositions: number;
  /** What joins may take of the node that sends to them: bytes a second, and a part of its time. */
  joinBytesPerSecond: number;
  joinTimeShare: number;
  /** So many times as much for who was away briefly. */
  joinHaste: number;
}

/** The default limits for a lease of that length. */
export function replicationLimits(leaseMs: number): ReplicationLimits {
  return {
    // A promise is renewed with every heartbeat, so that much more than half of the lease is always left while all is well.
    shrinkAtLeftMs: leaseMs * 0.45,
    leaseMs,
    slowMs: 5000,
    syncWithinMs: 500,
    compareMs: 5000,
    tailBytesMax: 64 * 1024 * 1024,
    admitWaitMs: 1000,
    admitLagMs: 250,
    pendingBytesMax: 256 * 1024 * 1024,
    epochNumbersMin: 2 ** 28,
    reReplicateAfterMs: 600_000,
    balanceAfterMs: 2000,
    timeShareMs: 10_000,
    backfillBytes: 256 * 1024,
    backfillPositions: 2048,
    joinBytesPerSecond: 16 * 1024 * 1024,
    joinTimeShare: 0.1,
    joinHaste: 6,
  };
}

/** The other members of a group's last in-sync set that may be elected after a restart. */
export interface Rivals {
  /** One has more of the log than this node. */
  readonly ahead: boolean;
  /** One has not said what it has, or is not up. */
  readonly unknown: boolean;
}

export interface ReplicationContext {
  readonly self: Replica;
  /** A journal without damage: this boot may be elected although it was restarted (rule 12). */
  readonly journalIntact: boolean;
  readonly clock: Clock;
  readonly turn: Turn;
  readonly random: Random;
  readonly logger: Logger;
  readonly rules: Rules;
  /** What this node speaks; what is in use is the cluster's version. */
  readonly versions: VersionRange;
  readonly journal: Journal;
  readonly chunks: Chunks;
  readonly map: ClusterMap;
  readonly liveness: Liveness;
  readonly limits: ReplicationLimits;
  /** The pace of all joins that this node sends to. */
  readonly pace: BackfillPace;
  readonly keeper: UnconfirmedKeeper;
  /** An empty state for a group that this node did not have. */
  newState(group: number): GroupState;
  /** This node leads a group, and its service is there: the group's wiring is to be brought up to date. */
  leading(replica: GroupReplica): void;
  /** It leads it no longer. */
  released(group: number): void;
  /** The consumers of a queue that this node leads came or went. */
  queueUse(incarnation: number, use: QueueUse): void;
  /** A node's attachment to a group that this node leads broke the protocol: its tie is cut. */
  attachmentBroken(group: number, node: string, boot: number, reason: string): void;
  /** All that this node holds has come from its groups' primaries since it was started, and is on disk: called once. */
  rejoined(): void;
  /** The system group has applied more; its primary may answer more. */
  systemCommitted(replica: GroupReplica): void;
  systemProgressed(): void;
  /** The disk takes what it is given at once, more or less: see `syncWithinMs`. */
  syncsInTime(): boolean;
  /** What the protocol of messages does with their headers. */
  readonly headers: HeaderCodec;
  /** What queues ask for besides being durable. */
  readonly traits: QueueTraitsSource;
  /** Rule 12, among restarted members: see WaitingGroups. */
  rivals(record: GroupRecord): Rivals;
  /** False while this node's disk hangs: it asks for no promises, so that others may take over. */
  makesProgress(): boolean;
  /** Does the wiring know queues of the group? */
  hasQueues(group: number): boolean;
  /** The boot is proven dead. */
  isDead(boot: number): boolean;
  /** The link to a node, in that boot, if it is up. */
  link(node: string, boot: number): Link | undefined;
}

/** The protocol version whose features may be used now. */
export function versionInUse({ rules, map, versions }: Pick<ReplicationContext, 'rules' | 'map' | 'versions'>): number {
  return rules.featuresWait ? map.config.version : versions.max;
}
