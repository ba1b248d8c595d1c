/** basic.publish and basic.ack, decoded without an object or a string. */
import { readU64 } from '../../wire/bytes.js';
import { decodeText } from '../../wire/utf8.js';
import { DecodeError } from '../../wire/decode-error.js';
import { MethodId } from './generated/ids.js';
import { malformed } from './method.js';

/**
 * A basic.publish where it lies. Payload: u32 method id, u16 reserved, exchange, routing key, u8 bits.
 * The two short strings together are the message's meta: equal bytes mean an equal route.
 */
export class PublishView {
  bytes: Uint8Array = new Uint8Array(0);
  /** The exchange's length octet. */
  metaStart = 0;
  metaLength = 0;
  /** The routing key's length octet. */
  routingKeyAt = 0;
  mandatory = false;
  immediate = false;

  /** Reads the payload [start, end) of a basic.publish. Throws ProtocolError 502. */
  set(bytes: Uint8Array, start: number, end: number): this {
    const metaStart = start + 6;
    const routingKeyAt = metaStart < end ? metaStart + 1 + bytes[metaStart]! : end;
    const bitsAt = routingKeyAt < end ? routingKeyAt + 1 + bytes[routingKeyAt]! : end;
    if (bitsAt + 1 !== end) throw malformed(MethodId.basicPublish, wrongLength(bitsAt + 1, end));
    const bits = bytes[bitsAt]!;
    this.bytes = bytes;
    this.metaStart = metaStart;
    this.metaLength = bitsAt - metaStart;
    this.routingKeyAt = routingKeyAt;
    this.mandatory = (bits & 1) !== 0;
    this.immediate = (bits & 2) !== 0;
    return this;
  }

  /** Throws ProtocolError 502 if it is not UTF-8. */
  exchange(): string {
    return this.text(this.metaStart);
  }

  /** Throws ProtocolError 502 if it is not UTF-8. */
  routingKey(): string {
    return this.text(this.routingKeyAt);
  }

  private text(at: number): string {
    try {
      return decodeText(this.bytes, at + 1, at + 1 + this.bytes[at]!);
    } catch (error) {
      if (error instanceof DecodeError) throw malformed(MethodId.basicPublish, error.message);
      throw error;
    }
  }
}

/** A basic.ack. Payload: u32 method id, u64 delivery tag, u8 bits. */
export class AckView {
  /** Above 2^53 rounded; no such delivery exists. */
  deliveryTag = 0;
  multiple = false;

  /** Reads the payload [start, end) of a basic.ack. Throws ProtocolError 502. */
  set(bytes: Uint8Array, start: number, end: number): this {
    if (end - start !== ackBytes) throw malformed(MethodId.basicAck, wrongLength(start + ackBytes, end));
    this.deliveryTag = readU64(bytes, start + 4);
    this.multiple = (bytes[start + 12]! & 1) !== 0;
    return this;
  }
}

const ackBytes = 13;

function wrongLength(expectedEnd: number, end: number): string {
  return expectedEnd > end ? 'it is cut short' : `${end - expectedEnd} bytes too many`;
}
