/**
 * What goes wrong in a run: a handful of faults at random times, of random length, some of them at the same time. All are
 * things that machines, kernels, networks and operators do; nothing here tells a lie that a real system does not tell.
 */
import { type GroupRecord, MapKey } from '../src/cluster/map.js';
import type { CrashMode } from './disk-file.js';
import type { SimNode } from './node.js';
import type { SimRandom } from './random.js';
import { excuseWhatMayBeLost } from './survivors.js';
import type { SimWorld } from './world.js';

export type FaultKind = keyof typeof faultWeights;

/** How often each fault comes, relative to the others. */
export const faultWeights = {
  kill: 6,
  powerCut: 4,
  killAll: 1,
  killTwo: 2,
  freeze: 4,
  isolate: 3,
  blockOneWay: 2,
  blockPair: 2,
  breakLinks: 4,
  lateHeartbeats: 2,
  slowNode: 1,
  slowDisk: 2,
  failingDisk: 1,
  fullDisk: 1,
  coordinatorDown: 2,
  coordinatorCut: 1,
  lostAnswers: 3,
} as const;

/** A failed disk shows at the next write. */
const noticedMs = 500;

export class FaultDirector {
  /** Faults begun. */
  count = 0;
  private readonly world: SimWorld;
  private readonly random: SimRandom;
  private readonly kinds: FaultKind[];
  /** Nodes that are down and will be started at the end, if not before. */
  private healing = false;

  constructor(world: SimWorld, kinds: readonly FaultKind[] = Object.keys(faultWeights) as FaultKind[]) {
    this.world = world;
    this.random = world.random.fork('faults');
    // Each run has only some of the kinds: so some runs are all crashes, others all partitions, and rare pairs meet.
    const chosen = this.random.shuffle(kinds).slice(0, 2 + this.random.int(Math.max(1, kinds.length - 1)));
    this.kinds = chosen.flatMap((kind) => Array<FaultKind>(faultWeights[kind]).fill(kind));
  }

  /** Makes `count` faults begin within the next `durationMs`; resolves when that is over. */
  async run(count: number, durationMs: number): Promise<void> {
    const times = Array.from({ length: count }, () => this.random.float() * durationMs).sort((a, b) => a - b);
    const start = this.world.loop.now;
    for (const time of times) {
      await this.world.loop.sleep(Math.max(0, start + time - this.world.loop.now));
      if (this.random.chance(0.5)) await this.stir(0, 3);
      this.begin(this.random.pick(this.kinds));
    }
    await this.world.loop.sleep(Math.max(0, start + durationMs - this.world.loop.now));
  }

  /** Makes the clients busy, some milliseconds before something happens. */
  async stir(minMs: number, maxMs: number): Promise<void> {
    for (const client of this.world.onTrouble) client.stir();
    await this.world.loop.sleep(this.random.between(minMs, maxMs));
  }

  begin(kind: FaultKind): void {
    this.count++;
    this.world.history.disturb();
    this[kind]();
  }

  /** Ends all faults, for good. */
  heal(): void {
    this.healing = true;
    this.mend();
  }

  /** Ends all faults, now. */
  mend(): void {
    const { world } = this;
    world.trace.add('director', 'heals everything');
    world.network.healAll();
    world.coordinator.heal();
    for (const node of world.nodes) {
      node.thaw();
      node.context.eventCostMs = 0;
      this.mendDisk(node);
      if (!node.alive) node.start();
      world.outOfTrouble(node.name);
    }
    this.restartBroken();
    // A node that stood still finds out later.
    world.loop.after(noticedMs, null, () => this.restartBroken());
  }

  /** An operator starts those again whose disk has failed. */
  private restartBroken(): void {
    for (const node of this.world.nodes) if ((node.process?.probe.broken ?? '') !== '') this.restart(node);
  }

  // ---- which node ----

