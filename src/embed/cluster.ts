import { join } from 'node:path';
import { type Logger, silentLogger } from '../base/logger.js';
import { brokerDefaults } from '../broker-options.js';
import type { Coordinator } from '../cluster/coordinator/coordinator.js';
import { LocalCoordinator } from '../cluster/coordinator/local.js';
import { localSecret } from '../cluster/coordinator/local-folder.js';
import { MemoryCoordinator } from '../cluster/coordinator/memory.js';
import type { ClientPolicy, Placement } from '../cluster/map.js';
import { ClusterSecret } from '../cluster/link/cluster-secret.js';
import { formatEndpoint } from '../config/endpoint.js';
import { Node } from '../node.js';
import { ProcessClock } from '../process/clock.js';
import { processRandom } from '../process/random.js';
import type { Disk } from '../store/disk.js';
import { checkCluster, checkWhole } from './checks.js';
import { amqpUrlOf, type CommonOptions, endpointOf, inMemory, memoryOf, usersOf } from './options.js';

export interface EmbeddedClusterOptions extends CommonOptions {
  /** Number of brokers, n1, n2, ...; default 3. */
  nodes?: number;
  /** Replicas of each queue; default 3. */
  replicas?: number;
  /** Replicas that must have a message before its confirm; default 1. */
  minInSync?: number;
  /** Replicated groups; default 16. */
  groups?: number;
  /** Default `any`: every node serves clients. `primary`: one does, the others are hot standbys. */
  clients?: ClientPolicy;
  /** Where groups are led: `spread` over all nodes, or by a `single` one, which is what `clients: 'primary'` needs. */
  placement?: Placement;
  /** Names of nodes that are primary of nothing, as long as another can be. */
  followers?: readonly string[];
  /** True: every node serves HTTP on a free port. Default false. */
  http?: boolean;
}

const pollMs = 10;
const nodesMax = 31;

/**
 * A whole cluster inside a program: real brokers and real links over loopback, in one process. With `data: 'memory'` disks and
 * coordinator last as long as the object; in a folder they last as those of `understudy cluster` do.
 *
 *   await using cluster = await Cluster.start({ nodes: 3 });
 *   const connection = await amqplib.connect(cluster.amqpUrl('n1'));
 *   await cluster.killNode('n1');
 */
export class Cluster implements AsyncDisposable {
  readonly names: readonly string[];
  private readonly options: EmbeddedClusterOptions;
  private readonly logger: Logger;
  private readonly memory: MemoryCoordinator | undefined;
  private readonly memorySecret: ClusterSecret = new ClusterSecret(processRandom.hex(64));
  private readonly disks: Map<string, Disk> = new Map();
  private readonly nodes: Map<string, Node> = new Map();

  private constructor(options: EmbeddedClusterOptions) {
    const { nodes = 3, data = inMemory, logger = silentLogger } = options;
    checkWhole('nodes', nodes, 1, nodesMax);
    this.options = options;
    this.logger = logger;
    this.names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`);
    checkCluster(options, this.names);
    if (data !== inMemory) return;
    this.memory = new MemoryCoordinator(processRandom.hex(16));
    for (const name of this.names) this.disks.set(name, Node.memoryDisk());
  }

  /**
   * Resolves when every queue can be used through every node. Whether all replicas are there yet `complete` tells. Rejects with
   * RangeError if an option makes no sense.
   */
  static async start(options: EmbeddedClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    try {
      // Whoever founds the cluster leads the group of its wiring: no follower.
      const { followers = [] } = options;
      const leaders = cluster.names.filter((name) => !followers.includes(name));
      await Promise.all(leaders.map((name) => cluster.startNode(name)));
      await Promise.all(cluster.names.map((name) => cluster.startNode(name)));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Starts a node that is not running. Throws RangeError for an unknown one. */
  async startNode(name: string): Promise<void> {
    if (!this.names.includes(name)) throw new RangeError(`there is no node ${name}: ${this.names.join(', ')}`);
    if (this.nodes.has(name)) return;
    const { options, logger } = this;
    const { replicas = brokerDefaults.replicas, minInSync = brokerDefaults.minInSync } = options;
    const node = await Node.start(
      {
        node: name,
        amqp: endpointOf(undefined),
        http: options.http === true ? endpointOf(undefined) : null,
        amqps: null,
        https: null,
        tls: null,
        data: this.disks.get(name) ?? join(options.data!, name),
        cluster: { listen: endpointOf(undefined), tls: null, ...(await this.coordinator()) },
        logger: logger.child({ broker: name }),
        ...usersOf(options),
        broker: {
          ...memoryOf(options),
          replicas,
          minInSync,
          clients: options.clients ?? brokerDefaults.clients,
          placement: options.clients === 'primary' ? 'single' : (options.placement ?? brokerDefaults.placement),
          groups: options.groups ?? brokerDefaults.groups,
          lead: !(options.followers ?? []).includes(name),
        },
      },
      (reason) => {
        logger.error('a node ends', { broker: name, reason });
        void this.killNode(name).catch(() => {});
      },
    );
    this.nodes.set(name, node);
  }

  /** Clean stop of one node: its clients get connection.close. */
  async stopNode(name: string): Promise<void> {
    const node = this.nodes.get(name);
    this.nodes.delete(name);
    await node?.stop();
  }

  /** Ends a node without a word to clients or other nodes, much as kill -9 would; its disk stays. */
  async killNode(name: string): Promise<void> {
    const node = this.nodes.get(name);
    this.nodes.delete(name);
    await node?.kill();
  }

  /** Names of the nodes that run. */
  get running(): string[] {
    return [...this.nodes.keys()].sort();
  }

  /** Of a node that runs; without a name, of any. For clients of this machine, as the first of the users. */
  amqpUrl(name: string = this.running[0] ?? ''): string {
    return amqpUrlOf(this.options, this.node(name).amqp!);
  }

  /** '' without HTTP. */
  httpUrl(name: string = this.running[0] ?? ''): string {
    const { http } = this.node(name);
    return http === null ? '' : `http://${formatEndpoint(http)}`;
  }

  /** Name of the node that is primary for a queue of vhost `/`. Rejects with RefusedError if there is no such queue. */
  async primaryOf(queue: string): Promise<string> {
    const status = await this.node(this.running[0] ?? '').broker.broker.queueStatus('/', queue);
    return status.leader;
  }

  /** Resolves when all nodes are ready and every group has its replicas: not while a node is stopped. Rejects after `timeoutMs`. */
  async complete(timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.isComplete) {
      if (performance.now() > deadline) throw new Error(`the cluster is not complete after ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  /** All nodes run, are ready, and every group has its replicas. */
  get isComplete(): boolean {
    return (
      this.nodes.size === this.names.length && [...this.nodes.values()].every((node) => node.broker.report.isComplete())
    );
  }

  /** Stops all nodes. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.running.map((name) => this.stopNode(name)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private node(name: string): Node {
    const node = this.nodes.get(name);
    if (node === undefined) throw new RangeError(`node ${name} is not running`);
    return node;
  }

  private async coordinator(): Promise<{ coordinator: Coordinator; secret: ClusterSecret }> {
    if (this.memory !== undefined) return { coordinator: this.memory.handle(), secret: this.memorySecret };
    const folder = join(this.options.data!, 'coordinator');
    const secret = new ClusterSecret(await localSecret(folder, processRandom));
    const coordinator = await LocalCoordinator.open({
      folder,
      clock: new ProcessClock(),
      random: processRandom,
      logger: this.logger,
    });
    return { coordinator, secret };
  }
}
