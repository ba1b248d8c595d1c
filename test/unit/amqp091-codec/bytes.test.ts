import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { copyBytes, copyRun, readI32, readU16, readU32, readU64, sameBytes } from '../../../src/wire/bytes.js';
import { DecodeError, EncodeError } from '../../../src/wire/decode-error.js';
import { decodeLooseText, decodeText, encodeText, encodeTextInto, truncateText } from '../../../src/wire/utf8.js';

test('the reader never leaves its range', () => {
  const bytes = new Uint8Array(32);
  const reads: [bytes: number, read: (reader: ByteReader) => unknown][] = [
    [1, (reader) => reader.u8()],
    [1, (reader) => reader.i8()],
    [2, (reader) => reader.u16()],
    [2, (reader) => reader.i16()],
    [4, (reader) => reader.u32()],
    [4, (reader) => reader.i32()],
    [8, (reader) => reader.u64()],
    [8, (reader) => reader.i64()],
    [4, (reader) => reader.f32()],
    [8, (reader) => reader.f64()],
    [5, (reader) => reader.text(5)],
    [5, (reader) => reader.looseText(5)],
    [5, (reader) => reader.copy(5)],
  ];
  for (const [size, read] of reads) {
    const reader = new ByteReader(bytes, 3, 3 + size);
    read(reader);
    assert.equal(reader.at, 3 + size);
    reader.finish();
    reader.set(bytes, 3, 2 + size);
    assert.throws(() => read(reader), DecodeError);
    assert.equal(reader.at, 3, 'a failed read moves nothing');
  }
  assert.throws(() => new ByteReader(bytes).finish(), /^DecodeError: 32 bytes too many$/);
});

test('integers and floats are read as they were written', () => {
  fc.assert(
    fc.property(
      fc.record({
        u8: fc.nat(0xff),
        u16: fc.nat(0xffff),
        u32: fc.nat(0xffff_ffff),
        i32: fc.integer(),
        u64: fc.maxSafeNat(),
        i64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        f64: fc.double(),
        text: fc.string({ unit: 'binary', maxLength: 200 }),
      }),
      (value) => {
        const writer = new ByteWriter();
        writer.u8(value.u8);
        writer.u16(value.u16);
        writer.u32(value.u32);
        writer.i32(value.i32);
        writer.u64(value.u64);
        writer.i64(value.i64);
        writer.f64(value.f64);
        const length = writer.text(value.text);
        const reader = new ByteReader(writer.take());
        assert.equal(reader.u8(), value.u8);
        assert.equal(reader.u16(), value.u16);
        assert.equal(reader.u32(), value.u32);
        assert.equal(reader.i32(), value.i32);
        assert.equal(reader.u64(), value.u64);
        assert.equal(BigInt(reader.i64()), value.i64);
        assert.deepStrictEqual(reader.f64(), value.f64);
        assert.equal(reader.text(length), value.text);
        reader.finish();
      },
    ),
    { numRuns: 500 },
  );
});

test('the free readers agree with DataView', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      assert.equal(readU16(bytes, 0), view.getUint16(0));
      assert.equal(readI32(bytes, 0), view.getInt32(0));
      assert.equal(readU32(bytes, 0), view.getUint32(0));
      assert.equal(readU64(bytes, 0), Number(view.getBigUint64(0)));
    }),
  );
});

test('copies are exact and touch nothing else', () => {
  for (let length = 0; length < 300; length++) {
    const from = new Uint8Array(length + 3).map((_, index) => index + 1);
    const expected = new Uint8Array(length + 9);
    expected.set(from.subarray(3), 5);
    const bytewise = new Uint8Array(length + 9);
    copyBytes(from, 3, length, bytewise, 5);
    assert.deepEqual(bytewise, expected);
    const run = new Uint8Array(length + 9);
    copyRun(from, new DataView(from.buffer), 3, length, run, new DataView(run.buffer), 5);
    assert.deepEqual(run, expected);
    assert.equal(sameBytes(from, 3, run, 5, length), true);
    if (length > 0) run[4 + length] = run[4 + length]! ^ 1;
    assert.equal(sameBytes(from, 3, run, 5, length), length === 0);
  }
});

test('text: strict, loose, and cut to a size', () => {
  const bad = Uint8Array.of(0x41, 0xff);
  assert.throws(() => decodeText(bad, 0, 2), /^DecodeError: a string of 2 bytes is not valid UTF-8$/);
  assert.equal(decodeLooseText(bad, 0, 2), 'A\ufffd');
  assert.equal(decodeText(encodeText('\ufeffx'), 0, 4), '\ufeffx', 'a byte order mark belongs to the text');
  const long = 'é'.repeat(100);
  const into = new Uint8Array(300);
  assert.equal(encodeTextInto(long, into, 0), 200);
  assert.equal(decodeText(into, 0, 200), long);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.nat(100), (text, bytesMax) => {
      const cut = truncateText(text, bytesMax);
      assert.ok(text.startsWith(cut));
      assert.ok(encodeText(cut).length <= bytesMax);
      const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
      if (cut !== text) assert.ok(encodeText(cut + next).length > bytesMax);
    }),
  );
});

test('the writer hands over its bytes and uses again what it is given back', () => {
  const writer = new ByteWriter();
  writer.raw(new Uint8Array(100).fill(1));
  const first = writer.take();
  assert.equal(writer.length, 0);
  writer.raw(new Uint8Array(100).fill(2));
  const second = writer.take();
  assert.deepEqual(first, new Uint8Array(100).fill(1), 'what was taken is not written to');
  writer.recycle(first);
  assert.equal(writer.take().length, 0);
  writer.u8(3);
  assert.equal(writer.take().buffer, first.buffer);
  assert.deepEqual(second, new Uint8Array(100).fill(2));
});

test('the writer is bounded', () => {
  const writer = new ByteWriter(10_000);
  writer.raw(new Uint8Array(9000));
  assert.throws(() => writer.raw(new Uint8Array(1001)), EncodeError);
  assert.equal(writer.length, 9000);
  writer.raw(new Uint8Array(1000));
  assert.equal(writer.length, 10_000);
  writer.take();
  writer.shrink();
  assert.equal(writer.bytes.length, 0);
});
