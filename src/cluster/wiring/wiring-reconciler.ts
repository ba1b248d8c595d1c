/**
 * Brings the groups that this node leads to the wiring that it has: a queue of the group that appeared becomes an `open` in the
 * group's log, one that is gone a `drop` (rule 15). A new primary compares all, in slices; then changes are followed one by one.
 *
 * The log may end anywhere for a successor. So opens go in order of their incarnations, each with its own as the wiring version,
 * and drops after them: whatever version a log has come to, the queues up to it are open in it. What was routed with that wiring
 * finds its queues.
 *
 * A primary whose own wiring is older than what its group's log has seen waits until it has caught up: it would take queues
 * that it has not heard of for deleted ones.
 */
import type { Logger } from '../../base/logger.js';
import { allRules, type Rules } from '../../base/rules.js';
import { SlicedWalk, type Slices } from '../../base/slices.js';
import type { Lsn } from '../../log/lsn.js';
import { encodeDrop, encodeOpen } from '../../log/open-record.js';
import { PositionHeap } from '../../model/queue/position-heap.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import { replicaOptions } from '../../model/wiring/queue-arguments.js';
import type { WiringTables } from '../../model/wiring/tables.js';
import type { WiredGroup } from './ports.js';

/** Queues looked at, opened or dropped in one turn: about a millisecond's work. */
const compareSlice = 2048;

class LedGroup {
  readonly group: WiredGroup;
  /** Queues that the group's log has open; uncommitted events included. Complete after the first comparison. */
  readonly open = new Set<Lsn>();
  /** Wiring up to here is in the log; -1: not compared yet. */
  version = -1;
  /** A comparison is under way. */
  comparing = false;
  private after: Lsn = 0;
  private readonly rules: Rules;

  constructor(group: WiredGroup, rules: Rules) {
    this.group = group;
    this.rules = rules;
  }

  appear(queue: QueueObject): void {
    if (this.open.has(queue.position)) return;
    this.open.add(queue.position);
    const { durable, ...options } = replicaOptions(queue);
    const known = this.rules.highestFirst ? { durable, ...options } : { durable };
    this.append(encodeOpen(queue.position, queue.position, known));
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
  private readonly rules: Rules;
  private readonly logger: Logger;
  private readonly slices: Slices;
  private readonly led = new Map<number, LedGroup>();

  constructor(tables: WiringTables, logger: Logger, slices: Slices, rules: Rules = allRules) {
    this.rules = rules;
    this.tables = tables;
    this.logger = logger;
    this.slices = slices;
  }

  /** This node leads the group from now on; replaces what was led under the same number before. */
  lead(group: WiredGroup): void {
    const led = new LedGroup(group, this.rules);
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

  /** The node stops. */
  close(): void {
    this.led.clear();
  }

  private reconcile(led: LedGroup): void {
    const { tables } = this;
    const { version } = tables;
    if (version <= led.version || led.comparing) return;
    if (version < led.group.wiringVersion) {
      this.logger.info('the group waits for wiring', { group: led.group.group, has: version });
      return;
    }
    const changes = led.version < 0 ? undefined : tables.queueChanges(led.group.group, led.version);
    if (changes === undefined) {
      led.comparing = true;
      new SlicedWalk(this.compare(led, version), compareSlice, this.slices, () => this.compared(led, version));
      return;
    }
    const appeared = new PositionHeap();
    for (const { kind, queue } of changes) if (kind === 'appeared') appeared.push(queue.position);
    while (appeared.size > 0) this.openFirst(led, appeared);
    for (const { kind, queue } of changes) if (kind === 'gone') led.end(queue.position, version);
    led.reached(version);
  }

  /** What has changed meanwhile follows. */
  private compared(led: LedGroup, version: Lsn): void {
    led.comparing = false;
    if (!this.isLed(led)) return;
    led.reached(version);
    this.reconcile(led);
  }

  private isLed(led: LedGroup): boolean {
    return this.led.get(led.group.group) === led;
  }

  /**
   * A step for each queue looked at. The tables may change in between: only what they had at `version` is opened. Ends early
   * when the group is not led any more.
   */
  private *compare(led: LedGroup, version: Lsn): Generator<number, void> {
    const { tables } = this;
    if (led.version < 0)
      for (const incarnation of led.group.openQueues()) {
        led.open.add(incarnation);
        yield 1;
      }
    const missing = new PositionHeap();
    for (const { position } of tables.queuesOfGroup(led.group.group)) {
      if (position <= version && !led.open.has(position)) missing.push(position);
      yield 1;
    }
    while (missing.size > 0 && this.isLed(led)) {
      this.openFirst(led, missing);
      yield 1;
    }
    for (const incarnation of led.open) {
      if (!this.isLed(led)) return;
      if (tables.queueAt(incarnation) === undefined) led.end(incarnation, version);
      yield 1;
    }
  }

  /** Opens the queue of the smallest incarnation, unless it is gone by now. */
  private openFirst(led: LedGroup, appeared: PositionHeap): void {
    const queue = this.tables.queueAt(appeared.peek()!);
    appeared.pop();
    if (queue !== undefined) led.appear(queue);
  }
}
