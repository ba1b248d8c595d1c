/** The production node, fitted to the simulator: everything of a broker but sockets for clients, HTTP and signals. */
import { Hashing } from '../src/model/access/objects.js';
import { delayedIncarnation, outboxIncarnation, partsIncarnation } from '../src/model/queue/outbox.js';
import { RefusedError } from '../src/base/errors.js';
import { BrokerNode } from '../src/broker-node.js';
import { ClusterSecret } from '../src/cluster/link/cluster-secret.js';
import { isLocalGroup } from '../src/cluster/map.js';
import { simHeaders } from './client/message.js';
import { plantedDisk } from './planted-disk.js';
import type { GroupProbe, NodeProbe, QueueProbe, SimPorts, SimProcess } from './node-ports.js';

/** Of every simulated cluster. */
const secret = new ClusterSecret('what all simulated nodes know');

/** Zeros written ahead: as many as a simulated journal has use for. */
const zeroBytes = 16 * 1024;

/** Sizes of large messages and their parts. */
const smallBodies = { largeBytes: 1500, partBytes: 2000 };

/** A join takes many answers. */
const smallLimits = { backfillPositions: 3, backfillBytes: 500 };

export function createSimProcess(ports: SimPorts): SimProcess {
  const { clock, turn, random, logger, disk, slices, rules, transport, coordinator, options } = ports;
  const node = new BrokerNode(
    {
      clock,
      turn,
      random,
      logger,
      disk: plantedDisk(disk, rules),
      slices,
      rules,
      cluster: { transport, coordinator, secret },
      headers: simHeaders,
      firstUsers: () => Promise.resolve([{ name: 'guest', tags: [], hashing: Hashing.sha256, hash: '', scram: '' }]),
    },
    {
      node: ports.name,
      address: ports.address,
      groups: options.groups,
      replicas: options.replicas,
      minInSync: options.minInSync,
      placement: options.placement,
      memoryBytes: options.memoryBytes,
      ...(options.large ? smallBodies : { largeBytes: Number.POSITIVE_INFINITY }),
      versions: ports.versions,
      journal: options.segmentBytes === 0 ? { zeroBytes } : { zeroBytes, segmentBytes: options.segmentBytes },
      limits: { timeShareMs: 700, ...(options.smallSlices ? smallLimits : {}) },
    },
  );
  return {
    get broker() {
      return node.broker;
    },
    get policies() {
      return node.policies;
    },
    get access() {
      return node.access;
    },
    probe: new BrokerProbe(node),
    start: () => node.start(),
    stop: () => node.stop(),
    operator: {
      override: (group) => {
        const request = { group, node: undefined, acceptLoss: true, asker: 'the simulator' };
        return refusalOf(node.override!.run(request));
      },
      forget: (name) => refusalOf(node.forgetting!.forget(name, 'the simulator')),
      transfer: (group, to) => node.operations.transfer(group, to),
      transferReplica: (group, from, to) => node.operations.transferReplica(group, from, to),
      drain: (name) => node.operations.drain(name),
      revive: (name) => node.operations.revive(name),
    },
  };
}

