import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Link } from '../../../src/cluster/link/link.js';
import { Follower } from '../../../src/cluster/replication/follower.js';

function follower(ourDisk: number, now: number): Follower {
  return new Follower({ node: 'b', store: 'b', boot: 2 }, {} as Link, 1, true, ourDisk, now);
}

describe('how far a follower lags behind', () => {
  it('is nothing while it has all that we have, whoever else is slow', () => {
    const backup = follower(10, 0);
    backup.durable = 10;
    backup.measure(10, 9000);
    assert.equal(backup.levelAt, 9000);
  });

  it('is a round trip under steady load', () => {
    const backup = follower(0, 0);
    for (let now = 10; now < 10_000; now += 10) {
      backup.durable = now - 10;
      backup.measure(now, now);
    }
    assert.ok(9990 - backup.levelAt <= 20, String(backup.levelAt));
  });

  it('grows with one that makes progress at half of our speed', () => {
    const backup = follower(0, 0);
    for (let now = 10; now <= 20_000; now += 10) {
      backup.durable = now / 2;
      backup.measure(now, now);
    }
    assert.ok(20_000 - backup.levelAt >= 10_000, String(backup.levelAt));
  });
});
