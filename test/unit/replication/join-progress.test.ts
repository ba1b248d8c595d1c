import assert from 'node:assert/strict';
import { it } from 'node:test';
import { JoinProgress } from '../../../src/cluster/replication/join-progress.js';
import { ManualClock } from '../store/manual-clock.js';

it('a join says how far it is, how fast, and how long it will take', () => {
  const clock = new ManualClock();
  const progress = new JoinProgress(clock);
  progress.named(2, 6000);
  progress.named(1, 4000);
  const { percent, messagesLeft, bytesLeft, secondsLeft } = progress.status();
  assert.deepEqual([percent, messagesLeft, bytesLeft, secondsLeft], [0, 10_000, null, null]);
  // Every second message is there already.
  for (let i = 0; i < 20; i++) {
    clock.advance(100);
    progress.answered(100, 50, 50_000);
  }
  assert.deepEqual(progress.status(), {
    percent: 20,
    queuesDone: 0,
    queues: 3,
    messages: 1000,
    bytes: 1_000_000,
    messagesLeft: 8000,
    bytesLeft: 4_000_000,
    messagesPerSecond: 1000,
    bytesPerSecond: 500_000,
    secondsLeft: 8,
  });
});

it('rates are those of the last seconds', () => {
  const clock = new ManualClock();
  const progress = new JoinProgress(clock);
  progress.named(1, 100_000);
  for (let i = 0; i < 60; i++) {
    clock.advance(1000);
    progress.answered(100, 100, 1000);
  }
  for (let i = 0; i < 12; i++) {
    clock.advance(1000);
    progress.answered(1000, 0, 0);
  }
  assert.equal(progress.status().messagesPerSecond, 1000);
  assert.equal(progress.status().bytesPerSecond, 0);
  for (let i = 0; i < 12; i++) {
    clock.advance(1000);
    progress.status();
  }
  assert.deepEqual([progress.status().messagesPerSecond, progress.status().secondsLeft], [0, null]);
});

it('consumers may leave less to be compared than was named; queues may be empty', () => {
  const progress = new JoinProgress(new ManualClock());
  progress.named(4, 0);
  progress.queuesDone = 3;
  assert.deepEqual([progress.status().percent, progress.status().secondsLeft], [75, 0]);
  progress.named(1, 10);
  progress.answered(15, 15, 100);
  assert.deepEqual([progress.status().percent, progress.status().messagesLeft], [100, 0]);
});
