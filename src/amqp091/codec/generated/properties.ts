// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
import type { Arguments } from '../../../model/broker.js';
import type { ByteReader } from '../../../wire/byte-reader.js';
import type { ByteWriter } from '../../../wire/byte-writer.js';
import { readTable, writeTable } from '../field-table.js';
import { readLooseString, writeShortString } from '../strings.js';

/** Which properties are present: bits of the flags that begin the property list (§4.2.6.1). */
export const PropertyFlag = {
  contentType: 0x8000,
  contentEncoding: 0x4000,
  headers: 0x2000,
  deliveryMode: 0x1000,
  priority: 0x0800,
  correlationId: 0x0400,
  replyTo: 0x0200,
  expiration: 0x0100,
  messageId: 0x0080,
  timestamp: 0x0040,
  type: 0x0020,
  userId: 0x0010,
  appId: 0x0008,
  clusterId: 0x0004,
} as const;

/** The properties of a message; undefined = absent. The timestamp is in seconds since 1970. */
export class BasicProperties {
  contentType: string | undefined = undefined;
  contentEncoding: string | undefined = undefined;
  headers: Arguments | undefined = undefined;
  deliveryMode: number | undefined = undefined;
  priority: number | undefined = undefined;
  correlationId: string | undefined = undefined;
  replyTo: string | undefined = undefined;
  expiration: string | undefined = undefined;
  messageId: string | undefined = undefined;
  timestamp: number | undefined = undefined;
  type: string | undefined = undefined;
  userId: string | undefined = undefined;
  appId: string | undefined = undefined;
  clusterId: string | undefined = undefined;

  /** Reads flags and list. Throws DecodeError. */
  static decode(reader: ByteReader): BasicProperties {
    const properties = new BasicProperties();
    const flags = reader.u16();
    if ((flags & PropertyFlag.contentType) !== 0) properties.contentType = readLooseString(reader);
    if ((flags & PropertyFlag.contentEncoding) !== 0) properties.contentEncoding = readLooseString(reader);
    if ((flags & PropertyFlag.headers) !== 0) properties.headers = readTable(reader);
    if ((flags & PropertyFlag.deliveryMode) !== 0) properties.deliveryMode = reader.u8();
    if ((flags & PropertyFlag.priority) !== 0) properties.priority = reader.u8();
    if ((flags & PropertyFlag.correlationId) !== 0) properties.correlationId = readLooseString(reader);
    if ((flags & PropertyFlag.replyTo) !== 0) properties.replyTo = readLooseString(reader);
    if ((flags & PropertyFlag.expiration) !== 0) properties.expiration = readLooseString(reader);
    if ((flags & PropertyFlag.messageId) !== 0) properties.messageId = readLooseString(reader);
    if ((flags & PropertyFlag.timestamp) !== 0) properties.timestamp = reader.u64();
    if ((flags & PropertyFlag.type) !== 0) properties.type = readLooseString(reader);
    if ((flags & PropertyFlag.userId) !== 0) properties.userId = readLooseString(reader);
    if ((flags & PropertyFlag.appId) !== 0) properties.appId = readLooseString(reader);
    if ((flags & PropertyFlag.clusterId) !== 0) properties.clusterId = readLooseString(reader);
    return properties;
  }

  /** Writes flags and list. */
  encode(writer: ByteWriter): void {
    let flags = 0;
    if (this.contentType !== undefined) flags |= PropertyFlag.contentType;
    if (this.contentEncoding !== undefined) flags |= PropertyFlag.contentEncoding;
    if (this.headers !== undefined) flags |= PropertyFlag.headers;
    if (this.deliveryMode !== undefined) flags |= PropertyFlag.deliveryMode;
    if (this.priority !== undefined) flags |= PropertyFlag.priority;
    if (this.correlationId !== undefined) flags |= PropertyFlag.correlationId;
    if (this.replyTo !== undefined) flags |= PropertyFlag.replyTo;
    if (this.expiration !== undefined) flags |= PropertyFlag.expiration;
    if (this.messageId !== undefined) flags |= PropertyFlag.messageId;
    if (this.timestamp !== undefined) flags |= PropertyFlag.timestamp;
    if (this.type !== undefined) flags |= PropertyFlag.type;
    if (this.userId !== undefined) flags |= PropertyFlag.userId;
    if (this.appId !== undefined) flags |= PropertyFlag.appId;
    if (this.clusterId !== undefined) flags |= PropertyFlag.clusterId;
    writer.u16(flags);
    if (this.contentType !== undefined) writeShortString(writer, this.contentType);
    if (this.contentEncoding !== undefined) writeShortString(writer, this.contentEncoding);
    if (this.headers !== undefined) writeTable(writer, this.headers);
    if (this.deliveryMode !== undefined) writer.u8(this.deliveryMode);
    if (this.priority !== undefined) writer.u8(this.priority);
    if (this.correlationId !== undefined) writeShortString(writer, this.correlationId);
    if (this.replyTo !== undefined) writeShortString(writer, this.replyTo);
    if (this.expiration !== undefined) writeShortString(writer, this.expiration);
    if (this.messageId !== undefined) writeShortString(writer, this.messageId);
    if (this.timestamp !== undefined) writer.u64(this.timestamp);
    if (this.type !== undefined) writeShortString(writer, this.type);
    if (this.userId !== undefined) writeShortString(writer, this.userId);
    if (this.appId !== undefined) writeShortString(writer, this.appId);
    if (this.clusterId !== undefined) writeShortString(writer, this.clusterId);
  }
}
