/** A store on a disk, with its groups. */
import { silentLogger } from '../../../src/base/logger.js';
import type { Random } from '../../../src/base/random.js';
import { Turn } from '../../../src/base/turn.js';
import type { RecoveryReport, RecoveryVisitor } from '../../../src/log/journal.js';
import type { Disk } from '../../../src/store/disk.js';
import { Store, type StoreOptions } from '../../../src/store/store.js';
import { ManualClock } from './manual-clock.js';
import { type TestGroup, TestVisitor } from './test-group.js';

/** A seeded generator, good enough for tests. */
export function seeded(seed: number): Random {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return {
    float: next,
    int: (below) => Math.floor(next() * below),
    hex: (length) => Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join(''),
  };
}

export class Harness {
  readonly clock: ManualClock = new ManualClock();
  readonly store: Store;
  readonly visitor: TestVisitor;
  report!: RecoveryReport;
  /** The disk is dead: nothing that is under way will end. */
  abandoned = false;

  private constructor(store: Store, clock: ManualClock) {
    this.store = store;
    this.clock = clock;
    this.visitor = new TestVisitor(store);
  }

  /** @param visitorOf receives what is recovered, instead of test groups */
  static async open(
    disk: Disk,
    options: Partial<StoreOptions> = {},
    visitorOf?: (store: Store) => RecoveryVisitor,
  ): Promise<Harness> {
    const clock = new ManualClock();
    const turn = new Turn((run) => setImmediate(run));
    const store = await Store.open({
      disk,
      clock,
      turn,
      random: seeded(7),
      logger: silentLogger,
      lowWaterBytes: 0,
      zeroBytes: 0,
      ...options,
    });
    const harness = new Harness(store, clock);
    harness.report = await store.recover(visitorOf?.(store) ?? harness.visitor);
    for (const group of harness.visitor.groups.values()) group.join(store);
    return harness;
  }

  /** The group, registered. */
  group(number: number): TestGroup {
    const known = this.visitor.groups.has(number);
    const group = this.visitor.of(number);
    if (!known) group.join(this.store);
    return group;
  }

  /** Waits until all that was appended is acknowledged. */
  async settled(): Promise<void> {
    await until(() => this.store.journal.pendingBytes === 0 || this.store.journal.state === 'failed');
    await turns(3);
  }

  /** Lets the compactor work until it finds nothing to do. */
  async compact(rounds = 12): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      const round = this.store.compactor.round();
      let done = false;
      void round.then(() => {
        done = true;
      });
      while (!done && !this.abandoned) {
        this.clock.advance(20);
        await turns(1);
      }
    }
  }
}

export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

export async function until(condition: () => boolean, turnsMax = 200_000): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i === turnsMax) throw new Error('waited too long');
    await turns(1);
  }
}
