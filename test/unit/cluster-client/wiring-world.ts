/**
 * Wiring between nodes: every node has tables, a wiring client and a wiring server; the system group's log is a list of
 * committed records, which reach the nodes' tables one after the other.
 */
import { silentLogger } from '../../../src/base/logger.js';
import { QueueAccess } from '../../../src/cluster/client/queue-access.js';
import { ClusterWiring } from '../../../src/cluster/wiring/cluster-wiring.js';
import type { BootLives, SystemGroup, SystemLeader } from '../../../src/cluster/wiring/ports.js';
import { WiringClient } from '../../../src/cluster/wiring/wiring-client.js';
import { WiringServer } from '../../../src/cluster/wiring/wiring-server.js';
import { localGroup } from '../../../src/cluster/map.js';
import { EnqueueView, forEachDequeued, RecordKind } from '../../../src/log/record.js';
import { decodeObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';
import type { TestGroup, TestNode, World } from './world.js';

/** One node's view of the wiring. */
export class WiringNode implements SystemGroup, BootLives {
  readonly node: TestNode;
  readonly tables: WiringTables = new WiringTables();
  readonly server: WiringServer;
  readonly client: WiringClient;
  readonly wiring: ClusterWiring;
  /** False: new wiring does not reach it. */
  follows = true;
  private readonly system: WiringWorld;
  private readonly progressListeners: (() => void)[] = [];
  private readonly versionListeners: (() => void)[] = [];
  private applied = 0;

  constructor(system: WiringWorld, node: TestNode) {
    this.system = system;
    this.node = node;
    const { clock, links, directory, clients, name } = node;
    this.server = new WiringServer({
      system: this,
      tables: this.tables,
      chooseGroup: (queue) => (queue.owner === '' ? 1 : localGroup + node.boot),
      replicasMax: () => 3,
      version: () => 2,
      lives: this,
      links,
      clock,
      logger: silentLogger,
    });
    const { tables, server } = this;
    this.client = new WiringClient({ node: name, tables, feed: this, directory, server, links, clock });
    const random = system.world.random.fork(name);
    const queues = new QueueAccess({ tables, clock, isCurrent: () => true });
    this.wiring = new ClusterWiring({ tables, client: this.client, clients, queues, random, logger: silentLogger });
  }

  leader(): SystemLeader | undefined {
    const { group } = this.system;
    if (group.leader !== this.node || group.primary === undefined) return undefined;
    if (this.node.directory.leadership(0)?.epoch !== group.epoch) return undefined;
    const appliedEverywhere = Math.min(...[...this.system.nodes.values()].map((node) => node.tables.version));
    return { epoch: group.epoch, appender: group.primary, inherited: 0, appliedEverywhere };
  }
  onProgress(listener: () => void): void {
    this.progressListeners.push(listener);
  }
  onVersion(listener: () => void): void {
    this.versionListeners.push(listener);
  }
  isOver(node: string): boolean {
    return !this.system.world.nodes.has(node);
  }

  /** Takes in what committed since the last time. */
  follow(): void {
    const { committed } = this.system.group;
    if (!this.follows || this.applied === committed.length) return;
    for (; this.applied < committed.length; this.applied++) this.apply(committed[this.applied]!);
    for (const listener of this.versionListeners) listener();
  }
  progressed(): void {
    for (const listener of this.progressListeners) listener();
  }

  private apply(record: Uint8Array): void {
    const view = new DataView(record.buffer);
    if (record[4] === RecordKind.enqueue) {
      const { bodyStart, bodyLength, lsn } = new EnqueueView().set(record, view, 0);
      this.tables.appeared(lsn, decodeObject(record.subarray(bodyStart, bodyStart + bodyLength))!);
    } else forEachDequeued(record, view, 0, (position) => this.tables.gone(position));
    this.tables.applied(view.getFloat64(8, true));
  }
}

export class WiringWorld {
  readonly world: World;
  readonly group: TestGroup;
  readonly nodes: Map<string, WiringNode> = new Map();

  constructor(world: World, nodes: readonly TestNode[], group: TestGroup) {
    this.world = world;
    this.group = group;
    for (const node of nodes) {
      const wired = new WiringNode(this, node);
      this.nodes.set(node.name, wired);
      node.clock.every(1, () => {
        wired.follow();
        wired.progressed();
      });
    }
  }

  at(node: TestNode): WiringNode {
    return this.nodes.get(node.name)!;
  }
}
