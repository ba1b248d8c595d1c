import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AmqpError } from '../../../src/amqp10/codec/amqp-error.js';
import { FieldReader } from '../../../src/amqp10/codec/field-reader.js';
import * as performatives from '../../../src/amqp10/codec/generated/performatives.js';
import * as sasl from '../../../src/amqp10/codec/generated/sasl.js';
import * as sections from '../../../src/amqp10/codec/generated/sections.js';
import * as states from '../../../src/amqp10/codec/generated/states.js';
import * as terminus from '../../../src/amqp10/codec/generated/terminus.js';
import * as transactions from '../../../src/amqp10/codec/generated/transactions.js';
import type { Composite } from '../../../src/amqp10/codec/list-writer.js';
import { decodePerformative } from '../../../src/amqp10/codec/performative.js';
import { Described, type Value } from '../../../src/amqp10/codec/values.js';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { DecodeError } from '../../../src/wire/decode-error.js';
import {
  type CompositeType,
  type Field,
  loadProtocol10,
  type ScalarType,
} from '../../../tools/codegen/amqp10/definition.js';
import { anyFields, anyMap, anyValue, bytesOf, decoded, encoded, encodedComposite, mutated, root } from './support.js';

const protocol = loadProtocol10(root);
const types = protocol.files.flatMap((file) => file.types);
const classes = {
  ...performatives,
  ...sasl,
  ...sections,
  ...states,
  ...terminus,
  ...transactions,
} as unknown as Record<string, { new (): Composite & { descriptor: number }; decode(fields: FieldReader): Composite }>;

const fieldValues: Record<ScalarType, fc.Arbitrary<unknown>> = {
  boolean: fc.boolean(),
  ubyte: fc.nat(0xff),
  ushort: fc.nat(0xffff),
  uint: fc.nat(0xffff_ffff),
  ulong: fc.maxSafeNat(),
  timestamp: fc.maxSafeNat(),
  string: fc.string({ unit: 'binary', maxLength: 300 }),
  symbol: fc.string({ unit: 'binary-ascii', maxLength: 300 }),
  symbols: fc.array(fc.string({ unit: 'binary-ascii', maxLength: 10 }), { maxLength: 3 }),
  binary: fc.uint8Array({ maxLength: 300 }),
  any: anyValue.filter((value) => value !== null),
  map: anyMap,
  fields: anyFields,
};

function valueOf(field: Field, depth: number): fc.Arbitrary<unknown> {
  if (field.isScalar) return fieldValues[field.type as ScalarType];
  const union = protocol.files.flatMap((file) => file.unions).find((one) => one.name === field.type);
  const members = union?.members ?? types.filter((type) => type.className === field.type);
  return fc.oneof(
    ...members.filter((type) => depth > 0 || type.fields.length === 0).map((type) => anyOf(type, depth - 1)),
  );
}

/** Any object of the type. */
function anyOf(type: CompositeType, depth = 1): fc.Arbitrary<Composite> {
  const fields = type.fields.filter((field) => field.isScalar || depth > 0);
  return fc
    .tuple(
      ...fields.map((field) => {
        const value = valueOf(field, depth);
        if (field.isMandatory) return value;
        return fc.option(value, { nil: undefined });
      }),
    )
    .map((values) => {
      const it = new classes[type.className]!() as unknown as Record<string, unknown>;
      fields.forEach((field, index) => {
        if (values[index] !== undefined) it[field.property] = values[index];
      });
      return it as unknown as Composite;
    });
}

function decodedAs(type: CompositeType, bytes: Uint8Array): Composite {
  const reader = new ByteReader(bytes);
  const fields = new FieldReader(reader);
  assert.equal(fields.begin(), type.code);
  const it = classes[type.className]!.decode(fields);
  assert.equal(fields.end, bytes.length);
  return it;
}

/** The fields of what was encoded, as plain values. */
function asList(bytes: Uint8Array): Value[] {
  return (decoded(bytes) as Described).value as Value[];
}