/** '' if it is done. */
async function refusalOf(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
    return '';
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

class BrokerProbe implements NodeProbe {
  private readonly node: BrokerNode;

  constructor(node: BrokerNode) {
    this.node = node;
  }

  get boot(): number {
    return (this.node.self as BrokerNode['self'] | undefined)?.boot ?? 0;
  }
  get ready(): boolean {
    return this.node.isReady;
  }
  get broken(): string {
    if (this.node.failure !== '') return this.node.failure;
    const recovered = (this.node.replication as BrokerNode['replication'] | undefined) !== undefined;
    return recovered && this.node.store.journal.state === 'failed' ? 'its journal has failed' : '';
  }

  groups(): GroupProbe[] {
    const groups: GroupProbe[] = [];
    for (const [group, replica] of this.replicas) {
      if (isLocalGroup(group)) continue;
      const { primary, backup, joining, log } = replica;
      const role =
        primary !== undefined ? 'primary' : joining ? 'joining' : backup?.following === true ? 'backup' : 'none';
      const epoch = (primary ?? backup ?? replica).epoch;
      groups.push({ group, role, epoch, settled: primary !== undefined && log.committed >= primary.takeoverEnd });
    }
    return groups;
  }

  attachedEpoch(group: number): number {
    return this.node.clients.client(group).attachment?.epoch ?? 0;
  }

  attachment(group: number): unknown {
    // It may be at its start still.
    return (this.node.clients as BrokerNode['clients'] | undefined)?.client(group).attachment;
  }

  groupOf(vhost: string, queue: string): number {
    return this.node.tables.queue(vhost, queue)?.group ?? -1;
  }

  moves(): { from: number; to: number }[] {
    return [...this.node.tables.moves.all()].map(({ source, target }) => ({ from: source.group, to: target.group }));
  }

  incarnationOf(vhost: string, queue: string): number {
    return this.node.tables.queue(vhost, queue)?.position ?? 0;
  }

  logEnd(group: number): number {
    return this.replicas.get(group)?.log.end ?? -1;
  }

  queues(group: number): QueueProbe[] {
    const state = this.replicas.get(group)?.state;
    if (state === undefined) return [];
    const returns = state.returns.list();
    const of = (incarnation: number): [position: number, ...unknown[]][] =>
      returns.filter(([queue]) => queue === incarnation).map(([, ...rest]) => rest);
    return [...state.allQueues()].map(({ incarnation, options, index }) => ({
      incarnation,
      durable: options.durable,
      returns: String(of(incarnation).sort(([a], [b]) => a - b)),
      positions: index.positionsAscending(0, Number.MAX_SAFE_INTEGER),
    }));
  }

  hasQueue(group: number, incarnation: number): boolean {
    return this.replicas.get(group)?.state.queue(incarnation) !== undefined;
  }

  has(group: number, incarnation: number, position: number): boolean {
    return this.replicas.get(group)?.state.queue(incarnation)?.index.find(position) !== undefined;
  }

  wiring(): string[] {
    return [...this.node.tables.objects()].map((object) => JSON.stringify(object)).sort();
  }

  residue(): Record<string, number> {
    const { clients, store } = this.node;
    let delivered = 0;
    for (const { primary, state } of this.replicas.values())
      if (primary !== undefined) for (const { index } of state.allQueues()) delivered += index.delivered;
    let needless = 0;
    let strayParts = 0;
    for (const { state } of this.replicas.values()) {
      let parts = 0;
      for (const body of state.large.all()) {
        if (body.messages === 0) needless++;
        parts += body.count;
      }
      strayParts += Math.abs((state.queue(partsIncarnation)?.index.size ?? 0) - parts);
    }
    const unfinished = clients.unfinished();
    // An outbox is consumed from for as long as its group is led; some have not had anything yet.
    const senders = this.node.outboxes.count;
    unfinished.subscriptions = Math.max(0, unfinished.subscriptions - senders);
    unfinished.channels = Math.max(0, unfinished.channels - senders);
    return {
      ...unfinished,
      'bytes in outboxes': clients.memory.bytes,
      'queues whose publishers wait': clients.stops.size,
      'messages that nobody holds': delivered,
      'bodies of large messages without a message': needless,
      'parts of no large message': strayParts,
      'bytes on their way to the disk': store.journal.pendingBytes,
    };
  }

  delayGroup(vhost: string, exchange: string): number {
    return this.node.replication.delayGroup(vhost, exchange);
  }

  owed(): number {
    let owed = 0;
    // Backups as well: a group that is on its way to another node has no primary for a moment.
    for (const { state } of this.replicas.values())
      for (const queue of [delayedIncarnation, outboxIncarnation]) owed += state.queue(queue)?.index.size ?? 0;
    return owed;
  }

  private get replicas(): BrokerNode['replication']['replicas'] {
    const replication = this.node.replication as BrokerNode['replication'] | undefined;
    return replication?.replicas ?? new Map();
  }
}
