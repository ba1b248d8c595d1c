/**
 * What AMQP 1.0's codec costs per message, beside that of 0-9-1 at the same work, in nanoseconds. `node build/bench/codec10.bench.js [rounds]`
 *
 * decode: from the bytes of a read to the message's parts, as they go to the broker. encode: from a record to the bytes of a delivery.
 */
import {
  BasicProperties,
  BasicPublish,
  ContentHeader,
  DeliverTemplate,
  FrameParser as FrameParser091,
  FrameWriter as FrameWriter091,
  MethodId,
  methodIdAt,
  PublishView,
} from '../src/amqp091/codec/index.js';
import {
  Descriptor,
  DispositionView,
  FrameParser,
  FrameWriter,
  MessageHeader,
  MessageProperties,
  MessageView,
  performativeAt,
  TransferView,
} from '../src/amqp10/codec/index.js';
import { ListWriter } from '../src/amqp10/codec/list-writer.js';
import { writeBinaryHeader } from '../src/amqp10/codec/value-writer.js';
import { DeliveryLead } from '../src/amqp10/delivery-lead.js';
import { MessageFormat } from '../src/log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../src/log/record.js';
import { ByteWriter } from '../src/wire/byte-writer.js';

const rounds = Number(process.argv[2] ?? 300);
const frameMax = 131_072;
/** As much as a socket gives in one read. */
const chunkBytesMax = 65_536;

/** Prints the best of many short rounds: what it costs while nothing else runs. */
function measure(name: string, operations: number, run: () => void): void {
  run();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / operations);
  }
  console.log(`${name.padEnd(64)} ${best.toFixed(1).padStart(8)} ns`);
}

/** Both messages say: durable, text/plain. */
function sections(bodyBytes: number): Uint8Array {
  const writer = new ByteWriter();
  const list = new ListWriter(writer);
  Object.assign(new MessageHeader(), { durable: true }).encode(list);
  Object.assign(new MessageProperties(), { contentType: 'text/plain' }).encode(list);
  writer.raw(Uint8Array.of(0x00, 0x53, Descriptor.data));
  writeBinaryHeader(writer, bodyBytes);
  writer.raw(new Uint8Array(bodyBytes));
  return writer.take().slice();
}

function properties091(): BasicProperties {
  return Object.assign(new BasicProperties(), { contentType: 'text/plain', deliveryMode: 2 });
}

const parts = new MessageParts();

function setParts(bytes: Uint8Array, start: number, bodyStart: number, end: number): void {
  parts.headerBytes = bytes;
  parts.headerStart = start;
  parts.headerLength = bodyStart - start;
  parts.bodyBytes = bytes;
  parts.bodyStart = bodyStart;
  parts.bodyLength = end - bodyStart;
}

function decode10(bodyBytes: number): void {
  const writer = new FrameWriter(new ByteWriter());
  const payload = sections(bodyBytes);
  let count = 0;
  writer.frameMax = frameMax;
  while (writer.output.length < chunkBytesMax) {
    const head = { handle: 0, deliveryId: count++, settled: false };
    writer.deliver(0, head, payload, 0, payload, 0, payload.length);
  }
  const stream = writer.output.take();
  const transfer = new TransferView();
  const message = new MessageView();
  const parser = new FrameParser({
    protocolHeader() {},
    frame(_type, _channel, bytes, start, end) {
      if (performativeAt(bytes, start, end) !== Descriptor.transfer) return;
      transfer.set(bytes, start, end);
      message.set(bytes, transfer.payloadStart, transfer.payloadEnd);
      if (message.hasUserId) throw new Error('it has none');
      parts.persistent = message.durable !== 0;
      setParts(bytes, message.start, message.bodyStart, message.end);
    },
  });
  parser.frameMax = frameMax;
  measure(`1.0    decode transfer, ${bodyBytes} B`, count * 20, () => {
    for (let i = 0; i < 20; i++) parser.feed(stream);
  });
}

