import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  DecodeError,
  EncodeError,
  readTable,
  readTableFields,
  skipTable,
  tableDepthMax,
  tableValuesMax,
  writeTable,
} from '../../../src/amqp091/codec/index.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../../../src/model/broker.js';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { spoiled, table, written } from './support.js';

/** A table with one field `a` whose value is given in hex. */
function tableWith(value: string): Uint8Array {
  const fields = Buffer.from(`0161${value}`, 'hex');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length);
  return new Uint8Array(Buffer.concat([length, fields]));
}

function read(bytes: Uint8Array): Arguments {
  const reader = new ByteReader(bytes);
  const result = readTable(reader);
  reader.finish();
  return result;
}

const byType: [letter: string, hex: string, value: ArgumentValue][] = [
  ['t', '7401', true],
  ['t', '7400', false],
  ['t', '7405', true],
  ['b', '62ff', -1],
  ['b', '627f', 127],
  ['B', '42ff', 255],
  ['s', '738000', -32_768],
  ['s', '737fff', 32_767],
  ['u', '75ffff', 65_535],
  ['I', '4980000000', -(2 ** 31)],
  ['I', '497fffffff', 2 ** 31 - 1],
  ['i', '69ffffffff', 2 ** 32 - 1],
  ['l', '6c001fffffffffffff', Number.MAX_SAFE_INTEGER],
  ['l', '6cffffffffffffffff', -1],
  ['l', '6cffe0000000000001', Number.MIN_SAFE_INTEGER],
  ['l', '6c0020000000000000', 2n ** 53n],
  ['l', '6c7fffffffffffffff', 2n ** 63n - 1n],
  ['l', '6c8000000000000000', -(2n ** 63n)],
  ['l', '6cffe0000000000000', -(2n ** 53n)],
  ['L', '4c001fffffffffffff', Number.MAX_SAFE_INTEGER],
  ['L', '4c8000000000000000', -(2n ** 63n)],
  ['f', '663fc00000', 1.5],
  ['f', '667f800000', Number.POSITIVE_INFINITY],
  ['d', '643fb999999999999a', 0.1],
  ['d', '648000000000000000', -0],
  ['d', '647ff8000000000000', Number.NaN],
  ['D', '44020000007b', new Decimal(2, 123)],
  ['D', '4400ffffffff', new Decimal(0, -1)],
  ['S', '5300000000', ''],
  ['S', '5300000003e282ac', '€'],
  ['S', '5300000003efbbbf', '\ufeff'],
  ['S', '5300000002c328', Uint8Array.of(0xc3, 0x28)],
  ['x', '7800000002c328', Uint8Array.of(0xc3, 0x28)],
  ['x', '7800000000', new Uint8Array(0)],
  ['T', '540000000065920080', new Timestamp(0x65920080)],
  ['T', '54ffffffffffffffff', new Timestamp(2 ** 64)],
  ['A', '4100000000', []],
  ['A', '4100000003740156', [true, null]],
  ['F', '4600000000', {}],
  ['F', '4600000003016256', { b: null }],
  ['V', '56', null],
];

test('every type is read', () => {
  for (const [letter, hex, value] of byType) {
    assert.deepStrictEqual(read(tableWith(hex)), { a: value }, `${letter} ${hex}`);
  }
});

const byValue: [value: ArgumentValue, hex: string][] = [
  [true, '7401'],
  [false, '7400'],
  [0, '4900000000'],
  [-(2 ** 31), '4980000000'],
  [2 ** 31, '6c0000000080000000'],
  [Number.MAX_SAFE_INTEGER, '6c001fffffffffffff'],
  [Number.MIN_SAFE_INTEGER, '6cffe0000000000001'],
  [-0, '648000000000000000'],
  [0.5, '643fe0000000000000'],
  [2 ** 60, '6443b0000000000000'],
  [Number.NaN, '647ff8000000000000'],
  [7n, '6c0000000000000007'],
  ['€', '5300000003e282ac'],
  [Uint8Array.of(1), '780000000101'],
  [new Timestamp(1), '540000000000000001'],
  [new Timestamp(2 ** 64), '54ffffffffffffffff'],
  [new Decimal(1, -2), '4401fffffffe'],
  [[1, null], '4100000006490000000156'],
  [{ b: null }, '4600000003016256'],
  [null, '56'],
];

test('every value is written with its type', () => {
  for (const [value, hex] of byValue) {
    const bytes = written(new ByteWriter(), (output) => writeTable(output, { a: value }));
    assert.equal(Buffer.from(bytes).toString('hex'), Buffer.from(tableWith(hex)).toString('hex'), hex);
  }
});

