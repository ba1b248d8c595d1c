/** What a soak happens to: brokers, one of them with a small disk, and an etcd of three members, each a host of its own. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type EtcdCluster, startEtcdCluster } from '../etcd-cluster.js';
import type { ClusterProcesses } from '../cluster-processes.js';
import type { EtcdProcesses } from '../etcd-processes.js';
import { type Host, Hosts } from '../hosts.js';
import type { NodeProcess } from '../node-process.js';
import type { Seeded } from '../seeded.js';
import { SmallDisk } from '../small-disk.js';
import { heapProbe } from './heap-probe.js';

const members = 3;
const diskBytes = 512 * 1024 * 1024;

export class SoakWorld {
  readonly cluster: ClusterProcesses;
  readonly etcd: EtcdProcesses;
  readonly hosts: Hosts;
  /** Of the first broker. */
  readonly disk: SmallDisk;
  /** A broker that is never ended: what it gathers in its memory would show. */
  readonly elder: NodeProcess;
  /** Where it writes what it holds in memory: see heap-probe.ts. */
  readonly looks: string;
  private readonly setup: EtcdCluster;

  private constructor(setup: EtcdCluster, hosts: Hosts, disk: SmallDisk, elder: NodeProcess) {
    this.setup = setup;
    this.cluster = setup.cluster;
    this.etcd = setup.etcd;
    this.hosts = hosts;
    this.disk = disk;
    this.elder = elder;
    this.looks = join(setup.cluster.folder, 'looks.jsonl');
  }

  /** Resolves when all brokers serve and every group has its replicas. @param options more of `understudy serve`'s */
  static async start(random: Seeded, brokers: number, options: readonly string[]): Promise<SoakWorld> {
    const hosts = Hosts.make(brokers + members);
    const setup = await startEtcdCluster({ nodes: brokers, options, hosts: hosts.all, start: false });
    const { nodes, folder } = setup.cluster;
    const disk = new SmallDisk(diskBytes, join(folder, nodes[0]!.name));
    const world = new SoakWorld(setup, hosts, disk, random.some(nodes, 1)[0]!);
    try {
      await Promise.all(nodes.map((node) => node.start(node === world.elder ? { flags: heapProbe(world.looks) } : {})));
      await world.cluster.untilComplete();
    } catch (error) {
      await world.close(false);
      throw error;
    }
    return world;
  }

  get nodes(): readonly NodeProcess[] {
    return this.cluster.nodes;
  }

  /** Those that may be ended. */
  get mortals(): NodeProcess[] {
    return this.nodes.filter((node) => node !== this.elder);
  }

  get etcdHosts(): Host[] {
    return Array.from({ length: members }, (_, member) => this.etcd.hostOf(member));
  }

  othersThan(node: NodeProcess): NodeProcess[] {
    return this.nodes.filter((other) => other !== node);
  }

  /** Removes what is on the disk of a broker that does not run. */
  empty(node: NodeProcess): void {
    const data = join(this.cluster.folder, node.name);
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
  }

  /** Throws if a broker has ended that nobody ended. */
  assertAllRun(): void {
    const gone = this.nodes.filter(({ pid }) => pid === 0);
    if (gone.length > 0)
      throw new Error(`ended by itself: ${gone.map(({ name, log }) => `${name}, see ${log}`).join()}`);
  }

  async close(well: boolean): Promise<void> {
    this.hosts.heal();
    await this.cluster.killAll();
    this.disk[Symbol.dispose]();
    await this.setup.close(well);
  }
}
