import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  BasicAck,
  BasicDeliver,
  BasicGetOk,
  BasicNack,
  BasicProperties,
  BasicPublish,
  BasicReturn,
  DeliverTemplate,
  FrameParser,
  FrameWriter,
  type Method,
  QueueDeclareOk,
} from '../../../src/amqp091/codec/index.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../../../src/log/record.js';
import { ByteWriter } from '../../../src/wire/byte-writer.js';
import { EncodeError } from '../../../src/wire/decode-error.js';
import { properties, Recorder, shortText } from './support.js';

interface Message {
  exchange: string;
  routingKey: string;
  properties: BasicProperties;
  body: Uint8Array;
}

const message: fc.Arbitrary<Message> = fc.record({
  exchange: shortText,
  routingKey: shortText,
  properties,
  body: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 4000, max: 9000 }).map((size) => new Uint8Array(size).fill(7)),
  ),
});

const tag = fc.oneof(fc.nat(), fc.maxSafeNat());

/** The message's parts as a publisher's channel would fill them. */
function partsOf({ exchange, routingKey, properties: list, body }: Message): MessageParts {
  const method = new ByteWriter();
  new BasicPublish(exchange, routingKey, false, false).encode(method);
  const header = new ByteWriter();
  list.encode(header);
  const parts = new MessageParts();
  parts.metaBytes = method.take();
  parts.metaStart = 2;
  parts.metaLength = parts.metaBytes.length - 3;
  parts.headerBytes = header.take();
  parts.headerLength = parts.headerBytes.length;
  parts.bodyBytes = body;
  parts.bodyLength = body.length;
  return parts;
}

function stored(value: Message): EnqueueView {
  const parts = partsOf(value);
  const at = 13;
  const bytes = new Uint8Array(at + enqueueLength(parts, 2));
  const view = new DataView(bytes.buffer);
  encodeEnqueue(bytes, view, at, parts, [1, 2], true, 3, 4);
  return new EnqueueView().set(bytes, view, at);
}

/** Compares what two ways of writing give, the second by objects. */
function assertSame(
  frameMax: number,
  actual: (writer: FrameWriter) => void,
  channel: number,
  method: Method,
  value?: Message,
): void {
  const hot = new FrameWriter();
  const common = new FrameWriter();
  hot.frameMax = frameMax;
  common.frameMax = frameMax;
  // Something stands before it.
  hot.heartbeat();
  common.heartbeat();
  actual(hot);
  if (value === undefined) common.method(channel, method);
  else common.methodWithContent(channel, method, value.properties, value.body);
  assert.equal(Buffer.from(hot.output.take()).toString('hex'), Buffer.from(common.output.take()).toString('hex'));
}

const frameMax = fc.constantFrom(4096, 131_072, 0);
const channel = fc.integer({ min: 1, max: 0xffff });

test('deliver writes what the common way writes', () => {
  fc.assert(
    fc.property(frameMax, channel, shortText, tag, fc.boolean(), message, (max, on, consumer, number, again, value) => {
      const method = new BasicDeliver(consumer, number, again, value.exchange, value.routingKey);
      const template = new DeliverTemplate(on, consumer);
      assertSame(max, (writer) => writer.deliver(template, number, again, stored(value)), on, method, value);
    }),
    { numRuns: 100 },
  );
});

test('getOk writes what the common way writes', () => {
  fc.assert(
    fc.property(frameMax, channel, tag, fc.boolean(), fc.nat(), message, (max, on, number, again, left, value) => {
      const method = new BasicGetOk(number, again, value.exchange, value.routingKey, left);
      assertSame(max, (writer) => writer.getOk(on, number, again, stored(value), left), on, method, value);
    }),
    { numRuns: 60 },
  );
});

test('returned writes what the common way writes', () => {
  fc.assert(
    fc.property(frameMax, channel, shortText, message, (max, on, text, value) => {
      const method = new BasicReturn(312, text, value.exchange, value.routingKey);
      assertSame(max, (writer) => writer.returned(on, 312, text, partsOf(value)), on, method, value);
    }),
    { numRuns: 60 },
  );
});

test('ack and nack write what the common way writes', () => {
  fc.assert(
    fc.property(channel, tag, fc.boolean(), fc.boolean(), (on, number, multiple, requeue) => {
      assertSame(4096, (writer) => writer.ack(on, number, multiple), on, new BasicAck(number, multiple));
      assertSame(
        4096,
        (writer) => writer.nack(on, number, multiple, requeue),
        on,
        new BasicNack(number, multiple, requeue),
      );
    }),
  );
});

test('no body frame exceeds frame-max, and together they are the body', () => {
  for (const size of [0, 1, 4087, 4088, 4089, 8176, 8177, 20_000]) {
    const body = new Uint8Array(size).map((_, index) => index);
    const writer = new FrameWriter();
    writer.deliver(
      new DeliverTemplate(1, 'c'),
      1,
      false,
      stored({ exchange: '', routingKey: 'q', properties: new BasicProperties(), body }),
    );
    const recorder = new Recorder();
    new FrameParser(recorder, false).feed(writer.output.take());
    const bodies = recorder.seen.filter(([kind]) => kind === 'body').map(([, , payload]) => payload);
    assert.equal(bodies.length, Math.ceil(size / 4088), String(size));
    for (const payload of bodies) assert.ok(payload.length / 2 + 8 <= 4096);
    assert.equal(bodies.join(''), Buffer.from(body).toString('hex'));
  }
});

test('a method that cannot be written leaves nothing behind', () => {
  const writer = new FrameWriter();
  writer.heartbeat();
  const before = writer.output.length;
  assert.throws(() => writer.method(1, new QueueDeclareOk('q'.repeat(256), 0, 0)), EncodeError);
  assert.equal(writer.output.length, before);
});

test('a method over frame-max is refused and leaves nothing behind', () => {
  const writer = new FrameWriter();
  writer.frameMax = 64;
  assert.throws(
    () => writer.method(1, new QueueDeclareOk('q'.repeat(100), 0, 0)),
    /^EncodeError: queue.declare-ok takes 121 bytes, frame-max is 64$/,
  );
  assert.equal(writer.output.length, 0);
});

test('a reply text over 255 bytes is cut at a character', () => {
  const value = { exchange: '', routingKey: 'q', properties: new BasicProperties(), body: new Uint8Array(0) };
  const method = new BasicReturn(312, 'ü'.repeat(127), '', 'q');
  assertSame(4096, (writer) => writer.returned(1, 312, 'ü'.repeat(200), partsOf(value)), 1, method, value);
});
