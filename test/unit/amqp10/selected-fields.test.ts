/** What filters see of messages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { BasicProperties } from '../../../src/amqp091/codec/index.js';
import { headerCodec } from '../../../src/amqp091/header-codec.js';
import { Descriptor, Described, MapValue, Scalar, symbol, type Value } from '../../../src/amqp10/codec/index.js';
import { findInMap } from '../../../src/amqp10/codec/map-search.js';
import { headerCodec10 } from '../../../src/amqp10/header-codec.js';
import { searchedBytesMax } from '../../../src/amqp10/selected-fields.js';
import { asAmqp10 } from '../../../src/conversion/to-amqp10.js';
import { MessageFormat } from '../../../src/log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { type ArgumentValue, Timestamp } from '../../../src/model/broker.js';
import { messageFields, type SelectorValue } from '../../../src/model/selection/message-fields.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { bytesOf, encoded } from '../amqp10-codec/support.js';

function record(parts: MessageParts): EnqueueView {
  parts.setMeta(bytesOf('01 65 02 6b31'));
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [1], false, 0, 0);
  return new EnqueueView().set(bytes, view, 0);
}

const section = (code: number, value: Value): Uint8Array =>
  encoded(new Described(new Scalar('ulong', BigInt(code)), value));

function message10(application: MapValue): EnqueueView {
  const parts = new MessageParts();
  parts.format = MessageFormat.amqp10;
  parts.setHeader(section(Descriptor.applicationProperties, application));
  parts.setBody(section(Descriptor.data, bytesOf('00')));
  return record(parts);
}

function message091(fields: Partial<BasicProperties>): EnqueueView {
  const writer = new ByteWriter();
  Object.assign(new BasicProperties(), fields).encode(writer);
  const parts = new MessageParts();
  parts.setHeader(writer.take());
  parts.setBody(bytesOf('00'));
  parts.persistent = fields.deliveryMode === 2;
  return record(parts);
}

describe('fields of a message of AMQP 1.0', () => {
  const values: readonly [Value, SelectorValue][] = [
    ['text', 'text'],
    [symbol('symbol'), 'symbol'],
    [true, true],
    [null, undefined],
    [new Scalar('ubyte', 5), 5n],
    [new Scalar('int', -5), -5n],
    [new Scalar('ulong', 2n ** 64n - 1n), 2n ** 64n - 1n],
    [new Scalar('timestamp', 1000n), 1000n],
    [new Scalar('double', 1.5), 1.5],
    [new Scalar('double', 2), 2],
    [new Scalar('char', 0x1f600), '\u{1f600}'],
    [bytesOf('0102'), undefined],
    [new Scalar('decimal32', bytesOf('01020304')), undefined],
    [['a', 'list'], undefined],
    [new MapValue([]), undefined],
  ];
  for (const [value, expected] of values)
    it(`of type ${value instanceof Scalar ? value.type : typeof value} are what selectors compare`, () => {
      const message = message10(
        new MapValue([
          ['before', 'x'],
          ['it', value],
          ['it', 'second'],
          [new Scalar('int', 1), 'y'],
        ]),
      );
      assert.equal(headerCodec10.fields(message).property('it'), expected);
    });

  it('are found by names of any characters, and only whole ones', () => {
    const names = ['ü', '日本', 'a', 'ab', '', 'constructor', 'x'.repeat(300)];
    const message = message10(new MapValue(names.map((name): [Value, Value] => [name, `is ${name}`])));
    const fields = headerCodec10.fields(message);
    for (const name of names) assert.equal(fields.property(name), `is ${name}`);
    for (const name of ['u', 'abc', '日', 'x'.repeat(299)]) assert.equal(fields.property(name), undefined);
  });

  it('are the same whether one is looked for or all are', () => {
    const name = fc.string({ maxLength: 3, unit: 'grapheme' });
    const value = fc.oneof(name, fc.boolean());
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 40 }), fc.array(name), (entries, others) => {
        const large = new MapValue([...entries, ['filler', 'y'.repeat(2000)]]);
        const fields = headerCodec10.fields(message10(large));
        const asked = [...entries.map(([one]) => one), ...others];
        const together = asked.map((one) => fields.property(one));
        const alone = asked.map((one) => headerCodec10.fields(message10(large)).property(one));
        assert.deepEqual(together, alone);
      }),
    );
  });

  it('are not looked for in more bytes than there may be', () => {
    const large = new MapValue([
      ['it', 'x'],
      ['filler', 'y'.repeat(searchedBytesMax)],
    ]);
    assert.equal(headerCodec10.fields(message10(large)).property('it'), undefined);
  });

  it('are not there in what makes no sense, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(0xc1, 0xd1), (tail, code) => {
        const bytes = Uint8Array.from([0x00, 0x53, 0x74, code, ...tail]);
        findInMap(bytes, 0, bytes.length, 'a');
      }),
      { numRuns: 2000 },
    );
  });
});

describe('fields of a message of AMQP 0-9-1', () => {
  const text = fc.string({ unit: 'grapheme-ascii', maxLength: 12 });
  const header: fc.Arbitrary<ArgumentValue> = fc.oneof(
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.constant(null),
    fc.constant<number[]>([1]),
    fc.nat(2 ** 31).map((seconds) => new Timestamp(seconds)),
  );
  const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(arbitrary, { nil: undefined });
  const messages = fc.record({
    contentType: maybe(text),
    contentEncoding: maybe(text),
    headers: maybe(
      fc.dictionary(fc.constantFrom('a', 'b', 'x-mine', 'x-amqp10-subject', 'x-amqp10-to', 'CC', 'BCC'), header),
    ),
    deliveryMode: maybe(fc.constantFrom(1, 2)),
    priority: maybe(fc.nat(255)),
    correlationId: maybe(
      fc.oneof(
        text,
        fc.uuid().map((uuid) => `urn:uuid:${uuid}`),
      ),
    ),
    replyTo: maybe(text),
    expiration: maybe(fc.nat(1_000_000).map(String)),
    messageId: maybe(text),
    timestamp: maybe(fc.nat(2 ** 31)),
    userId: maybe(text),
    appId: maybe(text),
  });

  it('are those that a client of AMQP 1.0 sees', () => {
    fc.assert(
      fc.property(messages, (properties) => {
        const message = message091(properties as Partial<BasicProperties>);
        const names = [...messageFields, ...['a', 'b', 'x-mine', 'CC', 'BCC', 'none']];
        const read = (codec: typeof headerCodec, from: EnqueueView): SelectorValue[] => {
          const fields = codec.fields(from);
          return names.map((name) =>
            messageFields.includes(name as never) ? fields.field(name as never) : fields.property(name),
          );
        };
        assert.deepEqual(read(headerCodec, message), read(headerCodec10, asAmqp10(message)));
      }),
      { numRuns: 500 },
    );
  });
});
