import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { depthMax, skipValue, valuesMax } from '../../../src/amqp10/codec/value-reader.js';
import { ArrayValue, Described, MapValue, Scalar, symbol, type Value } from '../../../src/amqp10/codec/values.js';
import { DecodeError } from '../../../src/wire/decode-error.js';
import { anyValue, bytesOf, decoded, encoded, hexOf, mutated } from './support.js';

const of = (type: Scalar['type'], value: Scalar['value']): Scalar => new Scalar(type, value);
const long = 'x'.repeat(256);
const longHex = '78'.repeat(256);

/** §1.6: what the bytes mean. `other`: we write the value in another of its forms. */
const encodings: readonly [name: string, hex: string, value: Value, other?: 'other'][] = [
  ['null', '40', null],
  ['true', '41', true],
  ['false', '42', false],
  ['boolean, one octet, true', '56 01', true, 'other'],
  ['boolean, one octet, false', '56 00', false, 'other'],
  ['ubyte', '50 ff', of('ubyte', 255)],
  ['ushort', '60 fffe', of('ushort', 65_534)],
  ['uint', '70 fffffffe', of('uint', 4_294_967_294)],
  ['uint, one octet', '52 ff', of('uint', 255)],
  ['uint, zero', '43', of('uint', 0)],
  ['uint, four octets where one would do', '70 00000001', of('uint', 1), 'other'],
  ['ulong', '80 fffffffffffffffe', of('ulong', 2n ** 64n - 2n)],
  ['ulong, one octet', '53 ff', of('ulong', 255n)],
  ['ulong, zero', '44', of('ulong', 0n)],
  ['ulong, eight octets where one would do', '80 0000000000000001', of('ulong', 1n), 'other'],
  ['byte', '51 80', of('byte', -128)],
  ['short', '61 8000', of('short', -32_768)],
  ['int', '71 80000000', of('int', -2_147_483_648)],
  ['int, one octet', '54 80', of('int', -128)],
  ['int, four octets where one would do', '71 ffffffff', of('int', -1), 'other'],
  ['long', '81 8000000000000000', of('long', -(2n ** 63n))],
  ['long, one octet', '55 ff', of('long', -1n)],
  ['long, eight octets where one would do', '81 ffffffffffffffff', of('long', -1n), 'other'],
  ['float', '72 3fc00000', of('float', 1.5)],
  ['double', '82 3ff8000000000000', of('double', 1.5)],
  ['decimal32', '74 22500005', of('decimal32', bytesOf('22500005'))],
  ['decimal64', '84 2238000000000005', of('decimal64', bytesOf('2238000000000005'))],
  ['decimal128', `94 ${'0a'.repeat(16)}`, of('decimal128', bytesOf('0a'.repeat(16)))],
  ['char', '73 0001f600', of('char', 0x1f600)],
  ['timestamp', '83 0000018bcfe56800', of('timestamp', 1_700_000_000_000n)],
  ['timestamp before 1970', '83 ffffffffffffffff', of('timestamp', -1n)],
  ['uuid', `98 ${'c3'.repeat(16)}`, of('uuid', bytesOf('c3'.repeat(16)))],
  ['binary, short', 'a0 03 010203', bytesOf('010203')],
  ['binary, long', `b0 00000100 ${longHex}`, bytesOf(longHex)],
  ['binary, long where short would do', 'b0 00000001 07', bytesOf('07'), 'other'],
  ['string, short', 'a1 03 c3a962', 'éb'],
  ['string, long', `b1 00000100 ${longHex}`, long],
  ['string, long where short would do', 'b1 00000001 61', 'a', 'other'],
  ['symbol, short', 'a3 03 616263', symbol('abc')],
  ['symbol, long', `b3 00000100 ${longHex}`, symbol(long)],
  ['symbol, long where short would do', 'b3 00000001 61', symbol('a'), 'other'],
  ['list, empty', '45', []],
  ['list, empty, of eight bits', 'c0 01 00', [], 'other'],
  ['list, eight bits', 'c0 04 02 41 5007', [true, of('ubyte', 7)], 'other'],
  ['list', 'd0 00000007 00000002 41 5007', [true, of('ubyte', 7)]],
  ['map, eight bits', 'c1 06 02 a3 01 61 52 05', new MapValue([[symbol('a'), of('uint', 5)]]), 'other'],
  ['map', 'd1 00000009 00000002 a3 01 61 52 05', new MapValue([[symbol('a'), of('uint', 5)]])],
  ['array, eight bits', 'e0 04 02 50 01 02', new ArrayValue('ubyte', [of('ubyte', 1), of('ubyte', 2)]), 'other'],
  ['array of ubyte', 'f0 00000007 00000002 50 01 02', new ArrayValue('ubyte', [of('ubyte', 1), of('ubyte', 2)])],
  ['array of small uint', 'e0 04 02 52 01 02', new ArrayValue('uint', [of('uint', 1), of('uint', 2)]), 'other'],
  ['array of boolean', 'f0 00000007 00000002 56 01 00', new ArrayValue('boolean', [true, false])],
  ['array of values without octets', 'e0 02 03 41', new ArrayValue('boolean', [true, true, true]), 'other'],
  ['array of null', 'f0 00000005 00000002 40', new ArrayValue('null', [null, null])],
  ['array, empty, of strings', 'f0 00000005 00000000 b1', new ArrayValue('string', [])],
  ['array of short symbols', 'e0 06 02 a3 01 61 01 62', new ArrayValue('symbol', [symbol('a'), symbol('b')]), 'other'],
  [
    'array of described values',
    'f0 0000000c 00000002 00 a3 02 6b6d 50 01 02',
    new ArrayValue('ubyte', [of('ubyte', 1), of('ubyte', 2)], [symbol('km')]),
  ],
  [
    'array of lists',
    'f0 00000018 00000002 d0 00000005 00000001 41 00000006 00000002 42 40',
    new ArrayValue('list', [[true], [false, null]]),
  ],
  [
    'array of arrays',
    'f0 0000000f 00000001 f0 00000006 00000001 50 07',
    new ArrayValue('array', [new ArrayValue('ubyte', [of('ubyte', 7)])]),
  ],
  ['described by a code', '00 53 24 45', new Described(of('ulong', 0x24n), [])],
  ['described by a symbol', '00 a3 03 666f6f 41', new Described(symbol('foo'), true)],
  [
    'described twice',
    '00 53 01 00 53 02 43',
    new Described(of('ulong', 1n), new Described(of('ulong', 2n), of('uint', 0))),
  ],
];

