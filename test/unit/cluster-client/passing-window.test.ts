import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PassingWindow } from '../../../src/cluster/client/passing-window.js';

/** Messages of that size come as they are asked for, until so many are done. Returns how many were in hand at a time, at most. */
function run(size: number, count: number): { messages: number; taken: number } {
  const window = new PassingWindow();
  let credit = window.begin();
  let [taken, held, messages] = [0, 0, 0];
  for (let step = 0; step < count; step++) {
    for (; credit > 0; credit--, held++) window.delivered(size);
    messages = Math.max(messages, held);
    for (; held > 0 && taken < count; held--, taken++) window.done(size);
    credit += window.take();
    if (credit === 0 && held === 0) break;
  }
  return { messages, taken };
}

describe("a mover's window", () => {
  it('begins with one message, grows to 1024, and never stands still', () => {
    const window = new PassingWindow();
    assert.equal(window.begin(), 1);
    const { messages, taken } = run(100, 5000);
    assert.equal(taken, 5000);
    assert.ok(messages > 500 && messages <= 1024, String(messages));
  });

  it('holds few large messages, and one that is larger than all of it', () => {
    assert.ok(run(4 * 1024 * 1024, 200).messages <= 4);
    const huge = run(64 * 1024 * 1024, 20);
    assert.deepEqual([huge.messages, huge.taken], [1, 20]);
  });
});
