import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Logger } from '../../../src/base/logger.js';
import type { Frame } from '../../../src/cluster/link/frame.js';
import type { Link } from '../../../src/cluster/link/link.js';
import { type GroupRecord, MemberState, type Replica } from '../../../src/cluster/map.js';
import type { Standing } from '../../../src/cluster/waiting/standing.js';
import { describeGroups } from '../../../src/cluster/waiting/texts.js';
import { type WaitingSources, WaitingGroups } from '../../../src/cluster/waiting/waiting-groups.js';
import { ManualClock } from '../../fakes/manual-clock.js';

const replica = (node: string, boot = 1, store = node): Replica => ({ node, boot, store });

/** n3 in boot 13 looks at a cluster in which n1 and n2 were in sync, in their boots 1. */
class World {
  readonly clock = new ManualClock();
  readonly gone = new Set<number>();
  readonly members = new Map<string, unknown>();
  readonly lines: string[] = [];
  readonly replicas = new Map<number, unknown>();

  readonly record: GroupRecord = {
    group: 1,
    epoch: 4,
    primary: replica('n1'),
    inSync: [replica('n1'), replica('n2')],
    replicas: ['n1', 'n2', 'n3'],
  };
  readonly waiting: WaitingGroups;
  private readonly links = new Map<string, { peer: Replica; beginFrame(): unknown }>();
  private hear: (link: Link, frame: Frame) => void = () => {};

  constructor() {
    const log = (message: string, fields: Record<string, unknown> = {}): void =>
      void this.lines.push([message, ...Object.values(fields)].join('; '));
    const logger = { info: log, warn: log } as unknown as Logger;
    const sources = {
      self: replica('n3', 13),
      clock: this.clock,
      logger,
      map: { groups: new Map([[1, { value: this.record, version: 1 }]]), members: this.members },
      liveness: { learn: () => {}, mayDepose: (_node: string, boot: number) => this.gone.has(boot) },
      replication: { replicas: this.replicas },
      links: {
        handle: (_type: number, hear: typeof this.hear) => (this.hear = hear),
        get: (node: string) => this.links.get(node),
        all: () => [],
      },
    };
    this.waiting = new WaitingGroups(sources as unknown as WaitingSources);
    this.gone.add(1);
  }

  /** What n3 itself has. */
  has(committed: number): void {
    const context = { journalIntact: true };
    const mine = { group: 1, epoch: 3, log: { committed }, joining: false, state: { queueCount: 1 }, context };
    this.replicas.set(1, mine);
  }

  rivals(): { ahead: boolean; unknown: boolean } {
    return this.waiting.rivals(this.record);
  }

  up(node: string, boot: number, more: { store?: string; damaged?: boolean } = {}): void {
    const value = { ...replica(node, boot, more.store), state: MemberState.ready, damaged: more.damaged };
    this.members.set(node, { value, version: 1 });
    const frame = { bytes: new Uint8Array(1024), view: new DataView(new ArrayBuffer(1024)), offset: 0 };
    this.links.set(node, { peer: replica(node, boot, more.store), beginFrame: () => frame });
  }

  says(node: string, standing: Partial<Standing>): void {
    const said = { group: 1, epoch: 3, committed: 0, joining: false, damaged: false, queues: 0, ...standing };
    const bytes = new TextEncoder().encode(JSON.stringify({ standings: [said], wanted: [] }));
    this.hear(this.links.get(node) as unknown as Link, { bytes, start: 0, end: bytes.length } as Frame);
  }

  get reasons(): string {
    return (
      this.waiting
        .of(1)
        ?.for.map(({ node, why }) => `${node} ${why}`)
        .join(', ') ?? 'nobody'
    );
  }
}

describe('groups that wait', () => {
  it('wait for members that are down, or of no use', () => {
    const world = new World();
    assert.equal(world.reasons, 'n1 down, n2 down');
    world.up('n1', 11, { store: 'new' });
    world.up('n2', 12, { damaged: true });
    assert.equal(world.reasons, 'n1 other-store, n2 damaged');
  });

  it('do not wait while the primary may be there, or somebody can be elected', () => {
    const world = new World();
    world.gone.delete(1);
    assert.equal(world.reasons, 'nobody');
    world.gone.add(1);
    world.up('n2', 12);
    assert.equal(world.reasons, 'nobody');
    world.says('n2', { joining: true });
    assert.equal(world.reasons, 'n1 down, n2 unfinished-join');
    world.gone.add(12);
    assert.equal(world.reasons, 'n1 down, n2 down');
  });

  it('know what the nodes have that are up, for some seconds, and who has not said it', () => {
    const world = new World();
    world.up('n1', 11, { store: 'new' });
    world.up('n2', 12, { damaged: true });
    world.says('n1', { epoch: 2 });
    world.says('n2', { epoch: 4, damaged: true });
    assert.equal(world.waiting.of(1)!.candidates[0]!.replica.node, 'n1', 'whole ones first');
    world.says('n1', { epoch: 0 });
    const { candidates, silent } = world.waiting.of(1)!;
    assert.deepEqual(
      candidates.map((candidate) => candidate.replica.node),
      ['n2', 'n1'],
      'who has nothing is last',
    );
    assert.deepEqual(silent, []);
    world.clock.advance(6000);
    assert.deepEqual(world.waiting.of(1)!.candidates, []);
    assert.deepEqual(world.waiting.of(1)!.silent, ['n1', 'n2']);
  });

  it('say so in the log once it lasts, when it changes, and when it is over', () => {
    const world = new World();
    world.clock.advance(1000);
    assert.deepEqual(world.lines, []);
    world.clock.advance(5000);
    const text = 'groups have no primary, and wait for a member of their last in-sync set; 1; ';
    assert.deepEqual(world.lines.splice(0), [`${text}n1 (not up) or n2 (not up)`]);
    world.up('n1', 11, { store: 'new' });
    world.clock.advance(5000);
    assert.deepEqual(world.lines.splice(0), [`${text}n1 (up, with another data folder) or n2 (not up)`]);
    world.up('n2', 12);
    world.clock.advance(5000);
    assert.deepEqual(world.lines, ['groups wait no more; 1']);
  });

  it('are named in short', () => {
    assert.equal(describeGroups([0, 3, 1, 2, 7, 9, 10]), 'system, 1-3, 7, 9-10');
  });
});

describe('restarted members compare what they have', () => {
  it('one that has less is not elected, one that has most or as much is', () => {
    for (const [committed, ahead] of [
      [70, false],
      [71, true],
    ] as const) {
      const world = new World();
      world.has(70);
      world.up('n1', 11);
      world.up('n2', 12);
      world.says('n1', { committed });
      world.says('n2', { committed: 60 });
      assert.deepEqual(world.rivals(), { ahead, unknown: false });
    }
  });

  it('who has not said it, or is not up, may have more; who cannot be elected does not count', () => {
    const world = new World();
    world.has(70);
    world.up('n1', 11);
    assert.deepEqual(world.rivals(), { ahead: false, unknown: true });
    world.says('n1', { committed: 70 });
    assert.deepEqual(world.rivals(), { ahead: false, unknown: true });
    world.up('n2', 12, { damaged: true });
    world.says('n2', { committed: 99 });
    assert.deepEqual(world.rivals(), { ahead: false, unknown: false });
  });
});
