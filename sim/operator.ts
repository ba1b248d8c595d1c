/** What operators do to a cluster: groups get other primaries, nodes are drained and revived. Nothing fails by it. */
import type { SimNode } from './node.js';
import type { SimOperator } from './node-ports.js';
import type { SimRandom } from './random.js';
import type { SimWorld } from './world.js';

export class Operator {
  private readonly world: SimWorld;
  private readonly random: SimRandom;
  private isBusy = false;
  private readonly drained = new Set<SimNode>();

  constructor(world: SimWorld, random: SimRandom) {
    this.world = world;
    this.random = random;
  }

  /** The group's primary is to be that node. False if it cannot be, or that is not known. */
  transfer(group: number, to: SimNode): Promise<boolean> {
    this.world.trace.add('operator', `transfer of group ${group} to ${to.name}`);
    return this.ask((operator) => operator.transfer(group, to.name));
  }

  /** The group's replica on one node is to be on another. */
  transferReplica(group: number, from: SimNode, to: SimNode): Promise<boolean> {
    this.world.trace.add('operator', `replica of group ${group} from ${from.name} to ${to.name}`);
    return this.ask((operator) => operator.transferReplica(group, from.name, to.name));
  }

  drain(node: SimNode): Promise<boolean> {
    this.world.trace.add('operator', `drain ${node.name}`);
    this.drained.add(node);
    return this.ask((operator) => operator.drain(node.name));
  }

  revive(node: SimNode): Promise<boolean> {
    this.world.trace.add('operator', `revive ${node.name}`);
    this.drained.delete(node);
    return this.ask((operator) => operator.revive(node.name));
  }

  /** Does something now and then until `rest`. */
  async work(): Promise<void> {
    const { world, random } = this;
    this.isBusy = true;
    while (this.isBusy) {
      await world.loop.sleep(random.between(20, 1500));
      if (!this.isBusy) return;
      const node = random.pick(world.nodes);
      const group = random.int(1 + world.options.groups);
      const dice = random.float();
      if (dice < 0.6) await this.transfer(group, node);
      else if (dice < 0.75) await this.transferReplica(group, random.pick(world.nodes), node);
      else if (this.drained.has(node)) await this.revive(node);
      else await this.drain(node);
    }
  }

  async rest(): Promise<void> {
    this.isBusy = false;
    for (const node of this.drained) await this.revive(node);
  }

  /** Of any node that is up. */
  private async ask(what: (operator: SimOperator) => Promise<void>): Promise<boolean> {
    const up = this.world.nodes.filter((node) => node.alive && !node.frozen && node.process?.probe.ready === true);
    if (up.length === 0) return false;
    return await what(this.random.pick(up).process!.operator).then(
      () => true,
      (error: unknown) => {
        this.world.trace.add('operator', `refused: ${String(error)}`);
        return false;
      },
    );
  }
}
