import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { helloState } from '../../../src/security/client-hello.js';

/** A client's hello with a body of `length` bytes, in records of at most `recordMax`. */
function hello(length: number, recordMax: number): Buffer {
  const message = Buffer.concat([
    Buffer.from([1, length >> 16, (length >> 8) & 0xff, length & 0xff]),
    Buffer.alloc(length, 7),
  ]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordMax) {
    const payload = message.subarray(at, at + recordMax);
    records.push(Buffer.from([22, 3, 1, payload.length >> 8, payload.length & 0xff]), payload);
  }
  return Buffer.concat(records);
}

describe('a hello of TLS', () => {
  it('is whole with its last byte, and not before, in however many records it comes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 4, max: 4000 }), (length, recordMax) => {
        const bytes = hello(length, recordMax);
        for (const end of [0, 1, 2, 5, 6, 9, bytes.length - 1])
          if (end < bytes.length) assert.equal(helloState(bytes.subarray(0, end)), 'more', `${end}`);
        assert.equal(helloState(bytes), 'whole');
        assert.equal(helloState(Buffer.concat([bytes, Buffer.from('more')])), 'whole');
      }),
    );
  });

  it('is told from other protocols by its first bytes', () => {
    for (const text of ['AMQP\0\0\x09\x01', 'GET / HTTP/1.1', 'A', '\x16\x02', '\x16\x03\x01\0\x05\x02', '\x17\x03'])
      assert.equal(helloState(Buffer.from(text, 'latin1')), 'other', text);
  });

  it('never takes for ever, nor throws, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        assert.ok(['whole', 'more', 'other'].includes(helloState(Buffer.from([22, 3, 1, ...bytes]))));
      }),
    );
  });
});
