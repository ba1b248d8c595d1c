/** What a broker is given: its world, and its options with their defaults. */
import type { Clock } from './base/clock.js';
import type { Logger } from './base/logger.js';
import type { MemoryMeter } from './base/memory-meter.js';
import type { Random } from './base/random.js';
import type { Rules } from './base/rules.js';
import type { Slices } from './base/slices.js';
import type { Turn } from './base/turn.js';
import { protocolVersions, type VersionRange } from './base/versions.js';
import { DiskAlarm } from './cluster/alarms/shortages.js';
import type { Transport } from './cluster/byte-stream.js';
import type { Coordinator } from './cluster/coordinator/coordinator.js';
import type { ClusterSecret } from './cluster/link/cluster-secret.js';
import { type HeartbeatTimes, heartbeatTimes } from './cluster/liveness/heartbeats.js';
import { ClientPolicy, Placement } from './cluster/map.js';
import type { ClusterDefaults } from './cluster/membership.js';
import type { ReplicationLimits } from './cluster/replication/context.js';
import type { UserDescription } from './model/access/operations.js';
import type { HeaderCodec } from './model/dead-letter/death.js';
import { largeBytes, partBytes } from './model/large/sizes.js';
import type { Disk } from './store/disk.js';

/** The world of a node. */
export interface BrokerPorts {
  clock: Clock;
  turn: Turn;
  random: Random;
  logger: Logger;
  disk: Disk;
  /** How long walks are cut into turns. */
  slices: Slices;
  /** Undefined: a broker that is alone. */
  cluster: { transport: Transport; coordinator: Coordinator; secret: ClusterSecret } | undefined;
  rules?: Rules;
  /** What the protocol of messages does with their headers. */
  headers: HeaderCodec;
  /** The users of a cluster that had none yet. Left out: it gets none from this node. */
  firstUsers?: () => Promise<readonly UserDescription[]>;
  /** Undefined: memory is not watched. */
  memory?: MemoryMeter;
}

export interface BrokerOptions extends ClusterDefaults {
  node: string;
  /** HOST:PORT for links between brokers. */
  address: string;
  pid: number;
  /** False: this node is to be primary of nothing, if it can be avoided. */
  lead: boolean;
  memoryBytes: number;
  /** Publishers of the whole cluster wait while the process uses more. */
  memoryHighBytes: number;
  /** Whose publishers wait while this node's disk is nearly full: its own, or the cluster's. */
  diskAlarm: DiskAlarm;
  /** Publishes that wait for other nodes' primaries, and bytes that wait for the disk, at most. */
  outboxBytesMax: number;
  journalPendingBytesMax: number;
  diskFreeBytesMin: number;
  /** Bodies of more bytes are sent, kept and given out in parts of so many. */
  largeBytes: number;
  partBytes: number;
  /** Sizes of the journal's segments, and of what is written ahead in them; left out: the store's own. */
  journal: { segmentBytes?: number; zeroBytes?: number };
  times: HeartbeatTimes;
  /** Protocol versions that it speaks; the newest it may use is the cluster's. */
  versions: VersionRange;
  limits: Partial<ReplicationLimits>;
}

export const brokerDefaults: Omit<BrokerOptions, 'node'> = {
  address: '',
  pid: 0,
  lead: true,
  groups: 16,
  replicas: 3,
  minInSync: 1,
  clients: ClientPolicy.any,
  placement: Placement.spread,
  memoryBytes: 256 * 1024 * 1024,
  memoryHighBytes: Number.POSITIVE_INFINITY,
  diskAlarm: DiskAlarm.node,
  outboxBytesMax: 64 * 1024 * 1024,
  journalPendingBytesMax: 64 * 1024 * 1024,
  diskFreeBytesMin: 50 * 1024 * 1024,
  largeBytes,
  partBytes,
  journal: {},
  times: heartbeatTimes,
  versions: protocolVersions,
  limits: {},
};
