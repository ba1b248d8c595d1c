import { BootPromises } from './boot-promises.js';

/**
 * Boots remembered per node. To forget one is safe: if it is named again it counts as just learned, and is given a lease's
 * time before it may be replaced.
 */
const bootsPerNodeMax = 8;

/** The boots of other nodes that we know of. */
export class KnownBoots {
  private readonly nodes = new Map<string, BootPromises[]>();

  get(node: string, boot: number): BootPromises | undefined {
    return this.nodes.get(node)?.find((known) => known.boot === boot);
  }

  of(node: string): readonly BootPromises[] {
    return this.nodes.get(node) ?? [];
  }

  /** All of them, as a copy: listeners may add some meanwhile. */
  all(): BootPromises[] {
    return [...this.nodes.values()].flat();
  }

  add(node: string, store: string, boot: number, now: number, lastDial: number): BootPromises {
    const known = new BootPromises(node, store, boot, now, lastDial);
    const boots = this.nodes.get(node) ?? [];
    boots.push(known);
    boots.sort((a, b) => a.boot - b.boot);
    if (boots.length > bootsPerNodeMax) {
      const spare = boots.findIndex((old) => old.deposals === 0 && !old.link && old !== known);
      if (spare >= 0) boots.splice(spare, 1);
    }
    this.nodes.set(node, boots);
    return known;
  }

  /** A later boot of the same store is known: a store is locked by one process, so this one has ended. */
  isOutlived(boot: BootPromises): boolean {
    return (
      boot.store !== '' && this.of(boot.node).some((other) => other.boot > boot.boot && other.store === boot.store)
    );
  }
}
