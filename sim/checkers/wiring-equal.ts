/**
 * All nodes have the same wiring at rest, and it holds what was declared: every queue whose declaration was confirmed and whose
 * deletion nobody asked for, no queue that nobody used for as long as it may be without use, no queue that lived with a client that is gone, and nothing that went with a boot that is over. (Of auto-delete queues only those count whose
 * consumer left while nothing failed: others go some seconds after a takeover, or stay when every replica of their group was restarted.)
 */
import type { NodeBoot } from '../../src/model/wiring/objects.js';
import { ownerOf } from '../../src/model/wiring/operations.js';
import { Checker } from './checker.js';

export class WiringEqual extends Checker {
  readonly name = 'wiring-equal';

  override atRest(): string {
    const [first, ...others] = this.world.nodes;
    const wiring = first!.process?.probe.wiring() ?? [];
    for (const node of others) {
      const theirs = node.process?.probe.wiring() ?? [];
      const missing = wiring.find((line) => !theirs.includes(line));
      if (missing !== undefined) return `${node.name} does not have, as ${first!.name} has: ${missing}`;
      const extra = theirs.find((line) => !wiring.includes(line));
      if (extra !== undefined) return `${first!.name} does not have, as ${node.name} has: ${extra}`;
    }
    return this.leftBehind() || this.leftByBoots(wiring) || this.wrongAccess(wiring);
  }

  /** Users and vhosts are as they were asked for last, and nothing is left of vhosts that were deleted. */
  private wrongAccess(wiring: readonly string[]): string {
    const objects = wiring.map(
      (line) => JSON.parse(line) as { kind: string; name?: string; tags?: string[]; vhost?: string },
    );
    for (const [user, tag] of this.world.settings.users) {
      const tags = objects
        .filter(({ kind, name }) => kind === 'user' && name === user)
        .map((found) => String(found.tags));
      if (String(tags) !== tag) return `user ${user} is to be '${tag}', and is '${tags}'`;
    }
    for (const [vhost, isThere] of this.world.settings.vhosts) {
      const found = objects.filter(({ kind, name }) => kind === 'vhost' && name === vhost).length;
      if (found !== Number(isThere)) return `vhost ${vhost} is there ${found} times`;
      const left = objects.find((object) => object.vhost === vhost);
      if (!isThere && left !== undefined) return `vhost ${vhost} is gone, and there is ${JSON.stringify(left)}`;
    }
    return '';
  }

  private leftByBoots(wiring: readonly string[]): string {
    for (const line of wiring) {
      const { goesWith, owner } = JSON.parse(line) as { goesWith?: NodeBoot; owner?: string };
      const { node, boot } = goesWith ?? ownerOf(owner ?? '') ?? {};
      if (node !== undefined && this.world.node(node).process?.probe.boot !== boot)
        return `boot ${boot} of ${node} is over, and there is ${line}`;
    }
    return '';
  }

  /** A new primary gives nodes some seconds to subscribe again before a queue counts as left. */
  private leftBehind(): string {
    const probe = this.world.nodes[0]!.process!.probe;
    for (const lives of this.world.history.queues.values()) {
      const queue = lives.at(-1)!;
      const ownerLeft = queue.exclusive || (queue.autoDelete && queue.leftInPeace) || queue.isAbandoned;
      if (queue.declaredAt >= 0 && ownerLeft && probe.incarnationOf('/', queue.name) > 0)
        return `${queue.name} outlives its client`;
    }
    return '';
  }

  override atEnd(): void {
    const probe = this.world.nodes[0]!.process!.probe;
    for (const lives of this.world.history.queues.values()) {
      const queue = lives.at(-1)!;
      const exists = probe.incarnationOf('/', queue.name) > 0;
      if (!exists && queue.declaredAt >= 0 && queue.publishExcuse === '')
        this.fail(`${queue.name} was declared and is gone`);
    }
  }
}
