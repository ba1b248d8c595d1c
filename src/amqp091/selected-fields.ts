/** What filters ask of a message of AMQP 0-9-1: the names are those of AMQP 1.0, as conversion has them (docs/protocols/amqp10.md). */
import { carbonCopiesHeader, Header } from '../conversion/names.js';
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
        return this.view.expirationMs === undefined ? undefined : numberOf(this.view.expirationMs);
      case 'message-id':
        return properties.messageId ?? this.header(Header.messageId);
      case 'correlation-id':
        return properties.correlationId ?? this.header(Header.correlationId);
      case 'user-id':
        return properties.userId;
      case 'reply-to':
        return properties.replyTo ?? this.header(Header.replyTo);
      case 'content-type':
        return properties.contentType ?? this.header(Header.contentType);
      case 'content-encoding':
        return properties.contentEncoding ?? this.header(Header.contentEncoding);
      case 'creation-time':
        return properties.timestamp === undefined ? undefined : numberOf(properties.timestamp * 1000);
      case 'group-id':
        return properties.appId ?? this.header(Header.groupId);
      default:
        return this.header(headerOf[name]);
    }
  }

  private properties(): BasicProperties {
    this.decoded ??= this.view.decode();
    return this.decoded;
  }

  private header(name: string): SelectorValue {
    const headers: Arguments = this.properties().headers ?? {};
    return Object.hasOwn(headers, name) ? valueOf(headers[name]!) : undefined;
  }
}

const headerOf = {
  to: Header.to,
  subject: Header.subject,
  'absolute-expiry-time': Header.absoluteExpiryTime,
  'group-sequence': Header.groupSequence,
  'reply-to-group-id': Header.replyToGroupId,
} as const;

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
