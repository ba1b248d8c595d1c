/**
 * Frames of one connection, encoded into `output`. What goes out for every message is written without a list writer: transfers with a
 * template per link, dispositions and flows field by field at fixed places.
 *
 *   transfer   8 frame header   00 53 14   c0 size 06   70 handle   70 delivery-id   a0 04 tag   70 message-format   settled   more   payload
 */
import type { ByteWriter } from '../../wire/byte-writer.js';
import { copyBytes } from '../../wire/bytes.js';
import { AmqpError } from './amqp-error.js';
import { Code } from './format-codes.js';
import { FrameType, frameHeaderBytes } from './frame-parser.js';
import { Condition } from './generated/conditions.js';
import { Descriptor, descriptorName } from './generated/descriptors.js';
import type { Flow } from './generated/performatives.js';
import type { DeliveryState } from './generated/states.js';
import { type Composite, ListWriter } from './list-writer.js';
import type { ProtocolId } from './protocol-header.js';
import { protocolHeader } from './protocol-header.js';

const doff = 2;

/** Bytes of a transfer before its payload: see above. */
export const transferHeadBytes = 37;
const transferListStart = 13;

/** What a transfer frame says besides its payload. Numbers of 32 bits. */
export interface TransferHead {
  handle: number;
  deliveryId: number;
  settled: boolean;
  /** Neither 0 nor undefined: the tag is this number in hexadecimal digits, else the delivery's id; and the delivery may be one from before (`resumes`). */
  position?: number;
  resumes?: boolean;
}

/** Such a tag: positions have 53 bits. */
export const positionTagBytes = 14;
/** Then the head has a longer tag, and the fields up to `resume`. */
const resumableHeadBytes = transferHeadBytes + positionTagBytes - 4 + 3;
const digits = Buffer.from('0123456789abcdef', 'latin1');

function headBytes({ position }: TransferHead): number {
  return position === undefined || position === 0 ? transferHeadBytes : resumableHeadBytes;
}

export class FrameWriter {
  readonly output: ByteWriter;
  /** The peer takes frames up to this size. */
  frameMax = 512;
  private readonly list: ListWriter;

  constructor(output: ByteWriter) {
    this.output = output;
    this.list = new ListWriter(output);
  }

  protocolHeader(id: ProtocolId): void {
    this.output.raw(protocolHeader(id));
  }

  /** A sign of life. */
  empty(): void {
    this.end(this.begin(FrameType.amqp, 0));
  }

  /** Throws AmqpError frame-size-too-small, and nothing is written, if the peer takes no frame that large (§2.8.15). */
  performative(channel: number, body: Composite & { descriptor: number }): void {
    const mark = this.begin(FrameType.amqp, channel);
    body.encode(this.list);
    const size = this.output.length - mark;
    if (size <= this.frameMax) return this.end(mark);
    this.output.rewind(mark);
    const text = `${descriptorName(body.descriptor)} takes a frame of ${size} bytes, max-frame-size is ${this.frameMax}`;
    throw new AmqpError(Condition.frameSizeTooSmall, text);
  }

  sasl(body: Composite): void {
    const mark = this.begin(FrameType.sasl, 0);
    body.encode(this.list);
    this.end(mark);
  }

  /** Deliveries first to last have that state, which takes four bytes. */
  disposition(channel: number, role: boolean, first: number, last: number, state: number): void {
    const mark = this.begin(FrameType.amqp, channel);
    const { output } = this;
    const at = output.ensure(24);
    const { bytes, view } = output;
    bytes[at] = Code.described;
    bytes[at + 1] = Code.smallUlong;
    bytes[at + 2] = Descriptor.disposition;
    bytes[at + 3] = Code.list8;
    bytes[at + 4] = 17;
    bytes[at + 5] = 5;
    bytes[at + 6] = role ? Code.true : Code.false;
    bytes[at + 7] = Code.uint;
    view.setUint32(at + 8, first);
    bytes[at + 12] = Code.uint;
    view.setUint32(at + 13, last);
    bytes[at + 17] = Code.true;
    bytes[at + 18] = Code.described;
    bytes[at + 19] = Code.smallUlong;
    bytes[at + 20] = state;
    bytes[at + 21] = Code.list0;
    output.length = at + 22;
    this.end(mark);
  }

  /** The same with a state that says more. */
  dispositionWith(channel: number, role: boolean, deliveryId: number, state: DeliveryState): void {
    const mark = this.begin(FrameType.amqp, channel);
    const { list } = this;
    list.begin(Descriptor.disposition);
    list.boolean(role);
    list.uint(deliveryId);
    list.uint(undefined);
    list.boolean(true);
    list.nested(state);
    list.end();
    this.end(mark);
  }

  flow(channel: number, flow: Flow): void {
    this.performative(channel, flow);
  }

  /** Transfer frames that a payload of so many bytes needs. */
  framesFor(payloadBytes: number, head?: TransferHead): number {
    const most = head === undefined ? this.payloadMax : this.frameMax - headBytes(head);
    return Math.max(1, Math.ceil(payloadBytes / most));
  }

  payloadMaxOf(head: TransferHead): number {
    return this.frameMax - headBytes(head);
  }

