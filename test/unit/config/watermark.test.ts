import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseWatermark, watermarkBytes } from '../../../src/config/watermark.js';

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

describe('the high watermark of memory', () => {
  it('is a number of bytes, a share of the machine, or nothing', () => {
    const of = (written: string): number => watermarkBytes(parseWatermark(written), 256 * mebibyte, 10 * gibibyte);
    assert.equal(of('2GiB'), 2 * gibibyte);
    assert.equal(of('0.5'), 5 * gibibyte);
    assert.equal(of('.5'), 5 * gibibyte);
    assert.equal(of('1.0'), 10 * gibibyte);
    assert.equal(of('60%'), 6 * gibibyte);
    assert.equal(of('off'), Number.POSITIVE_INFINITY);
  });

  it('goes with the memory for messages, and leaves the machine a fifth of its own', () => {
    assert.equal(watermarkBytes(null, 256 * mebibyte, 10 * gibibyte), 1536 * mebibyte);
    assert.equal(watermarkBytes(null, 1024 * mebibyte, gibibyte), 0.8 * gibibyte);
  });

  it('is refused if it is no share', () => {
    for (const written of ['0%', '101%', '0.0', '1.2'])
      assert.throws(() => parseWatermark(written), RangeError, written);
  });
});
