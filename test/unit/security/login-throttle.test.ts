import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoginThrottle } from '../../../src/security/login-throttle.js';
import { ManualClock } from '../../fakes/manual-clock.js';

/** How long something takes on a clock that stands still otherwise. */
async function takes(clock: ManualClock, work: Promise<unknown>): Promise<number> {
  const began = clock.now();
  let done = false;
  void work.then(() => {
    done = true;
  });
  for (;;) {
    for (let i = 0; i < 10; i++) await Promise.resolve();
    if (done) return clock.now() - began;
    assert.ok(clock.now() - began < 60_000, 'it does not end');
    clock.advance(10);
  }
}

describe('logins that fail', () => {
  it('are answered later and later, up to some seconds', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) delays.push(await takes(clock, throttle.failed('10.0.0.1')));
    assert.deepEqual(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('make the next attempts from there wait, one after the other, and refuse what would wait too long', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    for (let i = 0; i < 4; i++) void throttle.failed('10.0.0.1');
    const turns = Array.from({ length: 10 }, () => throttle.turn('10.0.0.1'));
    assert.equal(await takes(clock, turns[0]!), 800);
    assert.equal(await takes(clock, turns[1]!), 800);
    assert.equal(await takes(clock, throttle.turn('10.0.0.2')), 0);
    const all = Promise.all(turns);
    await takes(clock, all);
    assert.deepEqual(await all, [true, true, true, true, true, false, false, false, false, false]);
  });

  it('are answered at once beyond some, for what is held back holds sockets, and looked at no sooner', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    const held = Array.from({ length: 16 }, () => throttle.failed('10.0.0.1'));
    assert.equal(await takes(clock, throttle.failed('10.0.0.1')), 0);
    assert.equal(await takes(clock, throttle.failed('10.0.0.2')), 100);
    assert.equal(await throttle.turn('10.0.0.1'), false);
    await takes(clock, Promise.all(held));
    assert.equal(await takes(clock, throttle.failed('10.0.0.1')), 5000);
  });

  it('are forgiven with time', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    for (let i = 0; i < 3; i++) void throttle.failed('10.0.0.1');
    clock.advance(30_000);
    assert.equal(await takes(clock, throttle.failed('10.0.0.1')), 400);
    clock.advance(120_000);
    assert.equal(await takes(clock, throttle.turn('10.0.0.1')), 0);
    assert.equal(await takes(clock, throttle.failed('10.0.0.1')), 100);
  });

  it('count for the whole network of an IPv6 address, whose owner has all of it', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    void throttle.failed('2001:db8:0:7::1');
    assert.equal(await takes(clock, throttle.failed('2001:db8::7:ffff:ffff:ffff:2')), 200);
    assert.equal(await takes(clock, throttle.failed('2001:db8:0:8::1')), 100);
    assert.equal(await takes(clock, throttle.failed('::ffff:10.0.0.1')), 100);
    assert.equal(await takes(clock, throttle.failed('::ffff:10.0.0.2')), 100);
  });

  it('are remembered of some thousands of addresses', async () => {
    const clock = new ManualClock();
    const throttle = new LoginThrottle(clock);
    for (let i = 0; i < 10_001; i++) void throttle.failed(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    clock.advance(1000);
    await Promise.resolve();
    assert.equal(await takes(clock, throttle.failed('10.0.0.0')), 100);
    assert.equal(await takes(clock, throttle.failed('10.0.39.16')), 200);
  });
});
