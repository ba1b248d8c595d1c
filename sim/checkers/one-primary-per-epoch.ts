/**
 * One primary per epoch: of two nodes that act as primary of a group, each has an epoch of its own, and what the coordinator
 * recorded for an epoch is never recorded again for another node.
 *
 * Two primaries at a time are allowed, as long as the older one's epoch is over: it finds out when it next looks. What it must
 * not do meanwhile is the business of `deposed-is-silent`.
 */
import { Checker } from './checker.js';

const groupsMax = 2 ** 16;

export class OnePrimaryPerEpoch extends Checker {
  readonly name = 'one-primary-per-epoch';
  /** The first life that was primary, by group and epoch. */
  private readonly primaries = new Map<number, { node: string; life: number }>();

  override poll(): void {
    for (const node of this.world.nodes) {
      const probe = node.process?.probe;
      if (!node.alive || probe === undefined) continue;
      for (const group of probe.groups()) {
        if (group.role !== 'primary') continue;
        const key = group.epoch * groupsMax + group.group;
        const known = this.primaries.get(key);
        if (known === undefined) this.primaries.set(key, { node: node.name, life: node.lives });
        else if (known.node !== node.name || known.life !== node.lives)
          this.fail(
            `group ${group.group} epoch ${group.epoch}: ${known.node} life ${known.life}, and ${node.name} life ${node.lives}`,
          );
      }
    }
  }
}
