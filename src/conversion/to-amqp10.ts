/** A message of AMQP 0-9-1 as consumers of AMQP 1.0 get it. Table: docs/protocols/amqp10.md. */
import { BasicProperties } from '../amqp091/codec/generated/properties.js';
import { AmqpError } from '../amqp10/codec/amqp-error.js';
import { Descriptor } from '../amqp10/codec/generated/descriptors.js';
import { MessageHeader, MessageProperties } from '../amqp10/codec/generated/sections.js';
import { ListWriter } from '../amqp10/codec/list-writer.js';
import { MessageView } from '../amqp10/codec/message-view.js';
import { writeBinaryHeader, writeMap } from '../amqp10/codec/value-writer.js';
import { Code } from '../amqp10/codec/format-codes.js';
import { fieldMap, MapValue, Scalar, symbol, type Value } from '../amqp10/codec/values.js';
import { MessageFormat } from '../log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts, RecordFlag } from '../log/record.js';
import type { Arguments, ArgumentValue } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { decodeLooseText } from '../wire/utf8.js';
import { deathAnnotation, deathHeader, deathsInHeader, toDeathAnnotation } from './deaths.js';
import { Annotation, carbonCopiesHeader, encodedBodyType, Header } from './names.js';
import { ascii, isAscii, toValue, uuidBytes } from './values.js';

const reader = new ByteReader();
const writer = new ByteWriter();
const list = new ListWriter(writer);
const parts = new MessageParts();
const view = new EnqueueView();
const body = new MessageView();
const hiddenHeader = 'BCC';

/**
 * The message with its head and body in the encoding of AMQP 1.0; what frames the body (the data section's beginning) stands at the end of
 * the head. Of a large message the body is still its manifest. Valid until the next call.
 */
export function asAmqp10(message: EnqueueView): EnqueueView {
  const { bytes, headerStart, headerLength, contentLength } = message;
  const properties = BasicProperties.decode(reader.set(bytes, headerStart, headerStart + headerLength));
  parts.setFrom(message);
  writer.rewind(0);
  headerOf(properties, message).encode(list);
  writeSection(Descriptor.messageAnnotations, annotationsOf(properties, message));
  propertiesOf(properties).encode(list);
  writeSection(Descriptor.applicationProperties, applicationPropertiesOf(properties.headers));
  if (!isEncodedBody(properties, message)) {
    putDescriptor(Descriptor.data);
    writeBinaryHeader(writer, contentLength);
  }
  parts.format = MessageFormat.amqp10;
  parts.origin = undefined;
  parts.hidden = false;
  parts.setHeader(writer.bytes.subarray(0, writer.length));
  const copy = new Uint8Array(enqueueLength(parts, 0));
  const copyView = new DataView(copy.buffer);
  encodeEnqueue(copy, copyView, 0, parts, [], false, 0, 0);
  return view.set(copy, copyView, 0);
}

function putDescriptor(code: number): void {
  writer.u8(Code.described);
  writer.u8(Code.smallUlong);
  writer.u8(code);
}

function writeSection(code: number, map: MapValue): void {
  if (map.entries.length === 0) return;
  putDescriptor(code);
  writeMap(writer, map);
}

function headerOf({ priority, expiration }: BasicProperties, { flags }: EnqueueView): MessageHeader {
  const header = new MessageHeader();
  header.durable = (flags & RecordFlag.persistent) !== 0;
  header.priority = priority;
  const ttl = Number(expiration);
  if (expiration !== undefined && Number.isSafeInteger(ttl)) header.ttl = Math.min(ttl, 0xffff_ffff);
  return header;
}

