import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epochStart, eventsBetween } from '../../../src/log/lsn.js';

test('the events between two lsns are counted in one epoch, guessed over few, and many over many', () => {
  assert.equal(eventsBetween(epochStart(3) + 5, epochStart(3) + 25), 20);
  assert.equal(eventsBetween(epochStart(3) + 5, epochStart(4) + 25), 25);
  assert.equal(eventsBetween(epochStart(3) + 5, epochStart(7) + 25), 25);
  assert.equal(eventsBetween(epochStart(3) + 5, epochStart(8) + 25), Number.POSITIVE_INFINITY);
  assert.equal(eventsBetween(0, epochStart(1) + 25), Number.POSITIVE_INFINITY);
});
