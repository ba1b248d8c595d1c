/**
 * Programs that are replaced by newer ones, node by node, while clients and faults go on. In some runs every node begins with the
 * first protocol version; one after the other is started again as this program, and sometimes one goes back. What the cluster
 * lets in, and when it begins to speak the newer version, is the checkers' business (checkers/versions.ts).
 */
import { firstVersions, protocolVersions } from '../src/base/versions.js';
import type { SimNode } from './node.js';
import type { SimRandom } from './random.js';
import { excuseWhatMayBeLost } from './survivors.js';
import type { SimWorld } from './world.js';

const share = 0.25;

export class Upgrades {
  /** This run begins with the first version. */
  readonly wanted: boolean;
  private readonly world: SimWorld;
  private readonly random: SimRandom;

  /** @param first whatever the seed says */
  constructor(world: SimWorld, first: boolean | undefined) {
    this.world = world;
    this.random = world.random.fork('upgrades');
    const drawn = this.random.chance(share);
    this.wanted = first ?? drawn;
    if (this.wanted) for (const node of world.nodes) node.versions = firstVersions;
  }

  /** Some of the nodes, or all, within that time; one may go back. */
  begin(durationMs: number): void {
    if (!this.wanted) return;
    const { world, random } = this;
    for (const node of random.shuffle(world.nodes).slice(random.int(2))) {
      const at = random.float() * durationMs;
      world.loop.after(at, null, () => this.restart(node, true));
      if (random.chance(0.2))
        world.loop.after(at + random.float() * (durationMs - at), null, () => this.restart(node, false));
    }
  }

  /** The nodes that are left, one after the other. `settled` is awaited before each. */
  async finish(settled: () => Promise<void>): Promise<void> {
    for (const node of this.random.shuffle(this.world.nodes)) {
      if (node.versions.max >= protocolVersions.max) continue;
      await settled();
      this.restart(node, true);
    }
  }

  /** Starts the node again as a newer program, or as an older one. */
  restart(node: SimNode, newer: boolean): void {
    const { world, random } = this;
    world.history.disturb();
    node.versions = newer ? protocolVersions : firstVersions;
    world.trace.add('operator', `${newer ? 'upgrades' : 'downgrades'} ${node.name}`);
    if (!node.alive) return;
    excuseWhatMayBeLost(world, [node]);
    world.inTrouble(node.name);
    node.crash({ disk: 'all', machine: false });
    world.loop.after(random.between(5, 300), null, () => {
      node.start();
      world.outOfTrouble(node.name);
    });
  }
}
