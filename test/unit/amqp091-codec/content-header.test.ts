import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  BasicProperties,
  ContentHeader,
  contentHeaderFixedBytes,
  MethodId,
  PropertyView,
  ProtocolError,
} from '../../../src/amqp091/codec/index.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { DecodeError } from '../../../src/wire/decode-error.js';
import { properties, spoiled } from './support.js';

function encode(value: BasicProperties): Uint8Array {
  const writer = new ByteWriter();
  value.encode(writer);
  return writer.take();
}

/** A content header's payload. */
function header(list: Uint8Array, bodySize = 0n, classId = 60, weight = 0): Uint8Array {
  const bytes = new Uint8Array(contentHeaderFixedBytes + list.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, classId);
  view.setUint16(2, weight);
  view.setBigUint64(4, bodySize);
  bytes.set(list, contentHeaderFixedBytes);
  return bytes;
}

test('all properties are read as they were written, and the view agrees', () => {
  fc.assert(
    fc.property(properties, fc.maxSafeNat(), (value, bodySize) => {
      const bytes = header(encode(value), BigInt(bodySize));
      const content = new ContentHeader().set(bytes, 0, bytes.length, MethodId.basicPublish);
      const view = content.properties;
      assert.equal(content.bodySize, bodySize);
      assert.deepStrictEqual(view.decode(), value);
      assert.deepStrictEqual(view.headers(), value.headers ?? {});
      assert.equal(view.deliveryMode, value.deliveryMode ?? 0);
      assert.equal(view.priority, value.priority ?? 0);
      assert.equal(view.expiration, value.expiration);
      assert.equal(view.userId, value.userId);
    }),
    { numRuns: 300 },
  );
});

test('a view that is moved keeps nothing of the message before', () => {
  const full = new BasicProperties();
  full.headers = { a: 1 };
  full.deliveryMode = 2;
  full.priority = 9;
  full.expiration = '5';
  full.userId = 'guest';
  const view = new PropertyView();
  const fullBytes = encode(full);
  const emptyBytes = encode(new BasicProperties());
  view.set(fullBytes, 0, fullBytes.length).set(emptyBytes, 0, emptyBytes.length);
  assert.deepStrictEqual(view, new PropertyView().set(emptyBytes, 0, emptyBytes.length));
});

test('expirations', () => {
  const texts: [text: string | undefined, ms: number | undefined][] = [
    [undefined, undefined],
    ['0', 0],
    ['60000', 60_000],
    ['4294967296', 2 ** 32],
    ['', Number.NaN],
    ['-1', Number.NaN],
    ['1.5', Number.NaN],
    ['12x4', Number.NaN],
    ['x', Number.NaN],
  ];
  for (const [text, ms] of texts) {
    const value = new BasicProperties();
    value.expiration = text;
    const bytes = encode(value);
    assert.deepStrictEqual(new PropertyView().set(bytes, 0, bytes.length).expirationMs, ms, text);
  }
});

test('strings of any bytes pass; decoded, what is not UTF-8 becomes U+FFFD', () => {
  const bytes = Uint8Array.of(0x04, 0x00, 2, 0xff, 0x41);
  const view = new PropertyView().set(bytes, 0, bytes.length);
  assert.equal(view.decode().correlationId, '\ufffdA');
});

test('spoiled properties are accepted only if they can be decoded, and refused with DecodeError', () => {
  fc.assert(
    fc.property(spoiled(properties.map(encode)), fc.nat(20), (bytes, behind) => {
      // Bytes behind the range must not matter.
      const room = new Uint8Array(bytes.length + behind).fill(0x20);
      room.set(bytes);
      const view = new PropertyView();
      try {
        view.set(room, 0, bytes.length);
      } catch (error) {
        assert.ok(error instanceof DecodeError, String(error));
        return;
      }
      view.decode();
      view.headers();
      assert.ok(view.headersEnd <= bytes.length);
    }),
    { numRuns: 1500 },
  );
});

function refusal(bytes: Uint8Array): [code: number, message: string, methodId: number] {
  try {
    new ContentHeader().set(bytes, 0, bytes.length, MethodId.basicPublish);
  } catch (error) {
    assert.ok(error instanceof ProtocolError, String(error));
    return [error.code, error.message, error.methodId];
  }
  return assert.fail('it was accepted');
}

test('exact errors', () => {
  const id = MethodId.basicPublish;
  const empty = Uint8Array.of(0, 0);
  const cases: [bytes: Uint8Array, code: number, message: string][] = [
    [new Uint8Array(11), 502, 'cannot decode a content header: 11 bytes are too few'],
    [header(empty, 0n, 10), 505, 'expected a content header of class 60, got one of class 10'],
    [header(empty, 0n, 60, 1), 502, 'cannot decode a content header: weight is 1, it must be 0'],
    [header(empty, 2n ** 53n), 502, 'cannot decode a content header: no body can have 9007199254740992 bytes'],
    [header(new Uint8Array(0)), 502, 'cannot decode a content header: property flags of 2 bytes expected, 0 left'],
    [header(Uint8Array.of(0, 1)), 502, 'cannot decode a content header: unknown property flags 0x1'],
    [header(Uint8Array.of(0, 2)), 502, 'cannot decode a content header: unknown property flags 0x2'],
    [header(Uint8Array.of(0, 0, 9)), 502, 'cannot decode a content header: the property list has 1 bytes too many'],
    [header(Uint8Array.of(0x10, 0)), 502, 'cannot decode a content header: the property list is 1 bytes short'],
    [header(Uint8Array.of(0x80, 0, 5, 1)), 502, 'cannot decode a content header: the property list is 4 bytes short'],
    [
      header(Uint8Array.of(0x20, 0, 0, 0, 0, 3, 1, 0x61, 0x51)),
      502,
      'cannot decode a content header: field value of unknown type 0x51',
    ],
  ];
  for (const [bytes, code, message] of cases) assert.deepEqual(refusal(bytes), [code, message, id]);
});

test('the largest body size that is a number passes', () => {
  const bytes = header(Uint8Array.of(0, 0), 2n ** 53n - 1n);
  assert.equal(new ContentHeader().set(bytes, 0, bytes.length, 0).bodySize, Number.MAX_SAFE_INTEGER);
});