  /** As often as not the primary of some group. */
  private victim(): SimNode {
    const { world, random } = this;
    const entry = world.coordinator.peek(MapKey.group(random.int(world.options.groups + 1)));
    if (random.chance(0.5) && entry !== undefined) {
      const { primary } = JSON.parse(entry.value) as GroupRecord;
      const node = world.nodes.find((candidate) => candidate.name === primary.node);
      if (node !== undefined) return node;
    }
    return random.pick(world.nodes);
  }

  private later(minMs: number, maxMs: number, work: () => void): void {
    // Mostly short, sometimes long.
    const share = this.random.float() ** 2;
    this.world.loop.after(minMs + share * (maxMs - minMs), null, () => {
      if (!this.healing) work();
    });
  }

  // ---- processes ----

  private crash(nodes: readonly SimNode[], power: boolean): void {
    const alive = nodes.filter((node) => node.alive);
    excuseWhatMayBeLost(this.world, alive);
    for (const node of alive) {
      const disk: CrashMode = power ? this.random.pick(['none', 'prefix', 'torn', 'torn'] as const) : 'all';
      this.world.inTrouble(node.name);
      node.crash({ disk, machine: power && this.random.chance(0.5) });
      this.later(20, 5000, () => {
        node.start();
        this.world.outOfTrouble(node.name);
      });
    }
  }

  private restart(node: SimNode): void {
    excuseWhatMayBeLost(this.world, [node]);
    node.crash({ disk: 'all', machine: false });
    node.start();
  }

  private kill(): void {
    this.crash([this.victim()], false);
  }

  private powerCut(): void {
    this.crash([this.victim()], true);
  }

  private killAll(): void {
    this.crash(this.world.nodes, this.random.chance(0.7));
  }

  private killTwo(): void {
    this.crash(this.random.shuffle(this.world.nodes).slice(0, 2), this.random.chance(0.5));
  }

  private freeze(): void {
    const node = this.victim();
    if (!node.alive || node.frozen) return;
    excuseWhatMayBeLost(this.world, [node]);
    this.world.inTrouble(node.name);
    node.freeze();
    this.later(50, 8000, () => {
      node.thaw();
      this.world.outOfTrouble(node.name);
    });
  }

  private slowNode(): void {
    const node = this.victim();
    this.world.inTrouble(node.name);
    this.world.trace.add('director', `${node.name} is slow`);
    node.context.eventCostMs = this.random.between(0.05, 1);
    this.later(200, 3000, () => {
      node.context.eventCostMs = 0;
      this.world.outOfTrouble(node.name);
    });
  }

  // ---- network ----

  private isolate(): void {
    const node = this.victim();
    const others = this.world.nodes.filter((other) => other !== node);
    const coordinatorToo = this.random.chance(0.6);
    this.world.trace.add('director', `isolates ${node.name}${coordinatorToo ? ' from the coordinator too' : ''}`);
    this.blockAll(others.flatMap((other) => [[node, other] as const, [other, node] as const]));
    if (!coordinatorToo) return;
    this.world.coordinator.cut(node.name);
    this.later(100, 6000, () => this.world.coordinator.uncut(node.name));
  }

  private blockOneWay(): void {
    const [a, b] = this.random.shuffle(this.world.nodes) as [SimNode, SimNode];
    this.world.trace.add('director', `blocks ${a.name} to ${b.name}`);
    this.blockAll([[a, b]]);
  }

  private blockPair(): void {
    const [a, b] = this.random.shuffle(this.world.nodes) as [SimNode, SimNode];
    this.world.trace.add('director', `blocks ${a.name} and ${b.name}`);
    this.blockAll([
      [a, b],
      [b, a],
    ]);
  }

  private blockAll(ways: readonly (readonly [SimNode, SimNode])[]): void {
    const { network } = this.world;
    for (const [from, to] of ways) {
      network.block(from.name, to.name);
      this.world.inTrouble(from.name);
      this.world.inTrouble(to.name);
    }
    this.later(50, 6000, () => {
      this.world.trace.add('director', 'unblocks');
      for (const [from, to] of ways) {
        network.unblock(from.name, to.name);
        this.world.outOfTrouble(from.name);
        this.world.outOfTrouble(to.name);
      }
    });
  }

