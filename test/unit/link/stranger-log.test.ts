import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { StrangerLog } from '../../../src/cluster/link/stranger-log.js';
import { ManualClock } from '../../fakes/manual-clock.js';

test('strangers are told of at once, and then rarely, with their number', () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object): unknown => lines.push(fields) };
  const log = new StrangerLog(logger, clock);
  for (let i = 0; i < 1000; i++) log.turnedAway(`host:${i}`, 'no secret');
  assert.deepEqual(lines, [{ remote: 'host:0', reason: 'no secret' }]);
  clock.advance(10_000);
  log.turnedAway('host:1000', 'no secret');
  log.turnedAway('host:1001', 'no secret');
  clock.advance(10_000);
  assert.deepEqual(lines.slice(1), [{ remote: 'host:1000', reason: 'no secret', others: 999 }]);
});
