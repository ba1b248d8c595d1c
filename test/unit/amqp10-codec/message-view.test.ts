import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { AmqpError } from '../../../src/amqp10/codec/amqp-error.js';
import { Descriptor } from '../../../src/amqp10/codec/generated/descriptors.js';
import { MessageHeader, MessageProperties } from '../../../src/amqp10/codec/generated/sections.js';
import { forEachData, MessageView } from '../../../src/amqp10/codec/message-view.js';
import { Described, MapValue, Scalar, symbol, type Value } from '../../../src/amqp10/codec/values.js';
import { anyFields, anyValue, bytesOf, encoded, encodedComposite, hexOf, mutated } from './support.js';

const section = (code: number, value: Value): Uint8Array =>
  encoded(new Described(new Scalar('ulong', BigInt(code)), value));
const data = (bytes: Uint8Array): Uint8Array => section(Descriptor.data, bytes);
const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const empty = new Uint8Array(0);

const anyBody = fc.oneof(
  fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 3 }).map((list) => joined(...list.map(data))),
  anyValue.map((value) => section(Descriptor.amqpValue, value)),
  fc
    .array(fc.array(anyValue, { maxLength: 2 }), { minLength: 1, maxLength: 2 })
    .map((lists) => joined(...lists.map((list) => section(Descriptor.amqpSequence, list)))),
);

