/** What one protocol can say of a message, and the other as well, is the same on the other side. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { BasicProperties } from '../../../src/amqp091/codec/index.js';
import { Descriptor } from '../../../src/amqp10/codec/generated/descriptors.js';
import { MessageHeader, MessageProperties } from '../../../src/amqp10/codec/generated/sections.js';
import { MessageView } from '../../../src/amqp10/codec/message-view.js';
import {
  ArrayValue,
  Described,
  fieldMap,
  MapValue,
  Scalar,
  symbol,
  type Value,
} from '../../../src/amqp10/codec/values.js';
import { asAmqp091 } from '../../../src/conversion/to-amqp091.js';
import { asAmqp10 } from '../../../src/conversion/to-amqp10.js';
import { MessageFormat } from '../../../src/log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { type Arguments, Timestamp } from '../../../src/model/broker.js';
import { ByteReader } from '../../../src/wire/byte-reader.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { anyFields, anyValue, bytesOf, encoded, encodedComposite } from '../amqp10-codec/support.js';

const meta = bytesOf('01 65 02 6b31');

function record(parts: MessageParts): EnqueueView {
  const bytes = new Uint8Array(enqueueLength(parts, 1));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, 0, parts, [1], false, 0, 0);
  return new EnqueueView().set(bytes, view, 0);
}

function message091(fields: Partial<BasicProperties>, body: Uint8Array = new Uint8Array(0)): EnqueueView {
  const writer = new ByteWriter();
  Object.assign(new BasicProperties(), fields).encode(writer);
  const parts = new MessageParts();
  parts.setMeta(meta);
  parts.setHeader(writer.take());
  parts.setBody(body);
  parts.persistent = fields.deliveryMode === 2;
  parts.priority = fields.priority ?? 0;
  return record(parts);
}

interface Sections {
  header?: Partial<MessageHeader>;
  annotations?: MapValue;
  properties?: Partial<MessageProperties>;
  application?: MapValue;
  body?: Uint8Array;
}

const section = (code: number, value: Value): Uint8Array =>
  encoded(new Described(new Scalar('ulong', BigInt(code)), value));

function message10({ header, annotations, properties, application, body }: Sections): EnqueueView {
  const head: Uint8Array[] = [];
  if (header !== undefined) head.push(encodedComposite(Object.assign(new MessageHeader(), header)));
  if (annotations !== undefined) head.push(section(Descriptor.messageAnnotations, annotations));
  if (properties !== undefined) head.push(encodedComposite(Object.assign(new MessageProperties(), properties)));
  if (application !== undefined) head.push(section(Descriptor.applicationProperties, application));
  const parts = new MessageParts();
  parts.format = MessageFormat.amqp10;
  parts.setMeta(meta);
  parts.setHeader(new Uint8Array(Buffer.concat(head)));
  parts.setBody(body ?? section(Descriptor.data, bytesOf('0102')));
  parts.persistent = header?.durable ?? true;
  return record(parts);
}

function read091(message: EnqueueView): { properties: BasicProperties; body: string } {
  assert.equal(message.format, MessageFormat.amqp091);
  const { bytes, headerStart, bodyStart, bodyLength } = message;
  return {
    properties: BasicProperties.decode(new ByteReader(bytes, headerStart, bodyStart)),
    body: Buffer.from(bytes.subarray(bodyStart, bodyStart + bodyLength)).toString('hex'),
  };
}

function read10(message: EnqueueView): MessageView {
  assert.equal(message.format, MessageFormat.amqp10);
  const { bytes, headerStart, bodyStart, bodyLength } = message;
  return new MessageView().set(bytes, headerStart, bodyStart + bodyLength);
}

/** There and back. */
function back(fields: Partial<BasicProperties>, body?: Uint8Array): ReturnType<typeof read091> {
  return read091(asAmqp091(asAmqp10(message091(fields, body))));
}

const short = fc.string({ unit: 'binary', maxLength: 60 });
const asciiText = fc.string({ unit: 'binary-ascii', maxLength: 60 });
const simple = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true }),
  short,
  fc.maxSafeNat().map((seconds) => new Timestamp(seconds)),
);
const compound = fc.oneof(
  fc.array(simple, { maxLength: 3 }),
  fc.dictionary(asciiText, simple, { maxKeys: 3, noNullPrototype: true }),
);
const headers = fc
  .array(
    fc.tuple(
      fc.oneof(
        asciiText,
        asciiText.map((name) => `x-h-${name}`),
      ),
      fc.oneof(simple, compound),
    ),
    { maxLength: 5 },
  )
  .map((entries) => Object.fromEntries(entries) as Arguments)
  .filter(
    (table) => Object.keys(table).length > 0 && !['CC', 'BCC', '__proto__'].some((name) => Object.hasOwn(table, name)),
  );

