/** Writes frames into one output buffer: methods from objects, and the hot ones straight from their parts. */
import type { EnqueueView, MessageParts } from '../../log/record.js';
import { ByteWriter } from '../../wire/byte-writer.js';
import { copyRun } from '../../wire/bytes.js';
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
    this.body(channel, body, 0, body.length);
  }

  /** basic.deliver with its content. */
  deliver(template: DeliverTemplate, deliveryTag: number, redelivered: boolean, message: EnqueueView): void {
    const prefix = template.bytes;
    const frame = prefix.length + 9 + message.metaLength + 1;
    const start = this.output.ensure(frame + this.contentBytes(message.headerLength, message.bodyLength));
    const { bytes, view } = this.output;
    copyRun(prefix, template.view, 0, prefix.length, bytes, view, start);
    view.setUint32(start + 3, frame - frameOverheadBytes);
    let at = start + prefix.length;
    view.setUint32(at, deliveryTag / 0x1_0000_0000);
    view.setUint32(at + 4, deliveryTag);
    bytes[at + 8] = redelivered ? 1 : 0;
    at += 9;
    copyRun(message.bytes, message.view, message.metaStart, message.metaLength, bytes, view, at);
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
    copyRun(message.bytes, message.view, message.metaStart, message.metaLength, bytes, view, at);
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
    const start = output.ensure(frameHeaderBytes + contentHeaderFixedBytes);
    output.length = this.putHeaderStart(start, channel, message.headerLength, message.bodyLength);
    output.raw(message.headerBytes, message.headerStart, message.headerStart + message.headerLength);
    output.u8(Frame.end);
    this.body(channel, message.bodyBytes, message.bodyStart, message.bodyStart + message.bodyLength);
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

  /** Bytes of header and body frames. */
  private contentBytes(headerLength: number, bodyLength: number): number {
    const bodyFrames = bodyLength <= this.bodyBytesMax ? 1 : Math.ceil(bodyLength / this.bodyBytesMax);
    return contentHeaderFixedBytes + headerLength + bodyLength + (1 + bodyFrames) * frameOverheadBytes;
  }

  /** Header and body frames of a stored message (of a large one the header only), at `start`, where there is room; ends the output there. */
  private putStored(start: number, channel: number, message: EnqueueView): void {
    const { bytes, view } = this.output;
    const { headerLength, bodyLength } = message;
    let at = this.putHeaderStart(start, channel, headerLength, message.contentLength);
    copyRun(message.bytes, message.view, message.headerStart, headerLength, bytes, view, at);
    at += headerLength;
    bytes[at++] = Frame.end;
    if (message.isLarge) {
      this.output.length = at;
      return;
    }
    let from = message.bodyStart;
    const bodyEnd = from + bodyLength;
    while (from < bodyEnd) {
      const count = Math.min(bodyEnd - from, this.bodyBytesMax);
      at = this.putFrameHeader(at, Frame.body, channel, count);
      copyRun(message.bytes, message.view, from, count, bytes, view, at);
      at += count;
      bytes[at++] = Frame.end;
      from += count;
    }
    this.output.length = at;
  }

  /** The header frame up to the properties. */
  private putHeaderStart(start: number, channel: number, headerLength: number, bodyLength: number): number {
    const { view } = this.output;
    const at = this.putFrameHeader(start, Frame.header, channel, contentHeaderFixedBytes + headerLength);
    view.setUint32(at, ClassId.basic << 16);
    view.setUint32(at + 4, bodyLength / 0x1_0000_0000);
    view.setUint32(at + 8, bodyLength);
    return at + contentHeaderFixedBytes;
  }

  /** Body frames, from bytes of which there is no view. */
  body(channel: number, from: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at += this.bodyBytesMax) {
      const mark = this.begin(Frame.body, channel);
      this.output.raw(from, at, Math.min(end, at + this.bodyBytesMax));
      this.end(mark);
    }
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
