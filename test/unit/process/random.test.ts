import assert from 'node:assert/strict';
import { it } from 'node:test';
import { processRandom } from '../../../src/process/random.js';

it('the randomness of a process stays in its ranges', () => {
  for (let i = 0; i < 100; i++) {
    const float = processRandom.float();
    assert.ok(float >= 0 && float < 1);
    assert.ok(processRandom.int(3) < 3);
  }
  for (const length of [1, 7, 32]) assert.match(processRandom.hex(length), new RegExp(`^[0-9a-f]{${length}}$`));
});
