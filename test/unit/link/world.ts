/** Nodes with links, and liveness if wanted, on the simulated network. */
import type { Logger } from '../../../src/base/logger.js';
import { silentLogger } from '../../../src/base/logger.js';
import { allRules, type Rules } from '../../../src/base/rules.js';
import { Turn } from '../../../src/base/turn.js';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { Links } from '../../../src/cluster/link/links.js';
import { HeartbeatLiveness, type HeartbeatTimes } from '../../../src/cluster/liveness/heartbeats.js';
import type { Member, Replica } from '../../../src/cluster/map.js';
import { SimClock } from '../../../sim/clock.js';
import { type Context, EventLoop } from '../../../sim/event-loop.js';
import { SimNetwork } from '../../../sim/network.js';
import { SimRandom } from '../../../sim/random.js';

export interface NodeOptions {
  boot?: number;
  store?: string;
  cluster?: string;
  secret?: string;
  /** Clock rate; 1 = exact. */
  rate?: number;
  liveness?: boolean;
  times?: Partial<HeartbeatTimes>;
  rules?: Partial<Rules>;
  mayRenew?: () => boolean;
  logger?: Logger;
}

export class TestNode {
  readonly name: string;
  readonly context: Context;
  readonly clock: SimClock;
  readonly replica: Replica;
  readonly links: Links;
  readonly liveness: HeartbeatLiveness | undefined;
  /** What was reported, in words. */
  readonly events: string[] = [];
  private readonly world: World;

  constructor(world: World, name: string, options: NodeOptions) {
    this.world = world;
    this.name = name;
    this.context = world.loop.context(name);
    this.clock = new SimClock(world.loop, this.context, options.rate ?? 1, world.random.int(1_000_000));
    this.replica = { node: name, store: options.store ?? `store-${name}`, boot: options.boot ?? world.nextBoot++ };
    const logger = options.logger ?? silentLogger;
    this.links = new Links({
      self: {
        ...this.replica,
        cluster: options.cluster ?? 'c1',
        ordinal: this.replica.boot,
        address: '',
        amqp: '',
        http: '',
      },
      secret: new ClusterSecret(options.secret ?? 'of this world'),
      transport: world.network.transport(name, this.context),
      clock: this.clock,
      turn: new Turn((run) => world.loop.after(0, this.context, run)),
      random: world.random.fork(`links of ${name}`),
      logger,
    });
    if (options.liveness) {
      this.liveness = new HeartbeatLiveness({
        self: this.replica,
        links: this.links,
        clock: this.clock,
        logger,
        rules: { ...allRules, ...options.rules },
        ...(options.times && { times: options.times }),
        ...(options.mayRenew && { mayRenew: options.mayRenew }),
      });
      this.liveness.observe({
        gone: (node, boot, reason) => this.events.push(`gone ${node}#${boot} ${reason}`),
        lapsed: (node, boot) => this.events.push(`lapsed ${node}#${boot}`),
        back: (node, boot) => this.events.push(`back ${node}#${boot}`),
      });
    }
    this.links.observe({
      up: (link) => this.events.push(`up ${link.peer.node}#${link.peer.boot}`),
      down: (link, evidence) => this.events.push(`down ${link.peer.node}#${link.peer.boot} ${evidence}`),
    });
    void this.links.listen(`${name}:1`);
  }

  get member(): Member {
    const { replica } = this;
    return {
      ...replica,
      ordinal: replica.boot,
      address: `${this.name}:1`,
      amqp: '',
      http: '',
      pid: 1,
      lead: true,
      state: 'ready',
    };
  }

  /** kill -9. */
  kill(): void {
    this.world.nodes.delete(this);
    this.world.loop.kill(this.context);
    this.world.network.processDied(this.name, this.context, false, true);
  }

  freeze(): void {
    this.world.loop.freeze(this.context);
  }

  thaw(): void {
    this.world.loop.thaw(this.context);
  }
}

export class World {
  readonly loop: EventLoop = new EventLoop();
  readonly random: SimRandom;
  readonly network: SimNetwork;
  readonly nodes: Set<TestNode> = new Set();
  nextBoot = 1;

  constructor(seed: number = 1) {
    this.random = new SimRandom(seed);
    this.network = new SimNetwork(this.loop, this.random.fork('network'), {
      latencyMs: 0.1,
      jitterMs: 0.1,
      bytesPerMs: 100_000,
    });
  }

  node(name: string, options: NodeOptions = {}): TestNode {
    const node = new TestNode(this, name, options);
    this.nodes.add(node);
    return node;
  }

  /** Gives every node the map of all nodes. */
  introduce(): void {
    const members = [...this.nodes].map((node) => node.member);
    for (const node of this.nodes) this.loop.after(0, node.context, () => node.links.setMembers(members));
  }

  /** Lets `ms` pass. */
  async run(ms: number): Promise<void> {
    const end = this.loop.now + ms;
    this.loop.at(end, null, () => this.loop.stop());
    await this.loop.run();
  }
}