test('a table is read as it was written', () => {
  fc.assert(
    fc.property(table, (value) => {
      const bytes = written(new ByteWriter(), (output) => writeTable(output, value));
      assert.deepStrictEqual(read(bytes), value);
      assert.deepStrictEqual(readTableFields(new ByteReader(bytes, 4)), value);
      const reader = new ByteReader(bytes);
      skipTable(reader);
      reader.finish();
    }),
    { numRuns: 150 },
  );
});

function outcome(run: () => void): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return error.message;
  }
  return 'good';
}

test('a spoiled table is read or refused, and skipping it agrees', () => {
  const bytes = table.map((value) => written(new ByteWriter(), (output) => writeTable(output, value)));
  fc.assert(
    fc.property(spoiled(bytes), (spoilt) => {
      const read = new ByteReader(spoilt);
      const skipped = new ByteReader(spoilt);
      const reading = outcome(() => readTable(read));
      assert.equal(
        outcome(() => skipTable(skipped)),
        reading,
      );
      if (reading === 'good') assert.equal(skipped.at, read.at);
    }),
    { numRuns: 800 },
  );
});

test('the first of two fields with one name counts, and __proto__ is a name like any other', () => {
  const twice = Buffer.from('0000000a01614900000001016156', 'hex');
  assert.deepStrictEqual(read(new Uint8Array(twice)), { a: 1 });
  const proto = Buffer.from('0000000f095f5f70726f746f5f5f4600000000', 'hex');
  const value = read(new Uint8Array(proto));
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('a field name that is not UTF-8 is read loosely', () => {
  assert.deepStrictEqual(read(Uint8Array.of(0, 0, 0, 3, 1, 0xff, 0x56)), { '\ufffd': null });
});

const refused: [name: string, hex: string, message: string][] = [
  ['unknown type', '51', 'field value of unknown type 0x51'],
  ['no value', '', '1 bytes expected, 0 left'],
  ['short integer', '490000', '4 bytes expected, 2 left'],
  ['long string beyond the table', '530000000541', '5 bytes expected, 1 left'],
  ['inner table beyond the outer', '460000000301', 'a field table of 3 bytes, 1 left'],
  ['array beyond the table', '41ffffffff', 'a field array of 4294967295 bytes, 0 left'],
  ['value beyond its array', '410000000249005656', '4 bytes expected, 1 left'],
];

test('exact errors', () => {
  for (const [name, hex, message] of refused) {
    const bytes = tableWith(hex);
    assert.equal(
      outcome(() => readTable(new ByteReader(bytes))),
      message,
      name,
    );
    assert.equal(
      outcome(() => skipTable(new ByteReader(bytes))),
      message,
      name,
    );
  }
  assert.equal(
    outcome(() => readTable(new ByteReader(Uint8Array.of(0, 0, 0, 9, 1)))),
    'a field table of 9 bytes, 1 left',
  );
});

function nested(depth: number): Arguments {
  let value: ArgumentValue = null;
  for (let i = 1; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return { a: value };
}

test('tables are bounded in depth', () => {
  const deepest = written(new ByteWriter(), (output) => writeTable(output, nested(tableDepthMax)));
  assert.deepStrictEqual(read(deepest), nested(tableDepthMax));
  assert.throws(() => writeTable(new ByteWriter(), nested(tableDepthMax + 1)), EncodeError);
  const deeper = tableWith(
    `46${(deepest.length - 4).toString(16).padStart(8, '0')}${Buffer.from(deepest.subarray(4)).toString('hex')}`,
  );
  const message = `field tables are nested more than ${tableDepthMax} deep`;
  assert.equal(
    outcome(() => readTable(new ByteReader(deeper))),
    message,
  );
  assert.equal(
    outcome(() => skipTable(new ByteReader(deeper))),
    message,
  );
});

test('tables are bounded in the number of values', () => {
  const values = tableValuesMax;
  const bytes = new Uint8Array(4 + 2 + 5 + values).fill(0x56);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - 4);
  bytes.set([1, 0x61, 0x41], 4);
  view.setUint32(7, values);
  const message = `a field table has more than ${tableValuesMax} values`;
  assert.equal(
    outcome(() => readTable(new ByteReader(bytes))),
    message,
  );
  assert.equal(
    outcome(() => skipTable(new ByteReader(bytes))),
    message,
  );
});

test('what has no encoding is refused', () => {
  const write = (value: unknown) => () => writeTable(new ByteWriter(), { a: value as ArgumentValue });
  assert.throws(write(2n ** 63n), /^EncodeError: 9223372036854775808 does not fit into 64 bits$/);
  assert.throws(write(new Timestamp(-1)), EncodeError);
  assert.throws(write(undefined), EncodeError);
  assert.throws(() => writeTable(new ByteWriter(), { ['n'.repeat(256)]: 1 }), EncodeError);
});