  /** Payload of a transfer frame. */
  get payloadMax(): number {
    return this.frameMax - transferHeadBytes;
  }

  /**
   * A delivery in as many frames as the peer's max-frame-size makes it (`framesFor`); its payload is `lead`, whose first `leadLength` bytes
   * count, then [start, end) of `bytes`.
   */
  deliver(
    channel: number,
    head: TransferHead,
    lead: Uint8Array,
    leadLength: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { output, frameMax } = this;
    const whole = headBytes(head) + leadLength + end - start;
    if (whole <= frameMax) {
      const at = this.transferHead(channel, head, whole, false);
      const to = output.bytes;
      for (let i = 0; i < leadLength; i++) to[at + i] = lead[i]!;
      copyBytes(bytes, start, end - start, to, at + leadLength);
      output.length = at + leadLength + end - start;
      return;
    }
    const room = frameMax - headBytes(head);
    let from = start;
    let leadAt = 0;
    do {
      const leadPart = Math.min(leadLength - leadAt, room);
      const part = Math.min(end - from, room - leadPart);
      const more = from + part < end || leadAt + leadPart < leadLength;
      const at = this.transferHead(channel, head, headBytes(head) + leadPart + part, more);
      for (let i = 0; i < leadPart; i++) output.bytes[at + i] = lead[leadAt + i]!;
      output.length = at + leadPart;
      output.raw(bytes, from, from + part);
      leadAt += leadPart;
      from += part;
    } while (from < end);
  }

  /**
   * The frame of a delivery that begins at `start` of a piece of its payload; returns where the next one begins.
   * @param follows behind this piece there are others
   */
  deliverPart(channel: number, head: TransferHead, payload: Uint8Array, start: number, follows: boolean): number {
    const part = Math.min(payload.length - start, this.frameMax - headBytes(head));
    const size = headBytes(head) + part;
    this.output.length = this.transferHead(channel, head, size, follows || start + part < payload.length);
    this.output.raw(payload, start, start + part);
    return start + part;
  }

  /** Makes room for a transfer frame of `size` bytes, writes its head and returns where the payload goes; `length` is the caller's. */
  private transferHead(channel: number, head: TransferHead, size: number, more: boolean): number {
    const { handle, deliveryId, settled, position } = head;
    const { output } = this;
    const at = output.ensure(size);
    const { bytes, view } = output;
    view.setUint32(at, size);
    bytes[at + 4] = doff;
    bytes[at + 5] = FrameType.amqp;
    view.setUint16(at + 6, channel);
    bytes[at + 8] = Code.described;
    bytes[at + 9] = Code.smallUlong;
    bytes[at + 10] = Descriptor.transfer;
    bytes[at + 11] = Code.list8;
    bytes[at + 12] = transferHeadBytes - transferListStart;
    bytes[at + 13] = 6;
    bytes[at + 14] = Code.uint;
    view.setUint32(at + 15, handle);
    bytes[at + 19] = Code.uint;
    view.setUint32(at + 20, deliveryId);
    if (position !== undefined && position !== 0) return this.resumableHead(at, position, head, more);
    bytes[at + 24] = Code.binary8;
    bytes[at + 25] = 4;
    view.setUint32(at + 26, deliveryId);
    bytes[at + 30] = Code.uint;
    view.setUint32(at + 31, 0);
    bytes[at + 35] = settled ? Code.true : Code.false;
    bytes[at + 36] = more ? Code.true : Code.false;
    return at + transferHeadBytes;
  }

  /** The same from the tag on, for a delivery that may be resumed. */
  private resumableHead(at: number, position: number, { settled, resumes }: TransferHead, more: boolean): number {
    const { bytes, view } = this.output;
    bytes[at + 12] = resumableHeadBytes - transferListStart;
    bytes[at + 13] = 9;
    bytes[at + 24] = Code.binary8;
    bytes[at + 25] = positionTagBytes;
    let left = position;
    for (let to = at + 25 + positionTagBytes; to > at + 25; to--, left = Math.floor(left / 16))
      bytes[to] = digits[left % 16]!;
    const rest = at + 26 + positionTagBytes;
    bytes[rest] = Code.uint;
    view.setUint32(rest + 1, 0);
    bytes[rest + 5] = settled ? Code.true : Code.false;
    bytes[rest + 6] = more ? Code.true : Code.false;
    bytes[rest + 7] = Code.null;
    bytes[rest + 8] = Code.null;
    bytes[rest + 9] = resumes === true ? Code.true : Code.false;
    return at + resumableHeadBytes;
  }

  /** Begins a frame whose size is not known yet; returns where. */
  private begin(type: number, channel: number): number {
    const { output } = this;
    const at = output.ensure(frameHeaderBytes);
    output.view.setUint32(at, 0);
    output.bytes[at + 4] = doff;
    output.bytes[at + 5] = type;
    output.view.setUint16(at + 6, channel);
    output.length = at + frameHeaderBytes;
    return at;
  }

  /** Ends the frame that began at `at`. */
  private end(at: number): void {
    this.output.patchU32(at, this.output.length - at);
  }
}
