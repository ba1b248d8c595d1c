/** What filters ask of a message of AMQP 1.0. Of its application properties only the values are decoded that are asked for. */
import { uuidText } from '../conversion/values.js';
import { type EnqueueView, RecordFlag } from '../log/record.js';
import type { MessageField, MessageFields, SelectorValue } from '../model/selection/message-fields.js';
import { decodeLooseText } from '../wire/utf8.js';
import { type MessageProperties, Scalar, type Value } from './codec/index.js';
import { findInMap, indexMap, valueIn } from './codec/map-search.js';
import { MessageView } from './codec/message-view.js';

/** §3.2.1 */
const defaultPriority = 4n;
/** More bytes of application properties are not looked at: a message has a bound. */
export const searchedBytesMax = 65_536;
/** In more than so many bytes all names are found at once, when a second one is asked for. */
const indexedBytesMin = 1024;

export class SelectedFields implements MessageFields {
  private readonly view = new MessageView();
  private isPersistent = false;
  private decoded: MessageProperties | undefined = undefined;
  private isDecoded = false;
  private isAsked = false;
  private index: Map<string, number> | undefined = undefined;

  set({ bytes, headerStart, headerLength, bodyLength, flags }: EnqueueView): this {
    this.view.set(bytes, headerStart, headerStart + headerLength + bodyLength);
    this.isPersistent = (flags & RecordFlag.persistent) !== 0;
    this.decoded = undefined;
    this.isDecoded = false;
    this.isAsked = false;
    this.index = undefined;
    return this;
  }

  property(name: string): SelectorValue {
    const { bytes, applicationStart, applicationEnd } = this.view;
    if (applicationStart < 0 || applicationEnd - applicationStart > searchedBytesMax) return undefined;
    const value = this.find(bytes, applicationStart, applicationEnd, name);
    return value === undefined ? undefined : selectorValue(value);
  }

  private find(bytes: Uint8Array, start: number, end: number, name: string): Value | undefined {
    if (end - start <= indexedBytesMin || !this.isAsked) {
      this.isAsked = true;
      return findInMap(bytes, start, end, name);
    }
    this.index ??= indexMap(bytes, start, end);
    const at = this.index.get(name);
    return at === undefined ? undefined : valueIn(bytes, at, end);
  }

  field(name: MessageField): SelectorValue {
    const { view } = this;
    if (name === 'durable') return this.isPersistent;
    if (name === 'priority') return view.priority < 0 ? defaultPriority : BigInt(view.priority);
    if (name === 'ttl') return view.ttlMs < 0 ? undefined : BigInt(view.ttlMs);
    const properties = this.properties();
    if (properties === undefined) return undefined;
    switch (name) {
      case 'user-id':
        return properties.userId === undefined
          ? undefined
          : decodeLooseText(properties.userId, 0, properties.userId.length);
      case 'creation-time':
        return time(properties.creationTime);
      case 'absolute-expiry-time':
        return time(properties.absoluteExpiryTime);
      case 'group-sequence':
        return time(properties.groupSequence);
      case 'message-id':
      case 'correlation-id':
      case 'to':
      case 'reply-to': {
        const value = properties[addressLike[name]];
        return value === undefined ? undefined : selectorValue(value);
      }
      default:
        return properties[texts[name]];
    }
  }

  private properties(): MessageProperties | undefined {
    if (!this.isDecoded) this.decoded = this.view.keptProperties();
    this.isDecoded = true;
    return this.decoded;
  }
}

const addressLike = {
  'message-id': 'messageId',
  'correlation-id': 'correlationId',
  to: 'to',
  'reply-to': 'replyTo',
} as const;
const texts = {
  subject: 'subject',
  'content-type': 'contentType',
  'content-encoding': 'contentEncoding',
  'group-id': 'groupId',
  'reply-to-group-id': 'replyToGroupId',
} as const;

function time(value: number | undefined): SelectorValue {
  return value === undefined ? undefined : BigInt(value);
}

/** Bytes, decimals and compound values cannot be compared. */
function selectorValue(value: Value): SelectorValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (!(value instanceof Scalar)) return undefined;
  const { type, value: one } = value;
  if (type === 'uuid') return uuidText(one as Uint8Array);
  if (type === 'char') return String.fromCodePoint(one as number);
  if (typeof one === 'string' || typeof one === 'bigint') return one;
  if (typeof one !== 'number') return undefined;
  return type === 'float' || type === 'double' ? one : BigInt(one);
}
