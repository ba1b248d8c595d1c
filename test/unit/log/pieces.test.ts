import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Pieces } from '../../../src/log/pieces.js';

function list(pieces: Pieces): number[][] {
  return Array.from({ length: pieces.count }, (_, i) => [
    pieces.start(i),
    pieces.length(i),
    pieces.segment(i),
    pieces.fileOffset(i),
  ]);
}

describe('pieces', () => {
  it('are ordered by chunk offset, and melt where chunk and file go on', () => {
    const pieces = new Pieces();
    pieces.add(100, 50, 1, 1000);
    pieces.add(150, 20, 1, 1050);
    pieces.add(170, 30, 1, 2000);
    pieces.add(0, 100, 2, 0);
    pieces.add(200, 10, 2, 2030);
    assert.deepEqual(list(pieces), [
      [0, 100, 2, 0],
      [100, 70, 1, 1000],
      [170, 30, 1, 2000],
      [200, 10, 2, 2030],
    ]);
    assert.equal(pieces.totalBytes, 210);
    assert.equal(pieces.bytesIn(1), 100);
  });

  it('of one segment can be forgotten', () => {
    const pieces = new Pieces();
    for (let i = 0; i < 20; i++) pieces.add(i * 10, 10, 1 + (i % 2), i * 100);
    assert.equal(pieces.dropSegment(1), 100);
    assert.equal(pieces.count, 10);
    assert.equal(pieces.bytesIn(1), 0);
    pieces.trim();
    assert.deepEqual(list(pieces)[0], [10, 10, 2, 100]);
    pieces.add(300, 5, 3, 0);
    assert.equal(pieces.count, 11);
  });
});
