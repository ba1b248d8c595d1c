import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BackfillPace } from '../../../src/cluster/replication/backfill-pace.js';
import { ManualClock } from '../store/manual-clock.js';

const mebibyte = 1024 * 1024;

function setup(joinBytesPerSecond: number, joinTimeShare = 1) {
  const clock = new ManualClock();
  return { clock, pace: new BackfillPace(clock, { joinBytesPerSecond, joinTimeShare, joinHaste: 5 }) };
}

describe('the pace of joins', () => {
  it('is so many bytes a second, over all that ask', () => {
    const { clock, pace } = setup(8 * mebibyte);
    let sent = 0;
    const ask = (): void =>
      pace.whenDue(() => {
        sent += mebibyte / 4;
        // The next slice is asked for when the answer has arrived.
        clock.after(1, ask);
        return mebibyte / 4;
      });
    for (let group = 0; group < 16; group++) ask();
    for (let ms = 0; ms < 4000; ms++) clock.advance(1);
    assert.ok(sent > 31 * mebibyte && sent < 33 * mebibyte, `${sent / mebibyte} MiB in 4 s`);
  });

  it('is higher for what must not take long', () => {
    const { clock, pace } = setup(1000);
    let sent = 0;
    const ask = (): void => pace.whenDue(() => (clock.after(1, ask), (sent += 1000), 1000), true);
    ask();
    for (let ms = 0; ms < 10_000; ms++) clock.advance(1);
    assert.ok(sent > 48_000 && sent < 52_000, `${sent} bytes in 10 s`);
  });

  it('goes in order of asking', () => {
    const { clock, pace } = setup(1000);
    const order: string[] = [];
    for (const name of ['a', 'b', 'c'])
      pace.whenDue(() => {
        order.push(name);
        return 1000;
      });
    assert.deepEqual(order, ['a']);
    clock.advance(1000);
    assert.deepEqual(order, ['a', 'b']);
    clock.advance(1000);
    assert.deepEqual(order, ['a', 'b', 'c']);
  });

  it('leaves most of the time to others, when slices take long', () => {
    const { clock, pace } = setup(Number.POSITIVE_INFINITY, 0.2);
    let busy = 0;
    const ask = (): void =>
      pace.whenDue(() => {
        busy += 10;
        clock.advance(10);
        clock.after(1, ask);
        return 1;
      });
    ask();
    const until = clock.now() + 10_000;
    while (clock.now() < until) clock.advance(1);
    assert.ok(busy > 1800 && busy < 2100, `${busy} ms of 10 s`);
  });

  it('saves up nothing while nobody joins, and counts what must go at once', () => {
    const { clock, pace } = setup(1000);
    clock.advance(60_000);
    let sent = 0;
    const send = (): number => {
      sent++;
      return 100;
    };
    for (let i = 0; i < 10; i++) pace.now(send);
    for (let i = 0; i < 10; i++) pace.whenDue(send);
    assert.equal(sent, 10);
    clock.advance(970);
    assert.equal(sent, 10);
    clock.advance(20);
    assert.equal(sent, 11);
  });
});
