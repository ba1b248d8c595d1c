/** Writes frames into one output buffer: methods from objects, and the hot ones straight from their parts. */
import type { EnqueueView, MessageParts } from '../../log/record.js';
import { ByteWriter } from '../../wire/byte-writer.js';
import { copyBytes } from '../../wire/bytes.js';
import { EncodeError } from '../../wire/decode-error.js';
import { contentHeaderFixedBytes } from './content-header.js';
import type { DeliverTemplate } from './deliver-template.js';
import { frameOverheadBytes } from './frame-parser.js';
import { ClassId, Frame, MethodId, methodName } from './generated/ids.js';
import type { Method } from './generated/methods.js';
import type { BasicProperties } from './generated/properties.js';
import { protocolHeader } from './protocol-header.js';
import { fitShortString, writeShortString } from './strings.js';

/** Type, channel, size. */
const frameHeaderBytes = 7;
const unlimited = 0x7fff_ffff;

export class FrameWriter {
  /** Whatever is written gathers here; take it away once per turn. */
  readonly output: ByteWriter;
  private frameBytesMax = Frame.minSize as number;
  private bodyBytesMax = Frame.minSize - frameOverheadBytes;

  constructor(output: ByteWriter = new ByteWriter()) {
    this.output = output;
  }

  /** The largest frame that the peer accepts, its eight bytes of overhead included; 0 = any. Bodies are split by it. */
  set frameMax(bytes: number) {
    this.frameBytesMax = bytes === 0 ? unlimited : bytes;
    this.bodyBytesMax = this.frameBytesMax - frameOverheadBytes;
  }

  get frameMax(): number {
    return this.frameBytesMax;
  }

  protocolHeader(): void {
    this.output.raw(protocolHeader);
  }

  heartbeat(): void {
    this.end(this.begin(Frame.heartbeat, 0));
  }

  /** Throws EncodeError, with nothing written, if a field has no encoding or the frame would exceed frame-max. */
  method(channel: number, method: Method): void {
    const mark = this.begin(Frame.method, channel);
    try {
      this.output.u32(method.id);
      method.encode(this.output);
      const bytes = this.output.length + 1 - mark;
      if (bytes > this.frameBytesMax) {
        throw new EncodeError(`${methodName(method.id)} takes ${bytes} bytes, frame-max is ${this.frameBytesMax}`);
      }
    } catch (error) {
      this.output.rewind(mark);
      throw error;
    }
    this.end(mark);
  }

  /** A method with its content. The header frame is not split: the peer must accept one as large as the properties. */
  methodWithContent(channel: number, method: Method, properties: BasicProperties, body: Uint8Array): void {
    this.method(channel, method);
    const mark = this.begin(Frame.header, channel);
    this.output.u32(ClassId.basic << 16);
    this.output.u64(body.length);
    properties.encode(this.output);
    this.end(mark);
    const from = this.output.ensure(this.bodyFramesBytes(body.length));
    this.output.length = this.putBody(from, channel, body, 0, body.length);
  }

  /** basic.deliver with its content. */
  deliver(template: DeliverTemplate, deliveryTag: number, redelivered: boolean, message: EnqueueView): void {
    const prefix = template.bytes;
    const frame = prefix.length + 9 + message.metaLength + 1;
    const start = this.output.ensure(frame + this.contentBytes(message.headerLength, message.bodyLength));
    const { bytes, view } = this.output;
    copyBytes(prefix, 0, prefix.length, bytes, start);
    view.setUint32(start + 3, frame - frameOverheadBytes);
    let at = start + prefix.length;
    view.setUint32(at, deliveryTag / 0x1_0000_0000);
    view.setUint32(at + 4, deliveryTag);
    bytes[at + 8] = redelivered ? 1 : 0;
    at += 9;
    copyBytes(message.bytes, message.metaStart, message.metaLength, bytes, at);
    at += message.metaLength;
    bytes[at] = Frame.end;
    this.putStored(at + 1, template.channel, message);
  }

  /** basic.get-ok with its content. `remaining`: messages still ready in the queue. */
  getOk(channel: number, deliveryTag: number, redelivered: boolean, message: EnqueueView, remaining: number): void {
    const frame = frameOverheadBytes + 4 + 9 + message.metaLength + 4;
    const start = this.output.ensure(frame + this.contentBytes(message.headerLength, message.bodyLength));
    const { bytes, view } = this.output;
    let at = this.putFrameHeader(start, Frame.method, channel, frame - frameOverheadBytes);
    view.setUint32(at, MethodId.basicGetOk);
    view.setUint32(at + 4, deliveryTag / 0x1_0000_0000);
    view.setUint32(at + 8, deliveryTag);
    bytes[at + 12] = redelivered ? 1 : 0;
    at += 13;
    copyBytes(message.bytes, message.metaStart, message.metaLength, bytes, at);
    at += message.metaLength;
    view.setUint32(at, remaining);
    bytes[at + 4] = Frame.end;
    this.putStored(at + 5, channel, message);
  }

