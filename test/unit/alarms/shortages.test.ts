import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { DiskAlarm, Shortages } from '../../../src/cluster/alarms/shortages.js';
import type { ClusterMap } from '../../../src/cluster/cluster-map.js';
import type { Links } from '../../../src/cluster/link/links.js';
import type { OwnMember } from '../../../src/cluster/own-member.js';
import type { JournalState } from '../../../src/log/journal.js';
import { ManualClock } from '../../fakes/manual-clock.js';

/** Node n1 of a cluster, with a disk and a memory that a test fills. */
class World {
  readonly clock = new ManualClock();
  readonly shortages: Shortages;
  /** What the cluster's map was told. */
  readonly ailing: (string | undefined)[] = [];
  used = 0;
  private state: JournalState;
  private stateChanged: (state: JournalState, reason: string) => void = () => {};

  constructor(diskAlarm: DiskAlarm, state: JournalState = 'ok') {
    this.state = state;
    const entry = { tellHealth: (ailing: () => string | undefined) => this.ailing.push(ailing()) };
    const links = { handle: () => {}, observe: () => {}, all: () => [] };
    const current = (): JournalState => this.state;
    this.shortages = new Shortages({
      node: 'n1',
      map: { listen: () => {}, config: { version: 3 } } as unknown as ClusterMap,
      entry: entry as unknown as OwnMember,
      links: links as unknown as Links,
      journal: {
        get state() {
          return current();
        },
        onState: (listener): void => {
          this.stateChanged = listener;
        },
      },
      diskAlarm,
      memory: { usedBytes: () => this.used, collect: () => {} },
      memoryHighBytes: 1000,
      clock: this.clock,
      logger: silentLogger,
      changed: () => {},
    });
  }

  disk(state: JournalState): void {
    this.state = state;
    this.stateChanged(state, '');
  }

  get reason(): string {
    return this.shortages.alarms.reason();
  }
}

describe('what a node runs short of', () => {
  it('is an alarm for the whole cluster if it is memory', () => {
    const world = new World(DiskAlarm.node);
    world.used = 1001;
    world.clock.advance(500);
    assert.equal(world.reason, 'low on memory: node n1');
    world.used = 900;
    world.clock.advance(500);
    assert.equal(world.reason, '');
    world.shortages.close();
    assert.equal(world.clock.pending, 0);
  });

  it('is told to the map if it is space, so that others lead; an alarm only if that was asked for', () => {
    const own = new World(DiskAlarm.node);
    own.disk('full');
    assert.deepEqual([own.reason, own.ailing.at(-1)], ['', 'low on disk']);
    const all = new World(DiskAlarm.cluster);
    all.disk('full');
    assert.deepEqual([all.reason, all.ailing.at(-1)], ['low on disk: node n1', 'low on disk']);
    all.disk('ok');
    assert.deepEqual([all.reason, all.ailing.at(-1)], ['', undefined]);
  });

  it('may be so from the start', () => {
    const world = new World(DiskAlarm.cluster, 'full');
    assert.deepEqual([world.reason, world.ailing], ['low on disk: node n1', ['low on disk']]);
  });
});
