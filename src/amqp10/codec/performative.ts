/** Frame bodies, the common way: they become objects. transfer, disposition and flow have a faster one (hot-performatives.ts). */
import { ByteReader } from '../../wire/byte-reader.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { FieldReader, readDescriptor } from './field-reader.js';
import { Code } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { descriptorName } from './generated/descriptors.js';
import { decodePerformative as decodeByCode, type Performative } from './generated/performatives.js';
import { decodeSaslPerformative, type SaslPerformative } from './generated/sasl.js';

const reader = new ByteReader();

/**
 * The code of the performative that begins at `start`, if its descriptor has the usual form (a small ulong); -1 else. No error is
 * thrown: whoever decodes it does.
 */
export function performativeAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 3 || bytes[start] !== Code.described || bytes[start + 1] !== Code.smallUlong) return -1;
  return bytes[start + 2]!;
}

/**
 * The frame body in [start, end) with its descriptor in the usual form, if it has another one; undefined if it is none. For those that are
 * not decoded here.
 */
export function inUsualForm(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
  if (performativeAt(bytes, start, end) >= 0 || bytes[start] !== Code.described) return undefined;
  let code: number;
  try {
    code = readDescriptor(reader.set(bytes, start + 1, end));
  } catch (error) {
    throw decodeFailure(error, 'a frame body');
  }
  if (code < 0 || code > 0xff) return undefined;
  const usual = new Uint8Array(3 + end - reader.at);
  usual.set([Code.described, Code.smallUlong, code]);
  usual.set(bytes.subarray(reader.at, end), 3);
  return usual;
}

/**
 * Decodes the performative in [start, end) of an AMQP frame; nothing may follow it but the payload of a transfer. The object keeps nothing
 * of `bytes`. Throws AmqpError: decode-error, invalid-field, or not-implemented for what no frame may carry.
 */
export function decodePerformative(bytes: Uint8Array, start: number, end: number): Performative {
  return decode(bytes, start, end, decodeByCode);
}

/** The same for SASL frames. */
export function decodeSasl(bytes: Uint8Array, start: number, end: number): SaslPerformative {
  return decode(bytes, start, end, decodeSaslPerformative);
}

function decode<T>(
  bytes: Uint8Array,
  start: number,
  end: number,
  byCode: (code: number, fields: FieldReader) => T | undefined,
): T {
  const fields = new FieldReader(reader.set(bytes, start, end));
  let what = 'a frame body';
  try {
    const code = fields.begin();
    what = descriptorName(code);
    const performative = byCode(code, fields);
    if (performative === undefined) throw new AmqpError(Condition.decodeError, `a frame body of the type ${what}`);
    if (fields.end < end) throw new AmqpError(Condition.decodeError, `${end - fields.end} bytes behind ${what}`);
    return performative;
  } catch (error) {
    throw decodeFailure(error, what);
  }
}
