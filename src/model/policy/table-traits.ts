import type { Lsn } from '../../log/lsn.js';
import type { QueueTraitsSource } from '../group-service/traits-of.js';
import { noTraits, type QueueTraits } from '../queue/queue-traits.js';
import { argument } from '../wiring/arguments.js';
import type { QueueObject } from '../wiring/objects.js';
import { groupKey, lastValueKey, queueType } from '../wiring/queue-arguments.js';
import { fairShares } from '../wiring/priority-arguments.js';
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
    const { deadLetterExchange, deadLetterRoutingKey, confirm, ...settings } = this.tables.settings.of(queue);
    const { vhost, name } = queue;
    const traits: QueueTraits = {
      relaxed: confirm === Confirm.replicated,
      ttlMs: settings.ttlMs,
      lengthMax: settings.lengthMax,
      bytesMax: settings.bytesMax,
      overflow: settings.overflow,
      flow: settings.flow,
      fairShares: fairShares(queue.arguments),
      unusedMs: settings.unusedMs,
      deadLettering:
        deadLetterExchange === undefined
          ? undefined
          : { vhost, queue: name, exchange: deadLetterExchange, routingKey: deadLetterRoutingKey },
      singleActive: argument(queue.arguments, 'x-single-active-consumer') === true,
      lastValueKey: lastValueKey(queue.arguments),
      groupKey: groupKey(queue.arguments),
      returnsMax: settings.returnsMax,
      countsReturns: queueType(queue.arguments) === 'quorum' || settings.returnsMax !== noTraits.returnsMax,
    };
    const keys = Object.keys(noTraits) as (keyof QueueTraits)[];
    return keys.every((key) => traits[key] === noTraits[key]) ? noTraits : traits;
  }
}
