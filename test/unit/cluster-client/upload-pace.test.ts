import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UploadPace, windowBytesMin } from '../../../src/cluster/client/upload-pace.js';

it('the window grows while parts are safe soon, stays while they take a little, and shrinks when they take long', () => {
  let now = 0;
  const pace = new UploadPace({ now: () => now });
  let part = 0;
  const take = (ms: number): number => {
    const before = pace.windowBytes;
    pace.sent(part);
    now += ms;
    pace.safe(part++);
    return pace.windowBytes / before;
  };
  assert.equal(pace.windowBytes, windowBytesMin);
  assert.equal(take(100), 1, 'it is as small as can be');
  for (let i = 0; i < 20; i++) assert.ok(take(1) >= 1);
  const most = pace.windowBytes;
  assert.equal(most, 2 * 1024 * 1024);
  assert.equal(take(10), 1);
  assert.equal(take(30), 0.5);
});

it('one part at a time is timed', () => {
  let now = 0;
  const pace = new UploadPace({ now: () => now });
  pace.sent(0);
  now = 5;
  pace.sent(1);
  now = 100;
  pace.safe(1);
  assert.equal(pace.windowBytes, windowBytesMin, 'it was not timed');
  now = 101;
  pace.safe(0);
  assert.equal(pace.windowBytes, windowBytesMin, 'it took long');
  pace.sent(2);
  pace.safe(2);
  const grown = pace.windowBytes;
  assert.ok(grown > windowBytesMin);
  now = 500;
  // The mark of the body's end.
  pace.safe(-1);
  assert.equal(pace.windowBytes, grown);
});
