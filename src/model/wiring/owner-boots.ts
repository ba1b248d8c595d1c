import type { NodeBoot, WiringObject } from './objects.js';
import { ownerOf } from './operations.js';

/** A boot with which something goes. */
export interface OwnerBoot extends NodeBoot {
  readonly objects: ReadonlySet<WiringObject>;
}

/** What goes when a boot is over, by boot: exclusive queues of its connections, and what is not replicated. */
export class OwnerBoots {
  private readonly nodes = new Map<string, Map<number, OwnerBoot & { objects: Set<WiringObject> }>>();

  add(object: WiringObject): void {
    const owner = ownerBoot(object);
    if (owner === undefined) return;
    const { node, boot } = owner;
    let boots = this.nodes.get(node);
    if (boots === undefined) {
      boots = new Map();
      this.nodes.set(node, boots);
    }
    const known = boots.get(boot);
    if (known !== undefined) known.objects.add(object);
    else boots.set(boot, { node, boot, objects: new Set([object]) });
  }

  remove(object: WiringObject): void {
    const owner = ownerBoot(object);
    if (owner === undefined) return;
    const boots = this.nodes.get(owner.node);
    const known = boots?.get(owner.boot);
    known?.objects.delete(object);
    if (known?.objects.size !== 0) return;
    boots?.delete(owner.boot);
    if (boots?.size === 0) this.nodes.delete(owner.node);
  }

  /** Boots with which something goes. */
  *all(): Generator<OwnerBoot, void> {
    for (const boots of this.nodes.values()) yield* boots.values();
  }

  /** What goes with this boot of the node and with its earlier ones. */
  *upTo({ node, boot: last }: NodeBoot): Generator<WiringObject, void> {
    for (const { boot, objects } of this.nodes.get(node)?.values() ?? []) if (boot <= last) yield* objects;
  }
}

/** The boot with whose end the object goes; undefined if it stays. */
function ownerBoot(object: WiringObject): NodeBoot | undefined {
  switch (object.kind) {
    case 'queue':
      return object.owner === '' ? undefined : ownerOf(object.owner);
    case 'exchange':
    case 'binding':
      return object.goesWith;
    default:
      return undefined;
  }
}