const perhaps = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const anyProperties = fc.record({
  contentType: perhaps(asciiText),
  contentEncoding: perhaps(asciiText),
  headers: perhaps(headers),
  deliveryMode: fc.constantFrom(1, 2),
  priority: perhaps(fc.nat(255)),
  correlationId: perhaps(short),
  replyTo: perhaps(short),
  expiration: perhaps(fc.nat().map(String)),
  messageId: perhaps(short),
  timestamp: perhaps(fc.nat()),
  type: perhaps(short),
  userId: perhaps(short),
  appId: perhaps(short),
  clusterId: perhaps(short),
});

describe('a message of 0-9-1', () => {
  it('comes back as it was, but for what the broker adds', () => {
    fc.assert(
      fc.property(anyProperties, fc.uint8Array({ maxLength: 400 }), (fields, body) => {
        const { properties, body: after } = back(fields, body);
        const { 'x-exchange': exchange, 'x-routing-key': key, ...own } = properties.headers!;
        assert.deepEqual([exchange, key], ['e', 'k1']);
        const expected = Object.assign(new BasicProperties(), fields);
        const actual = Object.assign(new BasicProperties(), properties, {
          headers: Object.keys(own).length === 0 ? undefined : own,
        });
        assert.deepEqual({ ...actual, headers: undefined }, { ...expected, headers: undefined });
        assert.deepEqual(withoutOrder(actual.headers), withoutOrder(expected.headers));
        assert.equal(after, Buffer.from(body).toString('hex'));
      }),
      { endOnFailure: true },
    );
  });

  it('has its parts where AMQP 1.0 has them', () => {
    const view = read10(
      asAmqp10(
        message091(
          {
            contentType: 'text/plain',
            contentEncoding: 'gzip',
            headers: { n: 5, 'x-mine': true, CC: ['a'], BCC: ['hidden'], list: [1] },
            deliveryMode: 2,
            priority: 7,
            correlationId: 'urn:uuid:00112233-4455-6677-8899-aabbccddeeff',
            replyTo: 'r',
            expiration: '5000',
            messageId: 'm',
            timestamp: 12,
            type: 't',
            userId: 'guest',
            appId: 'app',
          },
          bytesOf('616263'),
        ),
      ),
    );
    assert.deepEqual([view.durable, view.priority, view.ttlMs], [1, 7, 5000]);
    const expected = Object.assign(new MessageProperties(), {
      contentType: 'text/plain',
      contentEncoding: 'gzip',
      correlationId: new Scalar('uuid', bytesOf('00112233445566778899aabbccddeeff')),
      replyTo: 'r',
      messageId: 'm',
      creationTime: 12_000,
      userId: new Uint8Array(Buffer.from('guest')),
      groupId: 'app',
    });
    assert.deepEqual(view.properties(), expected);
    assert.deepEqual(view.applicationProperties(), new MapValue([['n', new Scalar('int', 5)]]));
    assert.deepEqual(
      view.annotations(),
      fieldMap({
        'x-mine': true,
        'x-cc': ['a'],
        'x-amqp091-headers': new MapValue([[symbol('list'), [new Scalar('int', 1)]]]),
        'x-basic-type': 't',
        'x-exchange': 'e',
        'x-routing-key': 'k1',
      }),
    );
    assert.equal(Buffer.from(view.bytes.subarray(view.dataStart, view.dataEnd)).toString(), 'abc');
  });

  it('whose type is amqp-1.0 has the body that it says, if it is one', () => {
    const value = section(Descriptor.amqpValue, 'hello');
    const view = read10(asAmqp10(message091({ type: 'amqp-1.0' }, value)));
    assert.equal(view.bodyKind, Descriptor.amqpValue);
    const other = read10(asAmqp10(message091({ type: 'amqp-1.0' }, bytesOf('0102'))));
    assert.equal(other.bodyKind, Descriptor.data);
  });

  it('that has died says so', () => {
    const death = {
      count: 2,
      reason: 'expired',
      queue: 'q',
      time: new Timestamp(100),
      exchange: 'e',
      'routing-keys': ['k'],
      'original-expiration': '7',
    };
    const converted = asAmqp10(message091({ headers: { 'x-death': [death] } }));
    const list = read10(converted).annotations().get('x-opt-deaths') as ArrayValue;
    assert.equal((list.elements[0] as MapValue).get('queue'), 'q');
    assert.deepEqual(read091(asAmqp091(converted)).properties.headers!['x-death'], [death]);
  });
});

