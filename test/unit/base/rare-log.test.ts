import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../src/base/logger.js';
import { RareLog } from '../../../src/base/rare-log.js';
import { ManualClock } from '../../fakes/manual-clock.js';

function recording(): { lines: unknown[]; log(linesMax?: number): RareLog; clock: ManualClock } {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields?: object): unknown => lines.push({ message, ...fields }),
  };
  return { lines, clock, log: (linesMax) => new RareLog(logger, clock, 'a stranger', linesMax) };
}

test('strangers are told of at once, and then rarely, with their number', () => {
  const { lines, clock, log } = recording();
  const rare = log();
  for (let i = 0; i < 1000; i++) rare.warn({ remote: `host:${i}` });
  assert.deepEqual(lines, [{ message: 'a stranger', remote: 'host:0' }]);
  clock.advance(10_000);
  rare.warn({ remote: 'host:1000' });
  rare.warn({ remote: 'host:1001' });
  clock.advance(10_000);
  assert.deepEqual(lines.slice(1), [{ message: 'a stranger', remote: 'host:1000', others: 999 }]);
});

test('some lines at once are all said', () => {
  const { lines, log } = recording();
  const rare = log(3);
  for (let i = 0; i < 5; i++) rare.warn({ i });
  assert.deepEqual(
    lines,
    [0, 1, 2].map((i) => ({ message: 'a stranger', i })),
  );
});
