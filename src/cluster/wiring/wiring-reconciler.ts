/**
 * Brings the groups that this node leads to the wiring that it has: a queue of the group that appeared becomes an `open` in the
 * group's log, one that is gone a `drop` (rule 15). A new primary compares all; then changes are followed one by one.
 *
 * A primary whose own wiring is older than what its group's log has seen waits until it has caught up: it would take queues
 * that it has not heard of for deleted ones.
 */
import type { Logger } from '../../base/logger.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeDrop, encodeOpen } from '../../log/record.js';
import { isDurable, type QueueObject } from '../../model/wiring/objects.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiredGroup } from './ports.js';

class LedGroup {
  readonly group: WiredGroup;
  /** Queues that the group's log has open; uncommitted events included. */
  readonly open = new Set<Lsn>();
  /** Wiring up to here is in the log; -1: not compared yet. */
  version = -1;
  private after: Lsn = 0;

  constructor(group: WiredGroup) {
    this.group = group;
    for (const incarnation of group.openQueues()) this.open.add(incarnation);
  }

  appear(queue: QueueObject, version: Lsn): void {
    if (this.open.has(queue.position)) return;
    this.open.add(queue.position);
    this.append(encodeOpen(queue.position, version, { durable: isDurable(queue) }));
  }

  end(incarnation: Lsn, version: Lsn): void {
    if (this.open.delete(incarnation)) this.append(encodeDrop(incarnation, version));
  }

  reached(version: Lsn): void {
    this.version = version;
    this.group.advanceWiring(version, this.after);
  }

  private append(record: Uint8Array): void {
    const { appender } = this.group;
    appender.reserve(record.length);
    appender.chunk.bytes!.set(record, appender.offset);
    this.after = appender.append(record.length);
  }
}

export class WiringReconciler {
  private readonly tables: WiringTables;
  private readonly logger: Logger;
  private readonly led = new Map<number, LedGroup>();

  constructor(tables: WiringTables, logger: Logger) {
    this.tables = tables;
    this.logger = logger;
  }

  /** This node leads the group from now on; replaces what was led under the same number before. */
  lead(group: WiredGroup): void {
    const led = new LedGroup(group);
    this.led.set(group.group, led);
    this.reconcile(led);
  }

  /** It does no longer. */
  release(group: number): void {
    this.led.delete(group);
  }

  /** The tables have reached a new version. */
  advanced(): void {
    for (const led of this.led.values()) this.reconcile(led);
  }

  private reconcile(led: LedGroup): void {
    const { tables } = this;
    const { version } = tables;
    if (version <= led.version) return;
    if (version < led.group.wiringVersion) {
      this.logger.info('the group waits for wiring', { group: led.group.group, has: version });
      return;
    }
    const changes = led.version < 0 ? undefined : tables.queueChanges(led.group.group, led.version);
    if (changes === undefined) this.compare(led, version);
    else
      for (const { kind, queue } of changes) {
        if (kind === 'appeared') led.appear(queue, version);
        else led.end(queue.position, version);
      }
    led.reached(version);
  }

  private compare(led: LedGroup, version: Lsn): void {
    const wanted = new Set<Lsn>();
    for (const queue of this.tables.queuesOfGroup(led.group.group)) {
      wanted.add(queue.position);
      led.appear(queue, version);
    }
    for (const incarnation of [...led.open]) if (!wanted.has(incarnation)) led.end(incarnation, version);
  }
}
