/** What the codec costs per message, in nanoseconds. `node build/bench/codec.bench.js [rounds]` */
import {
  AckView,
  BasicProperties,
  BasicPublish,
  ContentHeader,
  contentHeaderFixedBytes,
  DeliverTemplate,
  decodeMethod,
  type FrameHandler,
  FrameParser,
  FrameWriter,
  MethodId,
  methodIdAt,
  PublishView,
} from '../src/amqp091/codec/index.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../src/log/record.js';
import { sameBytes } from '../src/wire/bytes.js';

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

function properties(): BasicProperties {
  const result = new BasicProperties();
  result.contentType = 'text/plain';
  result.deliveryMode = 2;
  return result;
}

/** What a broker does with each publish, up to the point where it has a route and the message's parts. */
class PublishReader implements FrameHandler {
  readonly publish: PublishView = new PublishView();
  readonly content: ContentHeader = new ContentHeader();
  readonly ack: AckView = new AckView();
  private readonly lastMeta = new Uint8Array(512);
  private lastMetaLength = 0;
  misses = 0;
  bodyBytes = 0;
  tags = 0;

  protocolHeader(): void {}
  heartbeat(): void {}

  method(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    const id = methodIdAt(bytes, start, end);
    if (id === MethodId.basicPublish) {
      const { metaStart, metaLength } = this.publish.set(bytes, start, end);
      if (metaLength !== this.lastMetaLength || !sameBytes(bytes, metaStart, this.lastMeta, 0, metaLength)) {
        this.misses++;
        this.lastMeta.set(bytes.subarray(metaStart, metaStart + metaLength));
        this.lastMetaLength = metaLength;
      }
    } else {
      this.tags += this.ack.set(bytes, start, end).deliveryTag;
    }
  }

  header(_channel: number, bytes: Uint8Array, start: number, end: number): void {
    this.content.set(bytes, start, end, MethodId.basicPublish);
  }

  body(_channel: number, _bytes: Uint8Array, start: number, end: number): void {
    this.bodyBytes += end - start;
  }
}

function benchPublish(bodyBytes: number): void {
  const writer = new FrameWriter();
  writer.frameMax = frameMax;
  let count = 0;
  const body = new Uint8Array(bodyBytes);
  while (writer.output.length < chunkBytesMax) {
    writer.methodWithContent(1, new BasicPublish('', 'orders-1', false, false), properties(), body);
    count++;
  }
  const stream = writer.output.take();
  const handler = new PublishReader();
  const parser = new FrameParser(handler, false);
  parser.frameMax = frameMax;
  measure(`decode publish, header and body, ${bodyBytes} B, whole chunks`, count * 20, () => {
    for (let i = 0; i < 20; i++) parser.feed(stream);
  });
  const half = stream.subarray(0, stream.length - 50);
  const rest = stream.subarray(stream.length - 50);
  measure(`decode publish, header and body, ${bodyBytes} B, one split frame a chunk`, count * 20, () => {
    for (let i = 0; i < 20; i++) {
      parser.feed(half);
      parser.feed(rest);
    }
  });
}

function benchAck(): void {
  const writer = new FrameWriter();
  for (let i = 0; i < 1000; i++) writer.ack(1, i, false);
  const stream = writer.output.take();
  const parser = new FrameParser(new PublishReader(), false);
  measure('decode ack', 20_000, () => {
    for (let i = 0; i < 20; i++) parser.feed(stream);
  });
  measure('encode ack', 20_000, () => {
    for (let i = 0; i < 20; i++) {
      for (let tag = 0; tag < 1000; tag++) writer.ack(1, tag, false);
      writer.output.recycle(writer.output.take());
    }
  });
}

function benchObject(): void {
  const writer = new FrameWriter();
  writer.method(1, new BasicPublish('', 'orders-1', false, false));
  const frame = writer.output.take();
  measure('decode publish into an object', 20_000, () => {
    for (let i = 0; i < 20_000; i++) decodeMethod(frame, 7, frame.length - 1);
  });
}

function stored(bodyBytes: number): EnqueueView {
  const writer = new FrameWriter();
  properties().encode(writer.output);
  const header = writer.output.take();
  const parts = new MessageParts();
  parts.metaBytes = Uint8Array.of(0, 8, 0x6f, 0x72, 0x64, 0x65, 0x72, 0x73, 0x2d, 0x31);
  parts.metaLength = parts.metaBytes.length;
  parts.headerBytes = header;
  parts.headerLength = header.length;
  parts.bodyBytes = new Uint8Array(bodyBytes);
  parts.bodyLength = bodyBytes;
  const bytes = new Uint8Array(256 * 1024);
  const view = new DataView(bytes.buffer);
  const at = 1000;
  encodeEnqueue(bytes, view, at, parts, [1], true, 1, 1);
  if (enqueueLength(parts, 1) !== view.getUint32(at, true)) throw new Error('unexpected record length');
  return new EnqueueView().set(bytes, view, at);
}

function benchDeliver(bodyBytes: number): void {
  const writer = new FrameWriter();
  writer.frameMax = frameMax;
  const template = new DeliverTemplate(1, 'amq.ctag-0123456789abcdef');
  const message = stored(bodyBytes);
  const perTurn = Math.ceil(100_000 / (bodyBytes + 200));
  measure(`encode deliver, header and body, ${bodyBytes} B`, perTurn * 20, () => {
    for (let i = 0; i < 20; i++) {
      for (let tag = 1; tag <= perTurn; tag++) writer.deliver(template, tag, false, message);
      writer.output.recycle(writer.output.take());
    }
  });
}

console.log(`content header: ${contentHeaderFixedBytes} bytes and properties content-type, delivery-mode`);
for (const bodyBytes of [16, 100, 1024, 16_384]) benchPublish(bodyBytes);
for (const bodyBytes of [16, 100, 1024, 16_384]) benchDeliver(bodyBytes);
benchAck();
benchObject();
