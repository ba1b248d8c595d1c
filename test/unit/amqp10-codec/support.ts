/** Arbitrary values of AMQP 1.0 and helpers to write and read bytes. */
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { ListWriter, type Composite } from '../../../src/amqp10/codec/list-writer.js';
import { readValue } from '../../../src/amqp10/codec/value-reader.js';
import { writeValue } from '../../../src/amqp10/codec/value-writer.js';
import { ArrayValue, Described, MapValue, Scalar, symbol, type Value } from '../../../src/amqp10/codec/values.js';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';

/** The repository's root, seen from the compiled test. */
export const root: string = fileURLToPath(new URL('../../../../', import.meta.url));

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

export function encoded(value: Value): Uint8Array {
  const writer = new ByteWriter();
  writeValue(writer, value);
  return writer.take().slice();
}

/** The value that fills the bytes. */
export function decoded(bytes: Uint8Array): Value {
  const reader = new ByteReader(bytes);
  const value = readValue(reader);
  reader.finish();
  return value;
}

export function encodedComposite(composite: Composite): Uint8Array {
  const writer = new ByteWriter();
  composite.encode(new ListWriter(writer));
  return writer.take().slice();
}

const ascii = fc.string({ unit: 'binary-ascii', maxLength: 300 });
export const anySymbol: fc.Arbitrary<Scalar> = ascii.map(symbol);
const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });

/** Scalars by type. */
export const scalars: Record<Scalar['type'], fc.Arbitrary<Scalar['value']>> = {
  ubyte: fc.nat(0xff),
  ushort: fc.nat(0xffff),
  uint: fc.oneof(fc.nat(0xff), fc.nat(0xffff_ffff)),
  ulong: fc.oneof(fc.bigInt({ min: 0n, max: 255n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  byte: fc.integer({ min: -128, max: 127 }),
  short: fc.integer({ min: -0x8000, max: 0x7fff }),
  int: fc.oneof(fc.integer({ min: -130, max: 130 }), fc.integer()),
  long: fc.oneof(fc.bigInt({ min: -130n, max: 130n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  float: fc.float({ noNaN: true }),
  double: fc.double({ noNaN: true }),
  decimal32: bytes(4),
  decimal64: bytes(8),
  decimal128: bytes(16),
  char: fc.nat(0x10ffff),
  timestamp: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  uuid: bytes(16),
  symbol: ascii,
};

const scalarNames = Object.keys(scalars) as Scalar['type'][];
const anyScalar: fc.Arbitrary<Scalar> = fc.oneof(
  ...scalarNames.map((type) => scalars[type].map((value) => new Scalar(type, value))),
);

const text = fc.string({ unit: 'binary', maxLength: 300 });
const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  text,
  fc.uint8Array({ maxLength: 300 }),
  anyScalar,
);

type Tied = {
  value: Value;
  list: Value[];
  map: MapValue;
  array: ArrayValue;
  described: Described;
};

const depth = { maxDepth: 4, depthIdentifier: 'values' } as const;

const tied = fc.letrec<Tied>((tie) => ({
  value: fc.oneof(depth, leaf, tie('list'), tie('map'), tie('array'), tie('described')),
  list: fc.array(tie('value'), { maxLength: 5, depthIdentifier: 'values' }),
  map: fc
    .array(fc.tuple(tie('value'), tie('value')), { maxLength: 4, depthIdentifier: 'values' })
    .map((entries) => new MapValue(entries)),
  array: fc.oneof(
    depth,
    ...scalarNames.map((type) =>
      arrayOf(
        type,
        scalars[type].map((value) => new Scalar(type, value)),
      ),
    ),
    arrayOf('null', fc.constant(null)),
    arrayOf('boolean', fc.boolean()),
    arrayOf('string', text),
    arrayOf('binary', fc.uint8Array({ maxLength: 20 })),
    arrayOf('list', tie('list')),
    arrayOf('map', tie('map')),
    arrayOf('array', tie('array')),
  ),
  described: fc
    .tuple(fc.oneof(anySymbol, leaf), tie('value'))
    .map(([descriptor, value]) => new Described(descriptor, value)),
}));

function arrayOf(type: ArrayValue['type'], element: fc.Arbitrary<Value>): fc.Arbitrary<ArrayValue> {
  return fc
    .tuple(fc.array(element, { maxLength: 4, depthIdentifier: 'values' }), fc.array(anySymbol, { maxLength: 1 }))
    .map(([elements, descriptors]) => new ArrayValue(type, elements, descriptors));
}

/** Any value that is read back as it was written. */
export const anyValue: fc.Arbitrary<Value> = tied.value;
export const anyMap: fc.Arbitrary<MapValue> = tied.map;
export const anyFields: fc.Arbitrary<MapValue> = fc
  .array(fc.tuple(anySymbol, anyValue), { maxLength: 3 })
  .map((entries) => new MapValue(entries));

/** Bytes with some of them changed, some cut off. */
export function mutated(source: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(source, fc.array(fc.tuple(fc.nat(), fc.nat(0xff)), { maxLength: 4 }), fc.option(fc.nat()))
    .map(([original, changes, cut]) => {
      const copy = original.slice();
      for (const [at, octet] of changes) if (copy.length > 0) copy[at % copy.length] = octet;
      return cut === null || copy.length === 0 ? copy : copy.slice(0, cut % copy.length);
    });
}
