/**
 * The sections of a message (§3.2) where they lie. `set` finds them, checks their order and that they fill the bytes, and reads what a broker
 * needs of the header; the rest is decoded only if somebody asks. A flyweight that is moved from message to message.
 *
 *   header?  delivery-annotations?  message-annotations?  properties?  application-properties?    ── "head": up to bodyStart
 *   data+ | amqp-sequence+ | amqp-value   footer?                                                 ── "body"
 */
import { ByteReader } from '../../wire/byte-reader.js';
import { readU32 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { AmqpError, decodeFailure } from './amqp-error.js';
import { FieldReader, readDescriptor } from './field-reader.js';
import { Code } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { Descriptor, descriptorName } from './generated/descriptors.js';
import { MessageProperties } from './generated/sections.js';
import { HotReader } from './hot-reader.js';
import { readValue, skipValue } from './value-reader.js';
import { MapValue } from './values.js';

const reader = new ByteReader();
const fields = new HotReader();
const noEntries: MapValue = new MapValue([]);

/** Where a section stands in the order; sections of the body share a place. */
function placeOf(code: number): number {
  if (code >= Descriptor.data && code <= Descriptor.amqpValue) return Descriptor.data;
  return code >= Descriptor.header && code <= Descriptor.footer ? code : -1;
}

export class MessageView {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  /** Where each section begins, with its descriptor, and ends; -1 = it is not there. */
  headerEnd = -1;
  annotationsStart = -1;
  annotationsEnd = -1;
  propertiesStart = -1;
  propertiesEnd = -1;
  applicationStart = -1;
  applicationEnd = -1;
  /** Where what lasts longer than one hop begins: behind header and delivery annotations. */
  keptStart = 0;
  bodyStart = 0;
  /** Descriptor of the body's first section. */
  bodyKind = 0;
  /** Sections of the body. */
  bodySections = 0;
  footerStart = -1;
  /** Of the header: -1 = it says nothing; durable 0 or 1. */
  durable = -1;
  priority = -1;
  ttlMs = -1;

  /** Points this view at the message in [start, end). Throws AmqpError decode-error if it is none. */
  set(bytes: Uint8Array, start: number, end: number): this {
    this.read(bytes, start, end, true);
    if (this.bodySections === 0) throw new AmqpError(Condition.decodeError, 'a message without a body');
    return this;
  }

  /** The same for what stands before the body, which may have very many sections: they are not gone through. */
  setHead(bytes: Uint8Array, start: number, end: number): this {
    return this.read(bytes, start, end, false);
  }

  private read(bytes: Uint8Array, start: number, end: number, withBody: boolean): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.headerEnd = -1;
    this.annotationsStart = -1;
    this.propertiesStart = -1;
    this.applicationStart = -1;
    this.footerStart = -1;
    this.keptStart = start;
    this.bodySections = 0;
    this.durable = -1;
    this.priority = -1;
    this.ttlMs = -1;
    try {
      this.find(start, end, withBody);
    } catch (error) {
      throw decodeFailure(error, 'a message');
    }
    return this;
  }

  /**
   * The same for a message that was checked before, as far as its header says something and where the sections begin that last: nothing
   * else is set.
   */
  setLead(bytes: Uint8Array, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.keptStart = start;
    this.durable = -1;
    this.priority = -1;
    this.ttlMs = -1;
    let at = start;
    if (at < end && sectionAt(bytes, at, end) === Descriptor.header) {
      at = skipSection(bytes, start, end);
      this.readHeader(start, at);
      this.keptStart = at;
    }
    if (at < end && sectionAt(bytes, at, end) === Descriptor.deliveryAnnotations)
      this.keptStart = skipSection(bytes, at, end);
    return this;
  }

  private find(start: number, end: number, withBody: boolean): void {
    const { bytes } = this;
    let last = 0;
    for (let at = start; at < end; ) {
      const code = sectionAt(bytes, at, end);
      const place = placeOf(code);
      if (place === Descriptor.data && !withBody) return;
      if (place < 0) throw new DecodeError(`a section ${descriptorName(code)}, which messages do not have`);
      if (place < last || (place === last && !this.mayRepeat(code)))
        throw new DecodeError(`a section ${descriptorName(code)} behind ${descriptorName(last)}`);
      checkContent(bytes, at, end, code);
      const next = skipSection(bytes, at, end);
      this.note(code, at, next);
      last = place;
      at = next;
    }
  }

  private mayRepeat(code: number): boolean {
    return code === this.bodyKind && (code === Descriptor.data || code === Descriptor.amqpSequence);
  }

  private note(code: number, at: number, next: number): void {
    switch (code) {
      case Descriptor.header:
        this.headerEnd = next;
        this.keptStart = next;
        this.readHeader(at, next);
        break;
      case Descriptor.deliveryAnnotations:
        this.keptStart = next;
        break;
      case Descriptor.messageAnnotations:
        this.annotationsStart = at;
        this.annotationsEnd = next;
        break;
      case Descriptor.properties:
        this.propertiesStart = at;
        this.propertiesEnd = next;
        break;
      case Descriptor.applicationProperties:
        this.applicationStart = at;
        this.applicationEnd = next;
        break;
      case Descriptor.footer:
        this.footerStart = at;
        break;
      default:
        if (this.bodySections++ > 0) break;
        this.bodyStart = at;
        this.bodyKind = code;
    }
  }

  private readHeader(start: number, end: number): void {
    fields.beginSection('header', this.bytes, start, end);
    this.durable = fields.flag();
    this.priority = fields.ubyte();
    this.ttlMs = fields.uint();
    fields.flag();
    fields.uint();
    fields.finish(0);
  }

  /** It says in whose name it is. Throws AmqpError. */
  get hasUserId(): boolean {
    if (this.propertiesStart < 0) return false;
    fields.beginSection('properties', this.bytes, this.propertiesStart, this.propertiesEnd);
    fields.skip();
    return fields.skip();
  }

  /** Where the bytes of a single data section begin, which end at `dataEnd`; -1 if the body is something else. */
  get dataStart(): number {
    if (this.bodyKind !== Descriptor.data || this.bodySections !== 1) return -1;
    return dataAt(this.bytes, this.bodyStart, this.dataEnd);
  }

  get dataEnd(): number {
    return this.footerStart < 0 ? this.end : this.footerStart;
  }

  /** Decoded anew at each call; undefined if the message has none. Throws AmqpError. */
  properties(): MessageProperties | undefined {
    if (this.propertiesStart < 0) return undefined;
    try {
      const list = new FieldReader(reader.set(this.bytes, this.propertiesStart, this.propertiesEnd));
      list.begin();
      return MessageProperties.decode(list);
    } catch (error) {
      throw decodeFailure(error, 'properties');
    }
  }

  /** The same, for a message that was taken: what makes no sense in it is not there. */
  keptProperties(): MessageProperties | undefined {
    return leniently(() => this.properties(), undefined);
  }

  keptAnnotations(): MapValue {
    return leniently(() => this.annotations(), noEntries);
  }

  keptApplicationProperties(): MapValue {
    return leniently(() => this.applicationProperties(), noEntries);
  }

  annotations(): MapValue {
    return this.mapAt(this.annotationsStart, this.annotationsEnd, 'message-annotations');
  }

  applicationProperties(): MapValue {
    return this.mapAt(this.applicationStart, this.applicationEnd, 'application-properties');
  }

  footer(): MapValue {
    return this.mapAt(this.footerStart, this.end, 'footer');
  }

  private mapAt(start: number, end: number, what: string): MapValue {
    if (start < 0) return noEntries;
    try {
      reader.set(this.bytes, start + 1, end);
      readDescriptor(reader);
      const map = readValue(reader);
      if (!(map instanceof MapValue)) throw new DecodeError('it is no map');
      return map;
    } catch (error) {
      throw decodeFailure(error, what);
    }
  }
}

