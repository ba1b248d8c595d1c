import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import type { WiredGroup } from '../../../src/cluster/wiring/ports.js';
import { WiringReconciler } from '../../../src/cluster/wiring/wiring-reconciler.js';
import { Chunk } from '../../../src/log/chunk.js';
import { decodeOpenOptions, RecordKind } from '../../../src/log/record.js';
import type { GroupAppender } from '../../../src/model/group-port.js';
import type { QueueObject } from '../../../src/model/wiring/objects.js';
import { WiringTables } from '../../../src/model/wiring/tables.js';

/** A group's log that remembers what was said, in words. */
class Group implements WiredGroup, GroupAppender {
  readonly group = 1;
  readonly events: string[] = [];
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

  openQueues(): Iterable<number> {
    return this.open;
  }
  advanceWiring(version: number, after: number): void {
    this.events.push(`wiring ${version} after ${after}`);
  }
  reserve(): void {}
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

function setup(): { tables: WiringTables; reconciler: WiringReconciler } {
  const tables = new WiringTables();
  tables.appeared(11, queue('a'));
  tables.appeared(12, queue('b', 2));
  tables.appeared(13, queue('c', 1, false));
  tables.applied(13);
  return { tables, reconciler: new WiringReconciler(tables, silentLogger) };
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
    assert.deepEqual(group.events.slice(3), ['drop 11 @15', 'open 14 durable @15', 'wiring 15 after 104']);
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
});
