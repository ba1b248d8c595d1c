import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { protocolVersions } from '../../../src/base/versions.js';
import { fullSlices } from '../../../src/base/slices.js';
import type { WiredGroup } from '../../../src/cluster/wiring/ports.js';
import { WiringReconciler } from '../../../src/cluster/wiring/wiring-reconciler.js';
import { Chunk } from '../../../src/log/chunk.js';
import { decodeOpenOptions } from '../../../src/log/open-record.js';
import { RecordKind } from '../../../src/log/record.js';
import type { GroupAppender } from '../../../src/model/group-port.js';
import type { QueueObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';

/** A group's log that remembers what was said, in words. */
class Group implements WiredGroup, GroupAppender {
  readonly group = 1;
  readonly events: string[] = [];
  /** Queues asked for. */
  looked = 0;
  readonly version: number = protocolVersions.max;
  readonly replicated = true;
  readonly chunk: Chunk = new Chunk(1, 1, new Uint8Array(1 << 16));
  readonly appender: GroupAppender = this;
  offset = 0;
  wiringVersion: number;
  private readonly open: number[];
  private lsn = 100;

  constructor(wiringVersion: number, open: number[]) {
    this.wiringVersion = wiringVersion;
    this.open = open;
  }

  *openQueues(): Generator<number> {
    for (const incarnation of this.open) {
      this.looked++;
      yield incarnation;
    }
  }
  advanceWiring(version: number, after: number): void {
    this.events.push(`wiring ${version} after ${after}`);
  }
  reserve(): void {
    this.offset = 0;
  }
  append(length: number): number {
    const { bytes, view } = this.chunk;
    const incarnation = view!.getFloat64(this.offset + 16, true);
    const version = view!.getFloat64(this.offset + 24, true);
    if (bytes![this.offset + 4] === RecordKind.open) {
      const { durable } = decodeOpenOptions(bytes!, view!, this.offset);
      this.events.push(`open ${incarnation}${durable ? ' durable' : ''} @${version}`);
    } else this.events.push(`drop ${incarnation} @${version}`);
    this.offset += length;
    return ++this.lsn;
  }
  together(run: () => void): void {
    run();
  }
  mayRelax(): boolean {
    return true;
  }
  mayAct(): boolean {
    return true;
  }
}

function queue(name: string, group = 1, durable = true): QueueObject {
  return {
    kind: 'queue',
    position: 0,
    vhost: '/',
    name,
    durable,
    owner: '',
    autoDelete: false,
    arguments: {},
    group,
  };
}

function setup(): { tables: WiringTables; reconciler: WiringReconciler; later: (() => void)[] } {
  const tables = new WiringTables();
  tables.appeared(11, queue('a'));
  tables.appeared(12, queue('b', 2));
  tables.appeared(13, queue('c', 1, false));
  tables.applied(13);
  const later: (() => void)[] = [];
  return {
    tables,
    reconciler: new WiringReconciler(
      tables,
      silentLogger,
      fullSlices((run) => later.push(run)),
    ),
    later,
  };
}

describe('wiring reconciler', () => {
  it('compares all when a group is led anew, then follows the changes', () => {
    const { tables, reconciler } = setup();
    const group = new Group(9, [11, 8]);
    reconciler.lead(group);
    assert.deepEqual(group.events, ['open 13 @13', 'drop 8 @13', 'wiring 13 after 102']);
    tables.gone(11);
    tables.appeared(14, queue('d'));
    tables.applied(15);
    reconciler.advanced();
    assert.deepEqual(group.events.slice(3), ['open 14 durable @14', 'drop 11 @15', 'wiring 15 after 104']);
    tables.appeared(16, queue('e', 2));
    tables.applied(16);
    reconciler.advanced();
    reconciler.advanced();
    assert.deepEqual(group.events.slice(6), ['wiring 16 after 104']);
  });

  it('waits while its own wiring is older than what the log has seen', () => {
    const { tables, reconciler } = setup();
    const group = new Group(20, [11, 13, 20]);
    reconciler.lead(group);
    assert.deepEqual(group.events, []);
    tables.appeared(20, queue('f'));
    tables.applied(20);
    reconciler.advanced();
    assert.deepEqual(group.events, ['wiring 20 after 0']);
  });

  it('leaves alone what is led no more', () => {
    const { tables, reconciler } = setup();
    const group = new Group(0, []);
    reconciler.lead(group);
    const { length } = group.events;
    reconciler.release(1);
    tables.appeared(14, queue('d'));
    tables.applied(14);
    reconciler.advanced();
    assert.equal(group.events.length, length);
  });

  it('looks at some thousand queues in a turn only, and then at what has changed meanwhile', () => {
    const { tables, reconciler, later } = setup();
    const group = new Group(
      0,
      Array.from({ length: 10_000 }, (_, i) => 20_000 + i),
    );
    for (let i = 0; i < 10_000; i++) tables.appeared(100 + i, queue(`q${i}`));
    tables.applied(50_000);
    reconciler.lead(group);
    let turns = 0;
    for (let before = 0; later.length > 0; turns++) {
      assert.ok(group.looked + group.events.length - before <= 2500, 'in one turn');
      before = group.looked + group.events.length;
      if (turns === 3) {
        tables.gone(100);
        tables.appeared(60_000, queue('new'));
        tables.applied(60_001);
        reconciler.advanced();
      }
      later.shift()!();
    }
    assert.ok(turns > 10);
    const { events } = group;
    assert.equal(events.filter((event) => event.startsWith('open')).length, 10_002);
    assert.equal(events.at(-2), 'open 60000 durable @60000');
    assert.deepEqual(
      events.filter((event) => event.startsWith('wiring')),
      ['wiring 50000 after 20101', 'wiring 60001 after 20102'],
    );
  });

  it('wherever the log ends for a successor, all queues up to the version in it are open', () => {
    const { tables, reconciler } = setup();
    // As after a join: in any order.
    for (const position of [40, 20, 30]) tables.appeared(position, queue(`q${position}`));
    tables.applied(41);
    const group = new Group(0, [8]);
    reconciler.lead(group);
    assert.deepEqual(group.events, [
      'open 11 durable @11',
      'open 13 @13',
      'open 20 durable @20',
      'open 30 durable @30',
      'open 40 durable @40',
      'drop 8 @41',
      'wiring 41 after 106',
    ]);
    for (const position of [60, 50]) tables.appeared(position, queue(`q${position}`));
    tables.gone(20);
    tables.applied(61);
    reconciler.advanced();
    assert.deepEqual(group.events.slice(7), [
      'open 50 durable @50',
      'open 60 durable @60',
      'drop 20 @61',
      'wiring 61 after 109',
    ]);
  });

  it('stops in the middle when the group is led no more', () => {
    const { tables, reconciler, later } = setup();
    const group = new Group(
      0,
      Array.from({ length: 10_000 }, (_, i) => 20_000 + i),
    );
    tables.applied(50_000);
    reconciler.lead(group);
    reconciler.release(1);
    while (later.length > 0) later.shift()!();
    assert.deepEqual(group.events, []);
  });
});
