/**
 * Random histories against a reference: whatever was acknowledged before a crash is there after it, whatever was dequeued and
 * acknowledged stays away, and nothing is there that was never sent.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FaultyDisk } from './faulty-disk.js';
import { Harness, seeded, turns } from './harness.js';

const groups = [1, 2, 3];
const options = { segmentBytes: 6 * 1024, memoryBytes: 512 * 1024, zeroBytes: 1500 };

type Step =
  | { kind: 'enqueue'; group: number; bytes: number; durable: boolean }
  | { kind: 'dequeue'; group: number; seed: number; count: number }
  | { kind: 'compact' }
  | { kind: 'turns'; count: number }
  | { kind: 'meta'; group: number }
  | { kind: 'leave'; group: number }
  | { kind: 'crash'; seed: number; keep: number };

const group = fc.constantFrom(...groups);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('enqueue' as const),
      group,
      bytes: fc.integer({ min: 0, max: 900 }),
      durable: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('dequeue' as const),
      group,
      seed: fc.nat(),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('meta' as const), group }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), group }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), seed: fc.nat(), keep: fc.integer({ min: 0, max: 4 }) }),
  },
);

/** What must and what may be there. */
class Reference {
  /** Durable messages sent, with the lsn of a dequeue once it was sent: 0 = none. */
  readonly sent = new Map<number, number>();
  /** The group left, and came back with this number: what it had may be there only if nothing newer is. */
  private leftAt = 0;

  left(next: number): void {
    this.leftAt = next;
  }

  /** Compares with what a crash left; `acknowledged` = every lsn up to it was. Then takes that over as the truth. */
  compare(found: ReadonlySet<number>, acknowledged: number): void {
    for (const [position, dequeue] of this.sent) {
      const mustBe = position <= acknowledged && dequeue === 0 && position >= this.leftAt;
      const mustNotBe = dequeue > 0 && dequeue <= acknowledged;
      if (mustBe) assert.ok(found.has(position), `message ${position} is lost`);
      if (mustNotBe) assert.ok(!found.has(position), `message ${position} is back`);
    }
    for (const position of found) assert.ok(this.sent.has(position), `message ${position} was never sent`);
    const isBack = acknowledged >= this.leftAt || [...found].some((position) => position >= this.leftAt);
    if (isBack)
      for (const position of found) assert.ok(position >= this.leftAt, `message ${position} is of an earlier stay`);
    this.leftAt = 0;
    this.sent.clear();
    for (const position of found) this.sent.set(position, 0);
  }
}

/** Free is more than the reserve, and not much more: segments end early and are emptied at once. */
const tightSpace = { lowWaterBytes: 50_000_000, freeBytes: 60_000_000 };

class World {
  private readonly tight: boolean;
  private disk = new FaultyDisk();
  private harness!: Harness;
  private readonly references = new Map(groups.map((number) => [number, new Reference()]));

  constructor(tight: boolean) {
    this.tight = tight;
  }

  async open(): Promise<void> {
    if (this.tight) this.disk.free = tightSpace.freeBytes;
    const { lowWaterBytes } = tightSpace;
    this.harness = await Harness.open(this.disk, this.tight ? { ...options, lowWaterBytes } : options);
    assert.deepEqual(this.harness.report.damaged, []);
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'enqueue': {
        const position = this.harness.group(step.group).enqueue(step.bytes, step.durable);
        if (step.durable) this.references.get(step.group)!.sent.set(position, 0);
        return;
      }
      case 'dequeue':
        return this.dequeue(step);
      case 'compact': {
        if (this.tight) this.harness.clock.advance(1000);
        const compaction = this.harness.compact(1);
        for (let i = 0; i < 10; i++) await turns(1);
        // It may be left under way: a crash then finds it at any point.
        if (this.harness.clock.now() % 3 !== 0) await compaction;
        return;
      }
      case 'turns':
        return turns(step.count);
      case 'meta':
        this.harness.store.journal.saveMeta(this.harness.group(step.group), () => undefined);
        return;
      case 'leave': {
        const { groups: all } = this.harness.visitor;
        const leaving = this.harness.group(step.group);
        leaving.leave();
        all.set(step.group, leaving.comeBack());
        this.references.get(step.group)!.left(leaving.next);
        return;
      }
      case 'crash': {
        const random = seeded(step.seed);
        return this.crash(() => random.int(4) < step.keep);
      }
    }
  }

  async crash(survives: () => boolean): Promise<void> {
    const acknowledged = new Map(groups.map((number) => [number, this.harness.group(number).durableTo]));
    this.harness.abandoned = true;
    this.disk = this.disk.crash(survives);
    await this.open();
    for (const number of groups) {
      const target = this.harness.group(number);
      this.references.get(number)!.compare(new Set(target.index.keys()), acknowledged.get(number)!);
      for (const position of target.index.keys()) await target.check(position);
      // A new life never uses numbers of the old one again.
      target.next = Math.max(target.next, acknowledged.get(number)! + 1000);
    }
  }

  private dequeue(step: Step & { kind: 'dequeue' }): void {
    const target = this.harness.group(step.group);
    const random = seeded(step.seed);
    const sent = this.references.get(step.group)!.sent;
    const durable = [...target.index.keys()].filter((position) => sent.get(position) === 0);
    const chosen = new Set<number>();
    for (let i = 0; i < step.count && durable.length > 0; i++) chosen.add(durable[random.int(durable.length)]!);
    if (chosen.size === 0) return;
    const positions = [...chosen].sort((a, b) => a - b);
    const lsn = target.next;
    target.dequeue(positions);
    for (const position of positions) sent.set(position, lsn);
  }

  async end(): Promise<void> {
    await this.harness.settled();
    await this.harness.compact(3);
    await this.crash(() => true);
    await this.harness.store.close();
  }
}

describe('journal, random histories', () => {
  for (const tight of [false, true])
    it(`loses nothing acknowledged and brings nothing back${tight ? ', while space is tight' : ''}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 250, size: 'max' }), async (steps) => {
          const world = new World(tight);
          await world.open();
          for (const next of steps) await world.take(next);
          await world.end();
        }),
        { numRuns: Number(process.env.RUNS ?? 25), endOnFailure: true },
      );
    });
});