const nonsense: readonly [name: string, hex: string][] = [
  ['nothing', ''],
  ['a code of no type', '3f'],
  ['a code of no type of a fixed width', '5f 00'],
  ['a code of no type with a length', 'a5 01 00'],
  ['a boolean of 2', '56 02'],
  ['a char above the code points', '73 00110000'],
  ['a string that is not UTF-8', 'a1 01 ff'],
  ['a symbol that is not ASCII', 'a3 01 e9'],
  ['a string longer than the bytes', 'a1 05 61'],
  ['a length far beyond the bytes', 'b0 ffffffff 00'],
  ['a list larger than the bytes', 'd0 ffffffff 00000001 41'],
  ['a list whose count is larger than its size', 'c0 02 09 41'],
  ['a list with bytes behind its values', 'c0 04 01 41 41 41'],
  ['a list whose size has no room for its count', 'c0 00'],
  ['a map of an odd count', 'c1 03 01 40 40'],
  ['an array without a constructor', 'e0 01 01'],
  ['an array whose elements end early', 'e0 03 02 50 01'],
  ['an array of more values without octets than may be', 'f0 00000005 ffffffff 40'],
  ['a descriptor without a value', '00 53 24'],
];

describe('values (§1.6)', () => {
  for (const [name, hex, value, other] of encodings)
    it(name, () => {
      const bytes = bytesOf(hex);
      assert.deepEqual(decoded(bytes), value);
      assert.equal(skipValue(bytes, 0, bytes.length), bytes.length);
      if (other === undefined) assert.equal(hexOf(encoded(value)), hexOf(bytes));
      else assert.deepEqual(decoded(encoded(value)), value);
      for (let end = 0; end < bytes.length; end++) {
        assert.throws(() => decoded(bytes.slice(0, end)), DecodeError, `cut at ${end}`);
        assert.throws(() => skipValue(bytes, 0, end), DecodeError, `skipped, cut at ${end}`);
      }
    });

  for (const [name, hex] of nonsense)
    it(`refuses ${name}`, () => {
      assert.throws(() => decoded(bytesOf(hex)), DecodeError);
    });

  it('refuses values in values beyond a depth', () => {
    const nest = (levels: number): Value => (levels === 0 ? null : [nest(levels - 1)]);
    assert.doesNotThrow(() => decoded(encoded(nest(depthMax))));
    assert.throws(() => decoded(encoded(nest(depthMax + 1))), /nested/);
    const described = (levels: number): string => '005301'.repeat(levels) + '40';
    assert.throws(() => decoded(bytesOf(described(10_000))), /nested/);
    assert.throws(() => decoded(bytesOf('f0 000000f4 00000001' + '005301'.repeat(80))), /nested/);
  });

  it('refuses more values than it may build, however few bytes they are', () => {
    const many = encoded(new ArrayValue('null', new Array<Value>(valuesMax - 1).fill(null)));
    assert.equal((decoded(many) as ArrayValue).elements.length, valuesMax - 1);
    const lists = encoded([
      new ArrayValue('null', new Array<Value>(40_000).fill(null)),
      new ArrayValue('null', new Array<Value>(40_000).fill(null)),
    ]);
    assert.throws(() => decoded(lists), /more than 65536 values|compound of/);
  });

  it('reads what it has written', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = encoded(value);
        assert.deepEqual(decoded(bytes), value);
        assert.equal(skipValue(bytes, 0, bytes.length), bytes.length);
      }),
    );
  });

  it('throws nothing but DecodeError, whatever the bytes are', () => {
    const sources = fc.oneof(fc.uint8Array({ maxLength: 64 }), mutated(anyValue.map(encoded)));
    fc.assert(
      fc.property(sources, fc.uint8Array({ maxLength: 8 }), (bytes, behind) => {
        // Bytes behind the end must not be read.
        const wider = new Uint8Array([...bytes, ...behind]);
        const inner = new Uint8Array(wider.buffer, 0, bytes.length);
        let skipped = -1;
        try {
          skipped = skipValue(inner, 0, inner.length);
          assert.ok(skipped <= inner.length);
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
        try {
          const value = decoded(inner);
          // What was read is what is read again.
          assert.deepEqual(decoded(encoded(value)), value);
          assert.equal(skipped, inner.length);
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