function decode091(bodyBytes: number): void {
  const writer = new FrameWriter091();
  writer.frameMax = frameMax;
  const body = new Uint8Array(bodyBytes);
  let count = 0;
  for (; writer.output.length < chunkBytesMax; count++)
    writer.methodWithContent(1, new BasicPublish('', 'orders-1', false, false), properties091(), body);
  const stream = writer.output.take();
  const publish = new PublishView();
  const content = new ContentHeader();
  const parser = new FrameParser091(
    {
      protocolHeader() {},
      heartbeat() {},
      method(_channel, bytes, start, end) {
        if (methodIdAt(bytes, start, end) === MethodId.basicPublish) publish.set(bytes, start, end);
      },
      header(_channel, bytes, start, end) {
        content.set(bytes, start, end, MethodId.basicPublish);
      },
      body(_channel, bytes, start, end) {
        const { properties } = content;
        parts.persistent = properties.deliveryMode === 2;
        parts.headerBytes = properties.bytes;
        parts.headerStart = properties.start;
        parts.headerLength = properties.end - properties.start;
        parts.bodyBytes = bytes;
        parts.bodyStart = start;
        parts.bodyLength = end - start;
      },
    },
    false,
  );
  parser.frameMax = frameMax;
  measure(`0-9-1  decode publish, header and body, ${bodyBytes} B`, count * 20, () => {
    for (let i = 0; i < 20; i++) parser.feed(stream);
  });
}

function stored(set: (message: MessageParts) => void): EnqueueView {
  const message = new MessageParts();
  message.setMeta(Uint8Array.of(0, 8, 0x6f, 0x72, 0x64, 0x65, 0x72, 0x73, 0x2d, 0x31));
  message.persistent = true;
  set(message);
  const bytes = new Uint8Array(256 * 1024);
  const view = new DataView(bytes.buffer);
  if (enqueueLength(message, 1) > bytes.length) throw new Error('too large');
  encodeEnqueue(bytes, view, 1000, message, [1], true, 1, 1);
  return new EnqueueView().set(bytes, view, 1000);
}

function encode10(bodyBytes: number, perTurn: number): void {
  const payload = sections(bodyBytes);
  const bodyStart = new MessageView().set(payload, 0, payload.length).bodyStart;
  const record = stored((message) => {
    message.format = MessageFormat.amqp10;
    message.setHeader(payload.subarray(0, bodyStart));
    message.setBody(payload.subarray(bodyStart));
  });
  const writer = new FrameWriter(new ByteWriter());
  writer.frameMax = frameMax;
  const view = new MessageView();
  const lead = new DeliveryLead();
  const head = { handle: 0, deliveryId: 0, settled: false };
  measure(`1.0    encode transfer, ${bodyBytes} B`, perTurn * 20, () => {
    for (let i = 0; i < 20; i++) {
      for (let id = 0; id < perTurn; id++) {
        head.deliveryId = id;
        view.setLead(record.bytes, record.headerStart, record.bodyStart + record.bodyLength);
        lead.set(record, view, false, 0);
        writer.deliver(0, head, lead.bytes, lead.length, record.bytes, view.keptStart, view.end);
      }
      writer.output.recycle(writer.output.take());
    }
  });
}

function encode091(bodyBytes: number, perTurn: number): void {
  const writer = new FrameWriter091();
  writer.frameMax = frameMax;
  properties091().encode(writer.output);
  const header = writer.output.take().slice();
  const record = stored((message) => {
    message.setHeader(header);
    message.setBody(new Uint8Array(bodyBytes));
  });
  const template = new DeliverTemplate(1, 'amq.ctag-0123456789abcdef');
  measure(`0-9-1  encode deliver, header and body, ${bodyBytes} B`, perTurn * 20, () => {
    for (let i = 0; i < 20; i++) {
      for (let tag = 1; tag <= perTurn; tag++) writer.deliver(template, tag, false, record);
      writer.output.recycle(writer.output.take());
    }
  });
}

function dispositions(): void {
  const writer = new FrameWriter(new ByteWriter());
  for (let i = 0; i < 1000; i++) writer.disposition(1, true, i, i, Descriptor.accepted);
  const stream = writer.output.take();
  const view = new DispositionView();
  const parser = new FrameParser({
    protocolHeader() {},
    frame(_type, _channel, bytes, start, end) {
      view.set(bytes, start, end);
    },
  });
  measure('1.0    decode disposition', 20_000, () => {
    for (let i = 0; i < 20; i++) parser.feed(stream);
  });
  measure('1.0    encode disposition', 20_000, () => {
    for (let i = 0; i < 20; i++) {
      for (let id = 0; id < 1000; id++) writer.disposition(1, true, id, id, Descriptor.accepted);
      writer.output.recycle(writer.output.take());
    }
  });
}

for (const bodyBytes of [16, 100, 1024, 16_384]) {
  decode091(bodyBytes);
  decode10(bodyBytes);
}
for (const bodyBytes of [16, 100, 1024, 16_384]) {
  const perTurn = Math.ceil(100_000 / (bodyBytes + 200));
  encode091(bodyBytes, perTurn);
  encode10(bodyBytes, perTurn);
}
dispositions();