function leniently<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof AmqpError) return otherwise;
    throw error;
  }
}

/** A section holds what its descriptor says: whoever reads it later relies on that. Throws DecodeError. */
function checkContent(bytes: Uint8Array, at: number, end: number, code: number): void {
  let valueAt = at + 3;
  if (bytes[at + 1] !== Code.smallUlong) {
    readDescriptor(reader.set(bytes, at + 1, end));
    valueAt = reader.at;
  }
  const kind = valueAt < end ? bytes[valueAt]! : -1;
  let isRight: boolean;
  if (code === Descriptor.data) isRight = kind === Code.binary8 || kind === Code.binary32;
  else if (code === Descriptor.amqpValue) isRight = true;
  else if (code === Descriptor.header || code === Descriptor.properties || code === Descriptor.amqpSequence)
    isRight = kind === Code.list8 || kind === Code.list32 || kind === Code.list0;
  else isRight = kind === Code.map8 || kind === Code.map32;
  if (!isRight) throw new DecodeError(`a section ${descriptorName(code)} that holds something else`);
}

/** Where the section at `at` ends; the forms that all clients write are told without looking further. */
function skipSection(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at + 1] === Code.smallUlong && at + 8 <= end) {
    const kind = bytes[at + 3]!;
    let next = end + 1;
    if (kind === Code.list8 || kind === Code.map8 || kind === Code.binary8) next = at + 5 + bytes[at + 4]!;
    else if (kind === Code.list32 || kind === Code.map32 || kind === Code.binary32)
      next = at + 8 + readU32(bytes, at + 4);
    if (next <= end) return next;
  }
  return skipValue(bytes, at, end);
}

/** The descriptor of the section at `at`; -1 if it is not known. */
function sectionAt(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] !== Code.described) throw new DecodeError('a section expected');
  if (at + 2 < end && bytes[at + 1] === Code.smallUlong) return bytes[at + 2]!;
  return readDescriptor(reader.set(bytes, at + 1, end));
}

/** Where the bytes of the data section at `at` begin. Throws AmqpError if it holds no binary. */
export function dataAt(bytes: Uint8Array, at: number, end: number): number {
  readDescriptor(reader.set(bytes, at + 1, end));
  const kind = bytes[reader.at];
  if (kind === Code.binary8) return reader.at + 2;
  if (kind === Code.binary32) return reader.at + 5;
  throw new AmqpError(Condition.decodeError, 'a data section that holds no binary');
}

/** Visits the bytes of each data section in [start, end), which must consist of them. */
export function forEachData(
  bytes: Uint8Array,
  start: number,
  end: number,
  visit: (dataStart: number, dataEnd: number) => void,
): void {
  for (let at = start; at < end; ) {
    const next = skipValue(bytes, at, end);
    visit(dataAt(bytes, at, next), next);
    at = next;
  }
}
