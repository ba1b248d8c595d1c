import type { QueueObject } from '../../model/wiring/objects.js';
import { ownerOf } from '../../model/wiring/operations.js';
import type { QueueObserver, WiringTables } from '../../model/wiring/tables.js';

/** One life of a node, some of whose connections have exclusive queues. */
export interface OwnerBoot {
  readonly node: string;
  readonly boot: number;
  queues: number;
}

/** The boots whose connections have exclusive queues, kept as the tables change. */
export class OwnerBoots implements QueueObserver {
  private readonly boots = new Map<string, OwnerBoot>();

  constructor(tables: WiringTables) {
    for (const object of tables.objects()) if (object.kind === 'queue') this.queueAppeared(object);
    tables.observe(this);
  }

  all(): Iterable<OwnerBoot> {
    return this.boots.values();
  }

  queueAppeared(queue: QueueObject): void {
    const owner = queue.owner === '' ? undefined : ownerOf(queue.owner);
    if (owner === undefined) return;
    const key = `${owner.node}/${owner.boot}`;
    const known = this.boots.get(key);
    if (known !== undefined) known.queues++;
    else this.boots.set(key, { ...owner, queues: 1 });
  }

  queueGone(queue: QueueObject): void {
    const owner = queue.owner === '' ? undefined : ownerOf(queue.owner);
    if (owner === undefined) return;
    const key = `${owner.node}/${owner.boot}`;
    const known = this.boots.get(key);
    if (known !== undefined && --known.queues === 0) this.boots.delete(key);
  }
}