function propertiesOf(from: BasicProperties): MessageProperties {
  const to = new MessageProperties();
  const { headers = {} } = from;
  to.messageId = identifier(from.messageId, headers, Header.messageId);
  to.correlationId = identifier(from.correlationId, headers, Header.correlationId);
  to.replyTo = from.replyTo ?? textIn(headers, Header.replyTo);
  const {
    contentType = textIn(headers, Header.contentType),
    contentEncoding = textIn(headers, Header.contentEncoding),
  } = from;
  if (contentType !== undefined && isAscii(contentType)) to.contentType = contentType;
  if (contentEncoding !== undefined && isAscii(contentEncoding)) to.contentEncoding = contentEncoding;
  to.creationTime = from.timestamp === undefined ? undefined : from.timestamp * 1000;
  to.groupId = from.appId ?? textIn(headers, Header.groupId);
  if (from.userId !== undefined) to.userId = Buffer.from(from.userId, 'utf8');
  to.subject = textIn(headers, Header.subject);
  to.to = textIn(headers, Header.to);
  to.replyToGroupId = textIn(headers, Header.replyToGroupId);
  const sequence = valueIn(headers, Header.groupSequence);
  if (typeof sequence === 'number') to.groupSequence = sequence >>> 0;
  return to;
}

function identifier(text: string | undefined, headers: Arguments, otherwise: string): Value | undefined {
  if (text === undefined) {
    const value = valueIn(headers, otherwise);
    return typeof value === 'string' || value instanceof Uint8Array ? value : undefined;
  }
  const uuid = uuidBytes(text);
  return uuid === undefined ? text : new Scalar('uuid', uuid);
}

function valueIn(headers: Arguments, name: string): ArgumentValue | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

function textIn(headers: Arguments, name: string): string | undefined {
  const value = valueIn(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/** Headers that are properties there. */
const ownHeaders: ReadonlySet<string> = new Set<string>(Object.values(Header));

function isAnnotation(name: string): boolean {
  return name.startsWith('x-') || name === carbonCopiesHeader;
}

function isSimple(value: ArgumentValue): boolean {
  return value === null || typeof value !== 'object' || value instanceof Uint8Array || toValue(value) instanceof Scalar;
}

function applicationPropertiesOf(headers: Arguments = {}): MapValue {
  const entries: [Value, Value][] = [];
  for (const [name, value] of Object.entries(headers))
    if (!isAnnotation(name) && name !== hiddenHeader && isSimple(value)) entries.push([name, toValue(value)]);
  return new MapValue(entries);
}

function annotationsOf({ headers = {}, type, clusterId }: BasicProperties, message: EnqueueView): MapValue {
  const annotations: Record<string, Value> = {};
  const compound: [Value, Value][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name === hiddenHeader || ownHeaders.has(name)) continue;
    if (name === carbonCopiesHeader) annotations[Annotation.carbonCopies] = toValue(value);
    else if (name === deathHeader) putDeaths(annotations, value);
    else if (isAnnotation(name)) annotations[ascii(name)] = toValue(value);
    else if (!isSimple(value)) compound.push([symbol(ascii(name)), toValue(value)]);
  }
  if (compound.length > 0) annotations[Annotation.compoundHeaders] = new MapValue(compound);
  if (type !== undefined && type !== encodedBodyType) annotations[Annotation.type] = type;
  if (clusterId !== undefined) annotations[Annotation.clusterId] = clusterId;
  const { bytes, metaStart } = message;
  const keyAt = metaStart + 1 + bytes[metaStart]!;
  annotations[Annotation.exchange] = decodeLooseText(bytes, metaStart + 1, keyAt);
  annotations[Annotation.routingKey] = decodeLooseText(bytes, keyAt + 1, keyAt + 1 + bytes[keyAt]!);
  return fieldMap(annotations);
}

function putDeaths(annotations: Record<string, Value>, value: ArgumentValue): void {
  const deaths = deathsInHeader(value);
  if (deaths === undefined) annotations[deathHeader] = toValue(value);
  else annotations[deathAnnotation] = toDeathAnnotation(deaths);
}

/** The body is the body sections themselves. */
function isEncodedBody({ type }: BasicProperties, { bytes, bodyStart, bodyLength, isLarge }: EnqueueView): boolean {
  // Whether a body is what it is said to be is known when all of it is there.
  if (type !== encodedBodyType || isLarge) return false;
  try {
    return body.set(bytes, bodyStart, bodyStart + bodyLength).bodyStart === bodyStart;
  } catch (error) {
    if (error instanceof AmqpError) return false;
    throw error;
  }
}
