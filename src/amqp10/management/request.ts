import { ByteReader } from '../../wire/byte-reader.js';
import { ByteWriter } from '../../wire/byte-writer.js';
import { Condition, Descriptor, MessageProperties, MessageView, textOf, type Value } from '../codec/index.js';
import { decodeFailure } from '../codec/amqp-error.js';
import { Code } from '../codec/format-codes.js';
import { readDescriptor } from '../codec/field-reader.js';
import { ListWriter } from '../codec/list-writer.js';
import { readValue } from '../codec/value-reader.js';
import { writeValue } from '../codec/value-writer.js';
import { MapValue } from '../codec/values.js';
import { LinkError } from '../errors.js';

/** A request of HTTP as a message (OASIS, "HTTP over AMQP", and "AMQP link pair" for where its answer goes). */
export interface Request {
  /** The answer's correlation-id. */
  readonly id: Value | undefined;
  readonly method: string;
  /** Path and query. */
  readonly to: string;
  /** Null: none. */
  readonly body: Value;
}

/** The answer goes to the link of the same name in the other direction. */
const replyToPair = '$me';
const message = new MessageView();
const reader = new ByteReader();

/** Throws LinkError if it is none: no answer could find its way. */
export function readRequest(bytes: Uint8Array, start: number, end: number): Request {
  message.set(bytes, start, end);
  const { messageId: id, subject, to, replyTo } = message.properties() ?? new MessageProperties();
  const path = textOf(to);
  if (subject === undefined || path === undefined || textOf(replyTo) !== replyToPair)
    throw new LinkError(
      Condition.invalidField,
      `a request has a method as subject, a path as to, and the reply-to ${replyToPair}`,
    );
  return { id, method: subject, to: path, body: bodyOf(message) };
}

function bodyOf({ bytes, bodyStart, bodyKind, end }: MessageView): Value {
  if (bodyKind !== Descriptor.amqpValue) return null;
  try {
    reader.set(bytes, bodyStart + 1, end);
    readDescriptor(reader);
    return readValue(reader);
  } catch (error) {
    throw decodeFailure(error, 'amqp-value');
  }
}

/** The answer to a request, as a message. */
export function writeAnswer(id: Value | undefined, status: string, body: Value): Uint8Array {
  const writer = new ByteWriter();
  const properties = new MessageProperties();
  properties.subject = status;
  properties.correlationId = id;
  properties.encode(new ListWriter(writer));
  section(writer, Descriptor.applicationProperties, new MapValue([['http:response', '1.1']]));
  section(writer, Descriptor.amqpValue, body);
  return writer.take();
}

function section(writer: ByteWriter, code: number, value: Value): void {
  writer.u8(Code.described);
  writer.u8(Code.smallUlong);
  writer.u8(code);
  writeValue(writer, value);
}