describe('described lists (§1.4)', () => {
  for (const type of types)
    it(`${type.name} is read as it was written`, () => {
      fc.assert(
        fc.property(anyOf(type), (composite) => {
          assert.deepEqual(decodedAs(type, encodedComposite(composite)), composite);
        }),
        { numRuns: 30 },
      );
    });

  it('fields at the end that are not there are left out', () => {
    const open = new performatives.Open();
    open.containerId = 'c';
    assert.deepEqual(asList(encodedComposite(open)), ['c']);
    assert.deepEqual(asList(encodedComposite(new states.Accepted())), []);
  });

  it('fields that are null, or not there, have their defaults', () => {
    const open = decodePerformative(bytesOf('00 53 10 c0 07 04 a10163 40 40 40'), 0, 12) as performatives.Open;
    assert.deepEqual([open.maxFrameSize, open.channelMax, open.hostname], [4_294_967_295, 65_535, undefined]);
  });

  it('a descriptor may be a symbol, or a ulong of eight octets', () => {
    const list = 'c0 04 01 a1 01 63';
    for (const descriptor of ['a3 0e 616d71703a6f70656e3a6c697374', '80 0000000000000010', '53 10']) {
      const bytes = bytesOf(`00 ${descriptor} ${list}`);
      assert.equal((decodePerformative(bytes, 0, bytes.length) as performatives.Open).containerId, 'c');
    }
  });

  const errors: readonly [what: string, hex: string, condition: string, text: RegExp][] = [
    ['a mandatory field that is not there', '00 53 10 45', 'amqp:invalid-field', /open has no container-id/],
    ['a mandatory field that is null', '00 53 10 c0 02 01 40', 'amqp:invalid-field', /open has no container-id/],
    [
      'a field of another type',
      '00 53 10 c0 02 01 41',
      'amqp:decode-error',
      /container-id of open is a boolean, string expected/,
    ],
    ['more fields than there are', '00 53 17 c0 03 02 40 40', 'amqp:decode-error', /end has 2 fields, it may have 1/],
    ['bytes behind the last field', '00 53 17 c0 03 01 40 40', 'amqp:decode-error', /end has 1 bytes behind/],
    [
      'a map with keys that are no symbols',
      '00 53 1d c0 0c 03 a30161 40 c1 05 02 a10161 40',
      'amqp:decode-error',
      /frame body/,
    ],
    ['no described value', '45', 'amqp:decode-error', /described value expected/],
    ['a map instead of a list', '00 53 10 c1 01 00', 'amqp:decode-error', /followed by a map/],
    ['a performative of SASL', '00 53 40 45', 'amqp:decode-error', /sasl-mechanisms/],
    ['a code that nobody knows', '00 53 99 45', 'amqp:decode-error', /0x99/],
    ['an outcome that is none', '00 53 15 c0 09 05 41 43 40 41 00 53 10 45', 'amqp:decode-error', /disposition/],
    ['bytes behind a performative', '00 53 17 45 40', 'amqp:decode-error', /1 bytes behind end/],
    ['a list cut short', '00 53 10 c0 09 01 a1', 'amqp:decode-error', /cannot decode/],
  ];
  for (const [what, hex, condition, text] of errors)
    it(`refuses ${what}`, () => {
      const bytes = bytesOf(hex);
      assert.throws(
        () => decodePerformative(bytes, 0, bytes.length),
        (error: Error) => error instanceof AmqpError && error.condition === condition && text.test(error.message),
      );
    });

  it('throws nothing but AmqpError, whatever the bytes are', () => {
    const anyComposite = fc.oneof(...types.filter((type) => type.code < 0x20).map((type) => anyOf(type)));
    fc.assert(
      fc.property(mutated(anyComposite.map(encodedComposite)), (bytes) => {
        try {
          const performative = decodePerformative(bytes, 0, bytes.length);
          const again = encodedComposite(performative);
          assert.deepEqual(decodePerformative(again, 0, again.length), performative);
        } catch (error) {
          assert.ok(error instanceof AmqpError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('an object is a value that is encoded as any other', () => {
    const error = new states.ErrorFields();
    error.condition = 'amqp:not-found';
    const value = decoded(encodedComposite(error));
    assert.ok(value instanceof Described);
    assert.deepEqual(decoded(encoded(value)), value);
    assert.ok(!(value instanceof DecodeError));
  });
});