function withoutOrder(table: Arguments | undefined): unknown {
  return table === undefined ? undefined : Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('a message of AMQP 1.0', () => {
  it('has its parts where 0-9-1 has them', () => {
    const message = message10({
      header: { durable: false, priority: 3, ttl: 9 },
      annotations: fieldMap({ 'x-opt-a': true, 'x-basic-type': 't' }),
      properties: {
        messageId: new Scalar('ulong', 7n),
        correlationId: bytesOf('ff'),
        userId: new Uint8Array(Buffer.from('guest')),
        to: '/queues/q',
        subject: 's',
        replyTo: 'r',
        contentType: 'a/b',
        contentEncoding: 'c',
        creationTime: 5_999,
        groupId: 'g',
        groupSequence: 4,
        replyToGroupId: 'rg',
      },
      application: new MapValue([
        ['n', new Scalar('ubyte', 5)],
        ['u', new Scalar('uuid', bytesOf('00112233445566778899aabbccddeeff'))],
        ['t', new Scalar('timestamp', 2500n)],
      ]),
    });
    const { properties, body } = read091(asAmqp091(message));
    assert.equal(body, '0102');
    const { headers: found, ...rest } = properties;
    assert.deepEqual(rest, {
      contentType: 'a/b',
      contentEncoding: 'c',
      deliveryMode: 1,
      priority: 3,
      correlationId: undefined,
      replyTo: 'r',
      expiration: '9',
      messageId: '7',
      timestamp: 5,
      type: 't',
      userId: 'guest',
      appId: 'g',
      clusterId: undefined,
    });
    assert.deepEqual(found, {
      n: 5,
      u: 'urn:uuid:00112233-4455-6677-8899-aabbccddeeff',
      t: new Timestamp(2),
      'x-opt-a': true,
      'x-correlation-id': bytesOf('ff'),
      'x-amqp10-subject': 's',
      'x-amqp10-to': '/queues/q',
      'x-amqp10-group-sequence': 4,
      'x-amqp10-reply-to-group-id': 'rg',
    });
  });

  it('whose body is no data comes encoded, and its type says so', () => {
    for (const value of ['hello', null, [], new MapValue([])] as Value[]) {
      const body = section(Descriptor.amqpValue, value);
      const converted = asAmqp091(message10({ body }));
      const { properties, body: hex } = read091(converted);
      assert.equal(properties.type, 'amqp-1.0');
      assert.equal(hex, Buffer.from(body).toString('hex'));
      const again = read10(asAmqp10(converted));
      assert.equal(Buffer.from(again.bytes.subarray(again.bodyStart, again.end)).toString('hex'), hex);
    }
  });

  it('of several data sections has their bytes one after the other', () => {
    const body = Buffer.concat([section(Descriptor.data, bytesOf('01')), section(Descriptor.data, bytesOf('0203'))]);
    assert.equal(read091(asAmqp091(message10({ body }))).body, '010203');
  });

  it('can always be shown, whatever is in it', () => {
    const long = fc.string({ unit: 'binary', maxLength: 400 });
    const properties = fc.record(
      {
        messageId: anyValue,
        correlationId: anyValue,
        subject: long,
        replyTo: anyValue,
        groupId: long,
        userId: fc.uint8Array(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anyFields, properties, anyFields, (annotations, props, application) => {
        const shown = asAmqp091(
          message10({ annotations, properties: props as Partial<MessageProperties>, application }),
        );
        read091(shown);
        read10(asAmqp10(shown));
      }),
    );
    const broken = message10({ application: new MapValue([]) });
    // The map's count says more than is there.
    const at = broken.bodyStart - 1;
    broken.bytes[at] = 2;
    assert.equal(read091(asAmqp091(broken)).properties.headers, undefined);
  });
});
