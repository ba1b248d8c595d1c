import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatEndpoint, parseEndpoint, shiftEndpoint } from '../../../src/config/endpoint.js';
import { formatBytes, parseBytes, parseDuration } from '../../../src/config/quantities.js';

describe('endpoints', () => {
  for (const [text, host, port] of [
    ['127.0.0.1:5672', '127.0.0.1', 5672],
    ['broker.example:1', 'broker.example', 1],
    ['[::1]:5672', '::1', 5672],
    [':5672', '127.0.0.1', 5672],
    ['5672', '127.0.0.1', 5672],
    ['0.0.0.0:0', '0.0.0.0', 0],
  ] as const) {
    it(`reads ${text}`, () => {
      assert.deepEqual(parseEndpoint(text), { host, port });
      assert.deepEqual(parseEndpoint(formatEndpoint({ host, port })), { host, port });
    });
  }

  for (const text of ['', 'host', 'host:', 'host:65536', '::1:5672', 'host:-1', 'a:b:1', 'host:1x']) {
    it(`refuses "${text}"`, () => assert.throws(() => parseEndpoint(text), RangeError));
  }

  it('are shifted, but for port 0', () => {
    assert.deepEqual(shiftEndpoint({ host: 'h', port: 10 }, 2), { host: 'h', port: 12 });
    assert.deepEqual(shiftEndpoint({ host: 'h', port: 0 }, 2), { host: 'h', port: 0 });
    assert.throws(() => shiftEndpoint({ host: 'h', port: 65_535 }, 1), RangeError);
  });
});

describe('quantities', () => {
  it('of bytes', () => {
    for (const [text, bytes] of [
      ['12', 12],
      ['1k', 1024],
      ['1KiB', 1024],
      ['1.5 MiB', 1_572_864],
      ['2gb', 2 * 1024 ** 3],
    ] as const) {
      assert.equal(parseBytes(text), bytes, text);
    }
    for (const text of ['', '-1', '1t', 'x', '1 2']) assert.throws(() => parseBytes(text), RangeError, text);
    assert.equal(formatBytes(12), '12 B');
    assert.equal(formatBytes(1536), '1.5 KiB');
    assert.equal(formatBytes(200 * 1024 * 1024), '200 MiB');
  });

  it('of time', () => {
    for (const [text, ms] of [
      ['500ms', 500],
      ['10', 10_000],
      ['10s', 10_000],
      ['1.5m', 90_000],
      ['2h', 7_200_000],
      ['1d', 86_400_000],
    ] as const) {
      assert.equal(parseDuration(text), ms, text);
    }
    for (const text of ['', '-1s', '1w', 'soon']) assert.throws(() => parseDuration(text), RangeError, text);
  });
});