const optional = (bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> => fc.oneof(fc.constant(empty), bytes);
const anyHeader = fc
  .record({
    durable: fc.option(fc.boolean(), { nil: undefined }),
    priority: fc.option(fc.nat(255), { nil: undefined }),
    ttl: fc.option(fc.nat(), { nil: undefined }),
  })
  .map((fields) => encodedComposite(Object.assign(new MessageHeader(), fields)));
const mapSection = (code: number): fc.Arbitrary<Uint8Array> => anyFields.map((map) => section(code, map));

const anySections = fc.tuple(
  optional(anyHeader),
  optional(mapSection(Descriptor.deliveryAnnotations)),
  optional(mapSection(Descriptor.messageAnnotations)),
  optional(
    fc
      .string({ maxLength: 20 })
      .map((subject) => encodedComposite(Object.assign(new MessageProperties(), { subject }))),
  ),
  optional(mapSection(Descriptor.applicationProperties)),
  anyBody,
  optional(mapSection(Descriptor.footer)),
);

describe('sections of a message (§3.2)', () => {
  it('are found where they lie', () => {
    fc.assert(
      fc.property(anySections, (sections) => {
        const [header, deliveryAnnotations, annotations, properties, application, body, footer] = sections;
        const bytes = joined(bytesOf('dead'), ...sections, bytesOf('beef'));
        const view = new MessageView().set(bytes, 2, bytes.length - 2);
        const between = (start: number, end: number): string => (start < 0 ? '' : hexOf(bytes.subarray(start, end)));
        assert.equal(between(view.annotationsStart, view.annotationsEnd), hexOf(annotations));
        assert.equal(between(view.propertiesStart, view.propertiesEnd), hexOf(properties));
        assert.equal(between(view.applicationStart, view.applicationEnd), hexOf(application));
        assert.equal(between(view.bodyStart, view.dataEnd), hexOf(body));
        assert.equal(between(view.footerStart, view.end), hexOf(footer));
        assert.equal(view.keptStart, 2 + header.length + deliveryAnnotations.length);
        assert.equal(view.headerEnd, header.length === 0 ? -1 : 2 + header.length);
      }),
    );
  });

  it('the header says what it says', () => {
    const view = new MessageView();
    const body = data(empty);
    view.set(body, 0, body.length);
    assert.deepEqual([view.durable, view.priority, view.ttlMs], [-1, -1, -1]);
    const header = joined(
      encodedComposite(Object.assign(new MessageHeader(), { durable: true, priority: 7, ttl: 5 })),
      body,
    );
    view.set(header, 0, header.length);
    assert.deepEqual([view.durable, view.priority, view.ttlMs], [1, 7, 5]);
  });

  it('properties and maps are decoded when they are asked for', () => {
    const properties = Object.assign(new MessageProperties(), { subject: 's', messageId: new Scalar('ulong', 5n) });
    const map = new MapValue([['k', new Scalar('int', 1)]]);
    const annotations = new MapValue([[symbol('x-opt-a'), true]]);
    const bytes = joined(
      section(Descriptor.messageAnnotations, annotations),
      encodedComposite(properties),
      section(Descriptor.applicationProperties, map),
      data(empty),
    );
    const view = new MessageView().set(bytes, 0, bytes.length);
    assert.deepEqual(view.properties(), properties);
    assert.deepEqual(view.applicationProperties(), map);
    assert.deepEqual(view.annotations(), annotations);
    assert.deepEqual(view.footer(), new MapValue([]));
  });

  it('the bytes of data sections are found', () => {
    const parts = [bytesOf('0102'), new Uint8Array(300).fill(7)];
    const one = data(parts[0]!);
    const view = new MessageView().set(one, 0, one.length);
    assert.equal(hexOf(one.subarray(view.dataStart, view.dataEnd)), '0102');
    const both = joined(...parts.map(data));
    assert.equal(view.set(both, 0, both.length).dataStart, -1);
    const seen: string[] = [];
    forEachData(both, view.bodyStart, view.dataEnd, (start, end) => seen.push(hexOf(both.subarray(start, end))));
    assert.deepEqual(seen, parts.map(hexOf));
  });

  const value = '00 53 77 40';
  const refused: readonly [what: string, hex: string][] = [
    ['no section', ''],
    ['no body', '00 53 70 45'],
    ['a section that is none', `00 53 24 45 ${value}`],
    ['a section that nobody knows', `00 a3 01 78 45 ${value}`],
    ['something that is no section', '40'],
    ['sections in the wrong order', `00 53 73 45 00 53 70 45 ${value}`],
    ['a header that comes twice', `00 53 70 45 00 53 70 45 ${value}`],
    ['a body of two values', `${value} ${value}`],
    ['a body of a value and data', `${value} 00 53 75 a0 00`],
    ['a footer before the body', `00 53 78 c1 01 00 ${value}`],
    ['a section behind the footer', `${value} 00 53 78 c1 01 00 ${value}`],
    ['a section cut short', '00 53 75 a0 05 01'],
    ['data that are no bytes', '00 53 75 45'],
    ['data that are no bytes, by another descriptor', '00 80 0000000000000075 c1 01 00'],
    ['a sequence that is no list', '00 53 76 40'],
    ['annotations that are no map', `00 53 72 45 ${value}`],
    ['properties that are no list', `00 53 73 c1 01 00 ${value}`],
    ['a header with a field of another type', `00 53 70 c0 03 01 a1 00 ${value}`],
  ];
  for (const [what, hex] of refused)
    it(`a message with ${what} is refused`, () => {
      const bytes = bytesOf(hex);
      assert.throws(
        () => new MessageView().set(bytes, 0, bytes.length),
        (error: Error) => error instanceof AmqpError && error.condition === 'amqp:decode-error',
      );
    });

  it('bytes that were changed are refused, or have sections within them', () => {
    fc.assert(
      fc.property(mutated(anySections.map((sections) => joined(...sections))), (bytes) => {
        try {
          const view = new MessageView().set(bytes, 0, bytes.length);
          assert.ok(view.keptStart <= view.bodyStart && view.bodyStart < view.dataEnd && view.dataEnd <= bytes.length);
          view.properties();
          view.annotations();
          view.applicationProperties();
          view.footer();
          assert.ok(view.dataStart <= view.dataEnd);
        } catch (error) {
          assert.ok(error instanceof AmqpError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });
});
