import type { DeadLettering } from '../../model/queue/queue-traits.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import type { QueueMove } from '../../model/wiring/moves.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { GroupClients } from './group-clients.js';
import type { PurgeOutcome, QueueCount } from './requests.js';

/** What is in a queue, wherever that is: while it moves to another group part of it is there, part here. */
export class QueueContents {
  private readonly tables: WiringTables;
  private readonly clients: GroupClients;

  constructor(tables: WiringTables, clients: GroupClients) {
    this.tables = tables;
    this.clients = clients;
  }

  /**
   * Rejects with RefusedError (internal-error) if a primary does not answer.
   * @param isUse it counts as a use of the queue (`x-expires`)
   */
  async count(queue: QueueObject, isUse: boolean = false): Promise<QueueCount> {
    const move = this.moveTo(queue);
    if (move === undefined) return await this.clients.client(queue.group).count(queue.position, isUse);
    const [old, now] = await Promise.all(
      [move.source, move.target].map(({ group, position }) => this.clients.client(group).count(position, isUse)),
    );
    // Who consumes from the old one is the broker itself.
    const { consumers } = now!;
    return { ready: old!.ready + now!.ready, unacknowledged: old!.unacknowledged + now!.unacknowledged, consumers };
  }

  /** Rejects as `count`. @param to the messages go there */
  async purge(queue: QueueObject, to?: DeadLettering): Promise<PurgeOutcome> {
    const move = this.moveTo(queue);
    const here = (one: QueueObject): Promise<PurgeOutcome> => this.clients.client(one.group).purge(one.position, to);
    if (move === undefined) return await here(queue);
    const old = await here(move.source);
    const now = await here(move.target);
    return { count: old.count + now.count, refusal: now.refusal };
  }

  private moveTo(queue: QueueObject): QueueMove | undefined {
    return queue.movesFrom === undefined ? undefined : this.tables.moves.from(queue.movesFrom);
  }
}
