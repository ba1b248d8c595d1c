import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ProcessClock } from '../../../src/process/clock.js';

class Sources {
  monotonicMs = 1000;
  wallMs = 1_700_000_000_000;
  monotonic = (): number => this.monotonicMs;
  wall = (): number => this.wallMs;

  pass(monotonicMs: number, wallMs: number = monotonicMs): void {
    this.monotonicMs += monotonicMs;
    this.wallMs += wallMs;
  }
}

describe('the clock of a process', () => {
  it('advances with the monotonic clock', () => {
    const sources = new Sources();
    const clock = new ProcessClock(sources);
    const before = clock.now();
    sources.pass(12.5);
    assert.equal(clock.now() - before, 12.5);
  });

  it('advances by the time that the machine slept', () => {
    const sources = new Sources();
    const clock = new ProcessClock(sources);
    const before = clock.now();
    sources.pass(5, 60_005);
    assert.equal(clock.now() - before, 60_005);
    sources.pass(10);
    assert.equal(clock.now() - before, 60_015);
  });

  it('never goes back when the wall clock is set back, and notices sleep after it', () => {
    const sources = new Sources();
    const clock = new ProcessClock(sources);
    const before = clock.now();
    sources.pass(5, -3_600_000);
    assert.equal(clock.now() - before, 5);
    sources.pass(0, 60_000);
    assert.equal(clock.now() - before, 60_005);
  });

  it('never adds up the rounding of two clocks', () => {
    const sources = new Sources();
    const clock = new ProcessClock(sources);
    const before = clock.now();
    for (let i = 0; i < 10_000; i++) {
      sources.pass(0.1, i % 10 === 0 ? 1 : 0);
      clock.now();
    }
    assert.ok(Math.abs(clock.now() - before - 1000) < 25);
  });

  it('property: it never goes back and is never behind either clock', () => {
    const step = fc.record({ monotonic: fc.nat(5000), wall: fc.integer({ min: -10_000, max: 100_000 }) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const sources = new Sources();
        const clock = new ProcessClock(sources);
        let last = clock.now();
        for (const { monotonic, wall } of steps) {
          sources.pass(monotonic, wall);
          const now = clock.now();
          assert.ok(now - last >= monotonic - 1e-6);
          assert.ok(now - last >= wall - 20 - 1e-6);
          last = now;
        }
      }),
    );
  });
});
