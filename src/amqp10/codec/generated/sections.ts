// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** The sections of a message that are lists (§3.2). Absent fields stay undefined: a section that is kept is written as it came. */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import type { Value } from '../values.js';
import { Descriptor } from './descriptors.js';

const headerFields = ['durable', 'priority', 'ttl', 'first-acquirer', 'delivery-count'] as const;

/** header */
export class MessageHeader {
  readonly descriptor: typeof Descriptor.header = Descriptor.header;
  durable: boolean | undefined = undefined;
  priority: number | undefined = undefined;
  ttl: number | undefined = undefined;
  firstAcquirer: boolean | undefined = undefined;
  deliveryCount: number | undefined = undefined;

  static decode(fields: FieldReader): MessageHeader {
    fields.expect('header', headerFields);
    const it = new MessageHeader();
    it.durable = fields.boolean();
    it.priority = fields.ubyte();
    it.ttl = fields.uint();
    it.firstAcquirer = fields.boolean();
    it.deliveryCount = fields.uint();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.header);
    writer.boolean(this.durable);
    writer.ubyte(this.priority);
    writer.uint(this.ttl);
    writer.boolean(this.firstAcquirer);
    writer.uint(this.deliveryCount);
    writer.end();
  }
}

const propertiesFields = [
  'message-id',
  'user-id',
  'to',
  'subject',
  'reply-to',
  'correlation-id',
  'content-type',
  'content-encoding',
  'absolute-expiry-time',
  'creation-time',
  'group-id',
  'group-sequence',
  'reply-to-group-id',
] as const;

/** properties */
export class MessageProperties {
  readonly descriptor: typeof Descriptor.properties = Descriptor.properties;
  messageId: Value | undefined = undefined;
  userId: Uint8Array | undefined = undefined;
  to: Value | undefined = undefined;
  subject: string | undefined = undefined;
  replyTo: Value | undefined = undefined;
  correlationId: Value | undefined = undefined;
  contentType: string | undefined = undefined;
  contentEncoding: string | undefined = undefined;
  absoluteExpiryTime: number | undefined = undefined;
  creationTime: number | undefined = undefined;
  groupId: string | undefined = undefined;
  groupSequence: number | undefined = undefined;
  replyToGroupId: string | undefined = undefined;

  static decode(fields: FieldReader): MessageProperties {
    fields.expect('properties', propertiesFields);
    const it = new MessageProperties();
    it.messageId = fields.any();
    it.userId = fields.binary();
    it.to = fields.any();
    it.subject = fields.string();
    it.replyTo = fields.any();
    it.correlationId = fields.any();
    it.contentType = fields.symbol();
    it.contentEncoding = fields.symbol();
    it.absoluteExpiryTime = fields.timestamp();
    it.creationTime = fields.timestamp();
    it.groupId = fields.string();
    it.groupSequence = fields.uint();
    it.replyToGroupId = fields.string();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.properties);
    writer.any(this.messageId);
    writer.binary(this.userId);
    writer.any(this.to);
    writer.string(this.subject);
    writer.any(this.replyTo);
    writer.any(this.correlationId);
    writer.symbol(this.contentType);
    writer.symbol(this.contentEncoding);
    writer.timestamp(this.absoluteExpiryTime);
    writer.timestamp(this.creationTime);
    writer.string(this.groupId);
    writer.uint(this.groupSequence);
    writer.string(this.replyToGroupId);
    writer.end();
  }
}