  private breakLinks(): void {
    const [a, b] = this.random.shuffle(this.world.nodes) as [SimNode, SimNode];
    const lateMs = this.random.pick([0, 20, 3000]);
    this.world.trace.add('director', `breaks the links of ${a.name} and ${b.name}, noticed within ${lateMs} ms`);
    this.world.network.breakConnections(a.name, b.name, lateMs);
    if (lateMs <= 20) return;
    for (const node of [a, b]) {
      this.world.inTrouble(node.name);
      this.world.loop.after(lateMs, null, () => this.world.outOfTrouble(node.name));
    }
  }

  /** False suspicion: everything arrives, but late. */
  private lateHeartbeats(): void {
    const { network, nodes } = this.world;
    const node = this.victim();
    const extraMs = this.random.between(100, 2500);
    this.world.trace.add('director', `delays ${node.name} by ${extraMs.toFixed(0)} ms`);
    this.world.inTrouble(node.name);
    for (const other of nodes) {
      if (other === node) continue;
      network.delay(node.name, other.name, extraMs);
      if (this.random.chance(0.5)) network.delay(other.name, node.name, extraMs);
    }
    this.later(200, 4000, () => {
      for (const other of nodes) {
        network.delay(node.name, other.name, 0);
        network.delay(other.name, node.name, 0);
      }
      this.world.outOfTrouble(node.name);
    });
  }

  // ---- disks ----

  private slowDisk(): void {
    const node = this.victim();
    const { disk } = node;
    disk.slowness = this.random.pick([10, 100, 1000]);
    this.world.trace.add('director', `disk of ${node.name} is slower by ${disk.slowness}`);
    this.world.inTrouble(node.name);
    this.later(200, 4000, () => {
      disk.slowness = 1;
      this.world.outOfTrouble(node.name);
    });
  }

  private failingDisk(): void {
    const node = this.victim();
    this.world.trace.add('director', `disk of ${node.name} fails`);
    this.world.inTrouble(node.name);
    node.disk.failure = this.random.pick([0.05, 0.5, 1]);
    this.later(50, 2000, () => {
      node.disk.failure = 0;
      // An operator sees it and starts the broker again.
      this.later(100, 3000, () => {
        this.restartBroken();
        this.world.outOfTrouble(node.name);
      });
    });
  }

  private fullDisk(): void {
    const node = this.victim();
    this.world.trace.add('director', `disk of ${node.name} is full`);
    this.world.inTrouble(node.name);
    node.disk.profile.capacityBytes = node.disk.usedBytes + this.random.int(20_000);
    this.later(200, 4000, () => {
      this.mendDisk(node);
      this.world.outOfTrouble(node.name);
    });
  }

  private mendDisk(node: SimNode): void {
    node.disk.slowness = 1;
    node.disk.failure = 0;
    node.disk.profile.capacityBytes = this.world.diskProfile.capacityBytes;
  }

  // ---- coordinator ----

  private coordinatorDown(): void {
    this.world.trace.add('director', 'coordinator is down');
    this.world.coordinator.cut('*');
    for (const node of this.world.nodes) this.world.inTrouble(node.name);
    this.later(50, 5000, () => {
      this.world.trace.add('director', 'coordinator is back');
      this.world.coordinator.uncut('*');
      for (const node of this.world.nodes) this.world.outOfTrouble(node.name);
    });
  }

  private coordinatorCut(): void {
    const node = this.victim();
    this.world.trace.add('director', `${node.name} cannot reach the coordinator`);
    this.world.coordinator.cut(node.name);
    this.world.inTrouble(node.name);
    this.later(100, 6000, () => {
      this.world.coordinator.uncut(node.name);
      this.world.outOfTrouble(node.name);
    });
  }

  private lostAnswers(): void {
    this.world.trace.add('director', 'coordinator loses answers');
    this.world.coordinator.lostAnswers = this.random.pick([0.2, 0.7]);
    this.later(500, 5000, () => {
      this.world.coordinator.lostAnswers = 0;
    });
  }
}
