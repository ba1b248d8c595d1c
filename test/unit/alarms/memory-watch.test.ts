import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MemoryWatch } from '../../../src/cluster/alarms/memory-watch.js';
import { ManualClock } from '../../fakes/manual-clock.js';

it('memory is high above the watermark, until it is well below it; meanwhile garbage is collected now and then', () => {
  const clock = new ManualClock();
  const said: string[] = [];
  let used = 900;
  let collected = 0;
  const meter = { usedBytes: () => used, collect: () => void collected++ };
  const watch = new MemoryWatch(meter, clock, 1000, (isHigh, bytes) => said.push(`${isHigh} ${bytes}`));
  const at = (bytes: number, ms = 500): void => {
    used = bytes;
    clock.advance(ms);
  };
  at(1000);
  assert.deepEqual(said, []);
  at(1001);
  at(1200);
  at(950);
  at(901);
  assert.deepEqual(said, ['true 1001']);
  at(901, 10_000);
  assert.equal(collected, 3);
  at(900);
  at(950, 10_000);
  assert.deepEqual(said, ['true 1001', 'false 900']);
  assert.equal(collected, 3);
  watch.close();
  assert.equal(clock.pending, 0);
});
