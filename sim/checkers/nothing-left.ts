/**
 * Memory is bounded: when nothing is under way, nothing is kept for it. Outboxes, unanswered publishes, settlements and requests,
 * subscriptions, and messages held by nobody are counted in each node, and all must be 0 at the end of every run. A leak of one
 * entry per failover is found by the first seed that has a failover.
 */
import { Checker } from './checker.js';

export class NothingLeft extends Checker {
  readonly name = 'nothing-left';

  override atRest(): string {
    for (const node of this.world.nodes) {
      const residue = node.process?.probe.residue() ?? {};
      for (const [what, count] of Object.entries(residue)) if (count !== 0) return `${node.name} has ${count} ${what}`;
    }
    return '';
  }
}
