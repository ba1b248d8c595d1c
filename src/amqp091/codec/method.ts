/** Method frames, the common way: a payload becomes an object. basic.publish and basic.ack have a faster one (hot-methods.ts). */
import { ByteReader } from '../../wire/byte-reader.js';
import { readU32 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { methodName } from './generated/ids.js';
import { decodeArguments, type Method } from './generated/methods.js';
import { ReplyCode } from './generated/reply-codes.js';
import { ProtocolError } from './protocol-error.js';

const reader = new ByteReader();

/** The method id at the beginning of a method frame's payload. Throws ProtocolError 501 if it is too short for one. */
export function methodIdAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 4) {
    throw new ProtocolError(ReplyCode.frameError, `method frame of ${end - start} bytes, at least 4 expected`);
  }
  return readU32(bytes, start);
}

/**
 * Decodes the payload [start, end) of a method frame. The object keeps nothing of `bytes`.
 * Throws ProtocolError: 501 too short for a method id, 503 no such method, 502 its arguments make no sense.
 */
export function decodeMethod(bytes: Uint8Array, start: number, end: number): Method {
  const id = methodIdAt(bytes, start, end);
  reader.set(bytes, start + 4, end);
  try {
    const method = decodeArguments(id, reader);
    if (method === undefined) throw new ProtocolError(ReplyCode.commandInvalid, `no method ${methodName(id)}`, id);
    reader.finish();
    return method;
  } catch (error) {
    if (error instanceof DecodeError) throw malformed(id, error.message);
    throw error;
  }
}

/** The arguments of a method make no sense: 502. */
export function malformed(id: number, reason: string): ProtocolError {
  return new ProtocolError(ReplyCode.syntaxError, `cannot decode ${methodName(id)}: ${reason}`, id);
}
