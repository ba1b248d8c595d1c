/**
 * The cluster's protocol version never goes down, nobody runs in it who speaks less than what may be written, and when all nodes
 * speak a newer one it is in use soon.
 */
import type { SpokenVersions } from '../../src/base/versions.js';
import { parseConfig } from '../../src/cluster/map.js';
import { Checker } from './checker.js';

export class Versions extends Checker {
  readonly name = 'versions';
  private version = 1;
  private floor = 1;
  /** Version of the map's entry that was looked at last. */
  private read = 0;

  override poll(): void {
    const entry = this.world.coordinator.peek('cluster');
    if (entry === undefined) return;
    if (entry.version !== this.read) this.look(parseConfig(entry));
    this.read = entry.version;
    for (const node of this.world.nodes)
      if (node.serving && node.versions.max < this.floor)
        this.fail(`${node.name} serves, speaks ${node.versions.max}, and the cluster ${this.floor}`);
  }

  private look({ version, versionFloor }: SpokenVersions): void {
    if (version < this.version) this.fail(`version ${version} after version ${this.version}`);
    if (version > versionFloor) this.fail(`version ${version} is in use, who speaks ${versionFloor} is let in`);
    this.version = version;
    this.floor = versionFloor;
  }

  override atRest(): string {
    // Brokers that are there to try the simulator have no map.
    if (this.world.coordinator.peek('cluster') === undefined) return '';
    const spoken = Math.min(...this.world.nodes.map((node) => node.versions.max));
    return this.version === spoken ? '' : `all nodes speak ${spoken}, the cluster ${this.version}`;
  }
}