  /** basic.return: a published message goes back. A reply text over 255 bytes is cut. */
  returned(channel: number, replyCode: number, replyText: string, message: MessageParts): void {
    const mark = this.begin(Frame.method, channel);
    const { output } = this;
    output.u32(MethodId.basicReturn);
    output.u16(replyCode);
    writeShortString(output, fitShortString(replyText));
    output.raw(message.metaBytes, message.metaStart, message.metaStart + message.metaLength);
    this.end(mark);
    const start = output.ensure(this.contentBytes(message.headerLength, message.bodyLength));
    let at = this.putHeader(
      start,
      channel,
      message.headerBytes,
      message.headerStart,
      message.headerLength,
      message.bodyLength,
    );
    at = this.putBody(at, channel, message.bodyBytes, message.bodyStart, message.bodyLength);
    output.length = at;
  }

  /** basic.ack, to a publisher. */
  ack(channel: number, deliveryTag: number, multiple: boolean): void {
    this.putSettlement(channel, MethodId.basicAck, deliveryTag, multiple ? 1 : 0);
  }

  /** basic.nack, to a publisher. */
  nack(channel: number, deliveryTag: number, multiple: boolean, requeue: boolean): void {
    this.putSettlement(channel, MethodId.basicNack, deliveryTag, (multiple ? 1 : 0) | (requeue ? 2 : 0));
  }

  private putSettlement(channel: number, methodId: number, deliveryTag: number, bits: number): void {
    const start = this.output.ensure(21);
    const { bytes, view } = this.output;
    const at = this.putFrameHeader(start, Frame.method, channel, 13);
    view.setUint32(at, methodId);
    view.setUint32(at + 4, deliveryTag / 0x1_0000_0000);
    view.setUint32(at + 8, deliveryTag);
    bytes[at + 12] = bits;
    bytes[at + 13] = Frame.end;
    this.output.length = at + 14;
  }

  /** Bytes of all body frames of a body. */
  private bodyFramesBytes(bodyLength: number): number {
    return bodyLength + Math.ceil(bodyLength / this.bodyBytesMax) * frameOverheadBytes;
  }

  private contentBytes(headerLength: number, bodyLength: number): number {
    return frameOverheadBytes + contentHeaderFixedBytes + headerLength + this.bodyFramesBytes(bodyLength);
  }

  /** Header and body frames of a stored message, at `start`, where there is room; ends the output there. */
  private putStored(start: number, channel: number, message: EnqueueView): void {
    const { bytes, bodyLength } = message;
    const at = this.putHeader(start, channel, bytes, message.headerStart, message.headerLength, bodyLength);
    this.output.length = this.putBody(at, channel, bytes, message.bodyStart, bodyLength);
  }

  private putHeader(
    start: number,
    channel: number,
    from: Uint8Array,
    fromStart: number,
    length: number,
    bodyLength: number,
  ): number {
    const { bytes, view } = this.output;
    let at = this.putFrameHeader(start, Frame.header, channel, contentHeaderFixedBytes + length);
    view.setUint32(at, ClassId.basic << 16);
    view.setUint32(at + 4, bodyLength / 0x1_0000_0000);
    view.setUint32(at + 8, bodyLength);
    at += contentHeaderFixedBytes;
    copyBytes(from, fromStart, length, bytes, at);
    bytes[at + length] = Frame.end;
    return at + length + 1;
  }

  private putBody(start: number, channel: number, from: Uint8Array, fromStart: number, length: number): number {
    const { bytes } = this.output;
    let at = start;
    let left = length;
    while (left > 0) {
      const count = left < this.bodyBytesMax ? left : this.bodyBytesMax;
      at = this.putFrameHeader(at, Frame.body, channel, count);
      copyBytes(from, fromStart + length - left, count, bytes, at);
      at += count;
      bytes[at++] = Frame.end;
      left -= count;
    }
    return at;
  }

  private putFrameHeader(at: number, type: number, channel: number, size: number): number {
    const { bytes, view } = this.output;
    bytes[at] = type;
    view.setUint16(at + 1, channel);
    view.setUint32(at + 3, size);
    return at + frameHeaderBytes;
  }

  /** Begins a frame whose size is not known yet; returns where. */
  private begin(type: number, channel: number): number {
    const start = this.output.ensure(frameHeaderBytes);
    this.output.length = this.putFrameHeader(start, type, channel, 0);
    return start;
  }

  /** Ends the frame that began at `start`. */
  private end(start: number): void {
    this.output.u8(Frame.end);
    this.output.patchU32(start + 3, this.output.length - start - frameOverheadBytes);
  }
}
