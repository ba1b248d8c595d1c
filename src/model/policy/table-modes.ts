import type { Lsn } from '../../log/lsn.js';
import type { QueueModeSource } from '../group-service/queue-modes.js';
import type { WiringTables } from '../wiring/tables.js';
import { Confirm } from './definition.js';

/** Modes of queues by arguments and policies, as this node's wiring has them. */
export class TableModes implements QueueModeSource {
  private readonly tables: WiringTables;

  constructor(tables: WiringTables) {
    this.tables = tables;
  }

  get version(): number {
    return this.tables.policies.version;
  }

  isRelaxed(incarnation: Lsn): boolean | undefined {
    const queue = this.tables.queueAt(incarnation);
    return queue === undefined ? undefined : this.tables.settings.of(queue).confirm === Confirm.replicated;
  }
}
