/**
 * What a simulated process gets from its world, and what the checkers may look at in it. `sim/broker-node.ts` fits the
 * production node to this; tests of the simulator itself use a trivial broker instead.
 */
import type { Clock } from '../src/base/clock.js';
import type { Logger } from '../src/base/logger.js';
import type { Random } from '../src/base/random.js';
import type { Rules } from '../src/base/rules.js';
import type { Slices } from '../src/base/slices.js';
import type { Turn } from '../src/base/turn.js';
import type { VersionRange } from '../src/base/versions.js';
import type { Transport } from '../src/cluster/byte-stream.js';
import type { ClusterAccess } from '../src/cluster/wiring/cluster-access.js';
import type { ClusterPolicies } from '../src/cluster/wiring/cluster-policies.js';
import type { Placement } from '../src/cluster/map.js';
import type { Coordinator } from '../src/cluster/coordinator/coordinator.js';
import type { Broker } from '../src/model/broker.js';
import type { Disk } from '../src/store/disk.js';

export interface SimPorts {
  readonly name: string;
  /** Where links between brokers listen, HOST:PORT. */
  readonly address: string;
  readonly clock: Clock;
  readonly turn: Turn;
  readonly slices: Slices;
  readonly random: Random;
  readonly disk: Disk;
  readonly transport: Transport;
  readonly coordinator: Coordinator;
  readonly logger: Logger;
  readonly rules: Rules;
  /** Protocol versions that it speaks. */
  readonly versions: VersionRange;
  readonly options: ClusterOptions;
}

export interface ClusterOptions {
  groups: number;
  replicas: number;
  minInSync: number;
  placement: Placement;
  /** Bodies beyond this live on disk only. */
  memoryBytes: number;
  /** Bodies of some kilobytes are large. */
  large: boolean;
  /** Of the journal's segments: small ones are left, compacted and removed in a run. 0: the product's, which no run fills. */
  segmentBytes: number;
  /** Long walks take many turns. */
  smallSlices: boolean;
}

export interface SimProcess {
  readonly broker: Broker;
  readonly policies: ClusterPolicies;
  readonly access: ClusterAccess;
  readonly probe: NodeProbe;
  /** Resolves when the node serves clients. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What an operator can ask of a broker. */
  readonly operator: SimOperator;
}

export interface SimOperator {
  /** A node that is not in sync leads the group, which waits for others: resolves to '' or to why not. */
  override(group: number): Promise<string>;
  /** The cluster is to forget the node: resolves to '' or to why not. */
  forget(node: string): Promise<string>;
  /** Wishes; `undefined` takes one back. Each rejects if it cannot be fulfilled. */
  transfer(group: number, to: string | undefined): Promise<void>;
  transferReplica(group: number, from: string, to: string): Promise<void>;
  drain(node: string): Promise<void>;
  revive(node: string): Promise<void>;
}

export type ProcessFactory = (ports: SimPorts) => SimProcess;

export type ReplicaRole = 'primary' | 'backup' | 'joining' | 'none';

export interface GroupProbe {
  group: number;
  role: ReplicaRole;
  /** The epoch it acts in. */
  epoch: number;
  /** A primary that has committed all it found at its takeover. */
  settled: boolean;
}

/** A queue as one replica has it: what must be equal on all in-sync replicas at rest. */
export interface QueueProbe {
  incarnation: number;
  durable: boolean;
  /** Ascending. */
  positions: number[];
  /** How often messages came back, where that is counted. */
  returns: string;
}

/** The checkers' windows into a process. They are looked through between events, never during one. */
export interface NodeProbe {
  readonly boot: number;
  /** A clients' port is open: the node has been admitted and knows the wiring. */
  readonly ready: boolean;
  /** '' or why it must be restarted by an operator (its disk has failed). */
  readonly broken: string;
  groups(): GroupProbe[];
  /** The epoch of the primary that this node takes deliveries and confirms of `group` from; 0 = of none. */
  attachedEpoch(group: number): number;
  /** What ties it to that primary; another object after each time that the link was lost. */
  attachment(group: number): unknown;
  /** The group of a queue; -1 = the node does not know the queue. */
  groupOf(vhost: string, queue: string): number;
  /** The groups between which queues move now. */
  moves(): { from: number; to: number }[];
  /** The incarnation of a queue; 0 = the node does not know it. */
  incarnationOf(vhost: string, queue: string): number;
  /** How far the node has the group's log: after a restart, what its journal had. -1 = it has none. */
  logEnd(group: number): number;
  /** Queues of a group as committed on this replica. */
  queues(group: number): QueueProbe[];
  /** True if the committed state of this replica has the queue. */
  hasQueue(group: number, incarnation: number): boolean;
  /** True if the committed state of this replica has the message. */
  has(group: number, incarnation: number, position: number): boolean;
  /** One line per declaration, sorted: equal on all nodes at rest. */
  wiring(): string[];
  /** Counters that must be 0 when nothing is under way, by name (outboxes, pins, tails, held messages of nobody). */
  residue(): Record<string, number>;
  /** The group in which messages wait that an exchange delays. */
  delayGroup(vhost: string, exchange: string): number;
  /** Messages that wait for their time, or are in the outboxes, of groups that the node leads or follows. */
  owed(): number;
}
