/** A message of AMQP 1.0 as consumers of AMQP 0-9-1 get it. Table: docs/protocols/amqp10.md. */
import { BasicProperties } from '../amqp091/codec/generated/properties.js';
import { Descriptor } from '../amqp10/codec/generated/descriptors.js';
import { MessageProperties } from '../amqp10/codec/generated/sections.js';
import { forEachData, MessageView } from '../amqp10/codec/message-view.js';
import { MapValue, Scalar, textOf, type Value } from '../amqp10/codec/values.js';
import { MessageFormat } from '../log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts, RecordFlag } from '../log/record.js';
import type { Arguments } from '../model/broker.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { textOrUndefined } from '../wire/utf8.js';
import { deathAnnotation, deathHeader, deathsInAnnotation, toDeathHeader } from './deaths.js';
import { Annotation, carbonCopiesHeader, encodedBodyType, Header } from './names.js';
import { isShort, put, toArgument, toArguments, uuidText } from './values.js';

const writer = new ByteWriter();
const parts = new MessageParts();
const record = new EnqueueView();
const view = new MessageView();

/** The message with header and body in the encoding of AMQP 0-9-1. Valid until the next call. */
export function asAmqp091(message: EnqueueView): EnqueueView {
  const { bytes, headerStart, headerLength, bodyLength } = message;
  view.set(bytes, headerStart, headerStart + headerLength + bodyLength);
  parts.setFrom(message);
  const properties = propertiesOf(message);
  setBody(properties);
  writer.rewind(0);
  properties.encode(writer);
  parts.format = MessageFormat.amqp091;
  parts.origin = undefined;
  parts.setHeader(writer.bytes.subarray(0, writer.length));
  const copy = new Uint8Array(enqueueLength(parts, 0));
  const copyView = new DataView(copy.buffer);
  encodeEnqueue(copy, copyView, 0, parts, [], false, 0, 0);
  return record.set(copy, copyView, 0);
}

/** Data sections are the body; anything else is encoded, as the property `type` says. */
function setBody(properties: BasicProperties): void {
  const { bytes, bodyStart, dataEnd, dataStart, end } = view;
  if (dataStart >= 0) {
    parts.bodyStart = dataStart;
    parts.bodyLength = dataEnd - dataStart;
    return;
  }
  if (view.bodyKind !== Descriptor.data) {
    properties.type = encodedBodyType;
    parts.bodyStart = bodyStart;
    parts.bodyLength = end - bodyStart;
    return;
  }
  const sections: Uint8Array[] = [];
  forEachData(bytes, bodyStart, dataEnd, (from, to) => sections.push(bytes.subarray(from, to)));
  parts.setBody(Buffer.concat(sections));
}

function propertiesOf({ flags }: EnqueueView): BasicProperties {
  const from = view.keptProperties() ?? new MessageProperties();
  const to = new BasicProperties();
  const headers: Arguments = {};
  putApplicationProperties(headers);
  putAnnotations(to, headers);
  const place = (text: string | undefined, header: string): string | undefined => {
    if (text === undefined || isShort(text)) return text;
    put(headers, header, text);
    return undefined;
  };
  to.contentType = place(from.contentType, Header.contentType);
  to.contentEncoding = place(from.contentEncoding, Header.contentEncoding);
  to.messageId = place(identifier(from.messageId, headers, Header.messageId), Header.messageId);
  to.correlationId = place(identifier(from.correlationId, headers, Header.correlationId), Header.correlationId);
  to.replyTo = place(textOf(from.replyTo), Header.replyTo);
  to.appId = place(from.groupId, Header.groupId);
  to.userId = userId(from.userId, headers);
  if (from.creationTime !== undefined && from.creationTime >= 0) to.timestamp = Math.floor(from.creationTime / 1000);
  if (from.subject !== undefined) put(headers, Header.subject, from.subject);
  const address = textOf(from.to);
  if (address !== undefined) put(headers, Header.to, address);
  if (from.absoluteExpiryTime !== undefined)
    put(headers, Header.absoluteExpiryTime, toArgument(new Scalar('timestamp', BigInt(from.absoluteExpiryTime))));
  if (from.groupSequence !== undefined) put(headers, Header.groupSequence, from.groupSequence);
  if (from.replyToGroupId !== undefined) put(headers, Header.replyToGroupId, from.replyToGroupId);
  to.deliveryMode = (flags & RecordFlag.persistent) === 0 ? 1 : 2;
  if (view.priority >= 0) to.priority = view.priority;
  if (view.ttlMs >= 0) to.expiration = String(view.ttlMs);
  if (Object.keys(headers).length > 0) to.headers = headers;
  return to;
}

function putApplicationProperties(headers: Arguments): void {
  for (const [name, value] of Object.entries(toArguments(view.keptApplicationProperties()))) put(headers, name, value);
}

function putAnnotations(to: BasicProperties, headers: Arguments): void {
  for (const [key, value] of view.keptAnnotations().entries) {
    const name = textOf(key);
    const text = textOf(value);
    if (name === Annotation.type && text !== undefined && isShort(text)) to.type = text;
    else if (name === Annotation.clusterId && text !== undefined && isShort(text)) to.clusterId = text;
    else if (name === Annotation.carbonCopies) put(headers, carbonCopiesHeader, toArgument(value));
    else if (name === deathAnnotation) put(headers, deathHeader, toDeathHeader(deathsInAnnotation(value)));
    else if (name === Annotation.compoundHeaders && value instanceof MapValue)
      Object.assign(headers, toArguments(value));
    else if (name !== undefined && isShort(name)) put(headers, name, toArgument(value));
  }
}

/** Message ids are texts there: uuids in the form `urn:uuid:...`, numbers in digits. Bytes become a header. */
function identifier(value: Value | undefined, headers: Arguments, header: string): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) put(headers, header, value);
  if (!(value instanceof Scalar)) return undefined;
  return value.type === 'uuid' ? uuidText(value.value as Uint8Array) : String(value.value);
}

function userId(bytes: Uint8Array | undefined, headers: Arguments): string | undefined {
  if (bytes === undefined) return undefined;
  const text = textOrUndefined(bytes, 0, bytes.length);
  if (text !== undefined && isShort(text)) return text;
  put(headers, Header.userId, bytes);
  return undefined;
}
