import type { Lsn } from '../../log/lsn.js';
import type { QueueTraitsSource } from '../group-service/traits-of.js';
import { noTraits, type QueueTraits } from '../queue/queue-traits.js';
import type { QueueObject } from '../wiring/objects.js';
import type { WiringTables } from '../wiring/tables.js';
import { Confirm } from './definition.js';

/** Traits of queues by arguments and policies, as this node's wiring has them. */
export class TableTraits implements QueueTraitsSource {
  private readonly tables: WiringTables;

  constructor(tables: WiringTables) {
    this.tables = tables;
  }

  get version(): number {
    return this.tables.policies.version;
  }

  get wiringVersion(): Lsn {
    return this.tables.version;
  }

  of(incarnation: Lsn): QueueTraits | undefined {
    const queue = this.tables.queueAt(incarnation);
    return queue === undefined ? undefined : this.made(queue);
  }

  private made(queue: QueueObject): QueueTraits {
    const { confirm, ttlMs, lengthMax, deadLetterExchange, deadLetterRoutingKey } = this.tables.settings.of(queue);
    const relaxed = confirm === Confirm.replicated;
    const isPlain = ttlMs === noTraits.ttlMs && lengthMax === noTraits.lengthMax && deadLetterExchange === undefined;
    if (isPlain && !relaxed) return noTraits;
    const { vhost, name } = queue;
    const deadLettering =
      deadLetterExchange === undefined
        ? undefined
        : { vhost, queue: name, exchange: deadLetterExchange, routingKey: deadLetterRoutingKey };
    return { relaxed, ttlMs, lengthMax, deadLettering };
  }
}
