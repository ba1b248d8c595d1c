/** What filters ask of a message of AMQP 0-9-1: the names are those of AMQP 1.0, as conversion has them (docs/protocols/amqp10.md). */
import { carbonCopiesHeader, Header } from '../conversion/names.js';
import { isAscii } from '../conversion/values.js';
import type { EnqueueView } from '../log/record.js';
import { RecordFlag } from '../log/record.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../model/broker.js';
import type { MessageField, MessageFields, SelectorValue } from '../model/selection/message-fields.js';
import type { BasicProperties } from './codec/generated/properties.js';
import { PropertyView } from './codec/property-view.js';

/** Of messages that do not say one (AMQP 1.0 §3.2.1). */
const defaultPriority = 4n;

export class SelectedFields implements MessageFields {
  private readonly view = new PropertyView();
  private isPersistent = false;
  /** Decoded once somebody asks. */
  private decoded: BasicProperties | undefined = undefined;

  set({ bytes, headerStart, headerLength, flags }: EnqueueView): this {
    this.view.set(bytes, headerStart, headerStart + headerLength);
    this.isPersistent = (flags & RecordFlag.persistent) !== 0;
    this.decoded = undefined;
    return this;
  }

  property(name: string): SelectorValue {
    if (name.startsWith('x-') || name === carbonCopiesHeader || name === 'BCC' || this.view.headersStart < 0)
      return undefined;
    return this.header(name);
  }

  field(name: MessageField): SelectorValue {
    if (name === 'durable') return this.isPersistent;
    const properties = this.properties();
    switch (name) {
      case 'priority':
        return properties.priority === undefined ? defaultPriority : BigInt(properties.priority);
      case 'ttl':
        return ttlOf(properties.expiration);
      case 'message-id':
        return properties.messageId ?? this.text(Header.messageId);
      case 'correlation-id':
        return properties.correlationId ?? this.text(Header.correlationId);
      case 'user-id':
        return properties.userId;
      case 'reply-to':
        return properties.replyTo ?? this.text(Header.replyTo);
      case 'content-type':
        return asciiOnly(properties.contentType ?? this.text(Header.contentType));
      case 'content-encoding':
        return asciiOnly(properties.contentEncoding ?? this.text(Header.contentEncoding));
      case 'creation-time':
        return properties.timestamp === undefined ? undefined : numberOf(properties.timestamp * 1000);
      case 'group-id':
        return properties.appId ?? this.text(Header.groupId);
      case 'group-sequence': {
        const value = this.header(Header.groupSequence);
        return typeof value === 'bigint' || typeof value === 'number' ? BigInt(Number(value) >>> 0) : undefined;
      }
      case 'absolute-expiry-time':
        return undefined;
      default:
        return this.text(headerOf[name]);
    }
  }

  private properties(): BasicProperties {
    this.decoded ??= this.view.decode();
    return this.decoded;
  }

  private text(name: string): string | undefined {
    const value = this.header(name);
    return typeof value === 'string' ? value : undefined;
  }

  private header(name: string): SelectorValue {
    const headers: Arguments = this.properties().headers ?? {};
    return Object.hasOwn(headers, name) ? valueOf(headers[name]!) : undefined;
  }
}

const headerOf = {
  to: Header.to,
  subject: Header.subject,
  'reply-to-group-id': Header.replyToGroupId,
} as const;

const ttlMax = 0xffff_ffff;

function ttlOf(expiration: string | undefined): SelectorValue {
  const ttl = Number(expiration);
  return expiration !== undefined && Number.isSafeInteger(ttl) ? BigInt(Math.min(ttl, ttlMax)) : undefined;
}

function asciiOnly(text: string | undefined): SelectorValue {
  return text !== undefined && isAscii(text) ? text : undefined;
}

function numberOf(value: number): SelectorValue {
  return Number.isSafeInteger(value) ? BigInt(value) : value;
}

function valueOf(value: ArgumentValue): SelectorValue {
  if (typeof value === 'number') return numberOf(value);
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (value instanceof Timestamp) return BigInt(value.seconds) * 1000n;
  if (value instanceof Decimal) return value.value / 10 ** value.scale;
  return undefined;
}
