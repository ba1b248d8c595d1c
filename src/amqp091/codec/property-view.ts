/**
 * The content properties of a message as they came: flags and list, kept as bytes. `set` checks them all and notes where those
 * lie that a broker needs; the rest is decoded only if somebody asks. A flyweight that is moved from message to message; it
 * keeps the buffer it was set to from being freed, so there should be few.
 */
import type { Arguments } from '../../model/broker.js';
import { ByteReader } from '../../wire/byte-reader.js';
import { readU16 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { decodeLooseText } from '../../wire/utf8.js';
import { readTable, skipTable } from './field-table.js';
import { BasicProperties, PropertyFlag } from './generated/properties.js';

const reader = new ByteReader();

/** Bits that name no property: 1 is unused, 0 says that more flags follow, which class basic does not have (§4.2.6.1). */
const unknownFlags = 0x0003;

export class PropertyView {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  /** See PropertyFlag. */
  flags = 0;
  /** 2 = persistent; 0 if absent. */
  deliveryMode = 0;
  /** 0 if absent. */
  priority = 0;
  /** Where the table's length stands, -1 if absent; the table ends at `headersEnd`. */
  headersStart = -1;
  headersEnd = -1;
  /** Headers that say where the message goes: see RoutingField. */
  routingFields = 0;
  /** Where the short strings' length octets stand, -1 if absent. */
  replyToAt = -1;
  expirationAt = -1;
  userIdAt = -1;
  /** Bytes of the reply-to, 0 if absent. */
  replyToLength = 0;

  /** Points this view at flags and list in [start, end). Throws DecodeError if they make no sense. */
  set(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.deliveryMode = 0;
    this.priority = 0;
    this.headersStart = -1;
    this.headersEnd = -1;
    this.routingFields = 0;
    this.replyToAt = -1;
    this.replyToLength = 0;
    this.expirationAt = -1;
    this.userIdAt = -1;
    if (end - start < 2) throw new DecodeError(`property flags of 2 bytes expected, ${end - start} left`);
    const flags = readU16(bytes, start);
    if ((flags & unknownFlags) !== 0) throw new DecodeError(`unknown property flags 0x${flags.toString(16)}`);
    this.flags = flags;
    const at = this.setRest(this.setFirst(start + 2));
    if (at > end) throw new DecodeError(`the property list is ${at - end} bytes short`);
    if (at < end) throw new DecodeError(`the property list has ${end - at} bytes too many`);
    return this;
  }

  /** content-type to priority; returns where they end, beyond `end` if they are cut short. */
  private setFirst(start: number): number {
    const { bytes, end, flags } = this;
    let at = start;
    if ((flags & PropertyFlag.contentType) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.contentEncoding) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.headers) !== 0) {
      reader.set(bytes, Math.min(at, end), end);
      this.routingFields = skipTable(reader);
      this.headersStart = at;
      at = reader.at;
      this.headersEnd = at;
    }
    if ((flags & PropertyFlag.deliveryMode) !== 0) {
      this.deliveryMode = at < end ? bytes[at]! : 0;
      at++;
    }
    if ((flags & PropertyFlag.priority) !== 0) {
      this.priority = at < end ? bytes[at]! : 0;
      at++;
    }
    return at;
  }

  /** correlation-id to cluster-id. */
  private setRest(start: number): number {
    const { bytes, flags } = this;
    let at = start;
    if ((flags & restFlags) === 0) return at;
    if ((flags & PropertyFlag.correlationId) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.replyTo) !== 0) {
      this.replyToAt = at;
      at = skipShortString(bytes, at);
      this.replyToLength = at - this.replyToAt - 1;
    }
    if ((flags & PropertyFlag.expiration) !== 0) {
      this.expirationAt = at;
      at = skipShortString(bytes, at);
    }
    if ((flags & PropertyFlag.messageId) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.timestamp) !== 0) at += 8;
    if ((flags & PropertyFlag.type) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.userId) !== 0) {
      this.userIdAt = at;
      at = skipShortString(bytes, at);
    }
    if ((flags & PropertyFlag.appId) !== 0) at = skipShortString(bytes, at);
    if ((flags & PropertyFlag.clusterId) !== 0) at = skipShortString(bytes, at);
    return at;
  }

  /** The expiration in milliseconds; undefined if absent, NaN if it is not a decimal number. */
  get expirationMs(): number | undefined {
    if (this.expirationAt < 0) return undefined;
    const length = this.bytes[this.expirationAt]!;
    let value = length === 0 ? Number.NaN : 0;
    for (let i = 1; i <= length; i++) {
      const digit = this.bytes[this.expirationAt + i]! - 0x30;
      value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
    }
    return value;
  }

  /** The expiration as it came; undefined if absent. */
  get expiration(): string | undefined {
    return this.textAt(this.expirationAt);
  }

  get userId(): string | undefined {
    return this.textAt(this.userIdAt);
  }

  get replyTo(): string | undefined {
    return this.textAt(this.replyToAt);
  }

  /** The headers, decoded anew at each call; empty if absent. */
  headers(): Arguments {
    return this.headersStart < 0 ? {} : readTable(reader.set(this.bytes, this.headersStart, this.headersEnd));
  }

  /** All properties, decoded anew at each call. The object keeps nothing of `bytes`. */
  decode(): BasicProperties {
    return BasicProperties.decode(reader.set(this.bytes, this.start, this.end));
  }

  private textAt(at: number): string | undefined {
    return at < 0 ? undefined : decodeLooseText(this.bytes, at + 1, at + 1 + this.bytes[at]!);
  }
}

const restFlags = 0x07fc;

/** Steps over a short string; a length that lies outside of the bytes leads beyond any end. */
function skipShortString(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? at + 1 + bytes[at]! : at + 1;
}
