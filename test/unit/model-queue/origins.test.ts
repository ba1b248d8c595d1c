import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Origins } from '../../../src/model/origins.js';

const at = (position: number, done = 0) => ({ group: 3, position, done });

describe('origins', () => {
  it('know what came, in any order, and forget what is done with', () => {
    const origins = new Origins();
    for (const position of [9, 5, 7]) origins.add(at(position));
    assert.deepEqual(
      [5, 6, 7, 8, 9].map((position) => origins.has(at(position))),
      [true, false, true, false, true],
    );
    origins.add(at(12, 8));
    assert.deepEqual(origins.list(), [[3, 8, [9, 12]]]);
    // What is done with comes no more; if it does, it is late.
    assert.deepEqual([origins.has(at(6)), origins.has(at(8))], [true, false]);
    assert.equal(origins.has({ group: 4, position: 5, done: 0 }), false);
  });

  it('are passed on as they are', () => {
    const [one, other] = [new Origins(), new Origins()];
    for (const position of [4, 6]) one.add(at(position, 3));
    other.add(at(99));
    other.replace(one.list());
    assert.deepEqual(other.list(), one.list());
    other.merge([[3, 5, [8]]]);
    assert.deepEqual(other.list(), [[3, 5, [6, 8]]]);
  });
});
