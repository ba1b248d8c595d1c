/**
 * A content header frame's payload (§4.2.6.1):
 *
 *   u16 class   u16 weight   u64 body size   u16 property flags   property list
 */
import { readI32, readU16, readU32, readU64 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { ClassId } from './generated/ids.js';
import { ReplyCode } from './generated/reply-codes.js';
import { PropertyView } from './property-view.js';
import { ProtocolError } from './protocol-error.js';

/** Class, weight and body size; what follows is kept as it came. */
export const contentHeaderFixedBytes = 12;

/** A flyweight that is moved from header to header. */
export class ContentHeader {
  bodySize = 0;
  readonly properties: PropertyView = new PropertyView();

  /**
   * Reads the payload [start, end) and checks all of it. `methodId` is the method the content belongs to, for errors.
   * Throws ProtocolError: 505 another class's header, 502 anything else.
   */
  set(bytes: Uint8Array, start: number, end: number, methodId: number): this {
    if (end - start < contentHeaderFixedBytes) throw malformedHeader(`${end - start} bytes are too few`, methodId);
    // Class and weight at once, and the body size's upper half as an integer: both are the same for nearly every message.
    if (readI32(bytes, start) !== ClassId.basic << 16) refuse(bytes, start, methodId);
    const low = readU32(bytes, start + 8);
    this.bodySize = readI32(bytes, start + 4) === 0 ? low : largeBodySize(bytes, start, methodId);
    try {
      this.properties.set(bytes, start + contentHeaderFixedBytes, end);
    } catch (error) {
      if (error instanceof DecodeError) throw malformedHeader(error.message, methodId);
      throw error;
    }
    return this;
  }
}

/** Says what is wrong with class or weight. */
function refuse(bytes: Uint8Array, start: number, methodId: number): never {
  const classId = readU16(bytes, start);
  if (classId === ClassId.basic)
    throw malformedHeader(`weight is ${readU16(bytes, start + 2)}, it must be 0`, methodId);
  throw new ProtocolError(
    ReplyCode.unexpectedFrame,
    `expected a content header of class ${ClassId.basic}, got one of class ${classId}`,
    methodId,
  );
}

function largeBodySize(bytes: Uint8Array, start: number, methodId: number): number {
  const bodySize = readU64(bytes, start + 4);
  if (bodySize > Number.MAX_SAFE_INTEGER) throw malformedHeader(`no body can have ${bodySize} bytes`, methodId);
  return bodySize;
}

function malformedHeader(reason: string, methodId: number): ProtocolError {
  return new ProtocolError(ReplyCode.syntaxError, `cannot decode a content header: ${reason}`, methodId);
}
