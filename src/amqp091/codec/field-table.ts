/**
 * Field tables (§4.2.5.5), with the type letters as RabbitMQ and all known clients use them; where the specification's
 * own letters differ (s, l, u ...), theirs are dead; its L for i64 is read as well, since py-amqp writes it.
 *
 *   table  u32 length, then (short string name, value)*        array  u32 length, then value*
 *   value  letter, then:
 *     t bool u8          b i8      B u8      s i16     u u16     I i32     i u32     l, L i64
 *     f float32  d float64         D decimal: u8 scale, i32 value        T timestamp: u64 seconds
 *     S long string      x bytes, length as a long string        A array    F table    V nothing
 *
 * Written: true/false t, integer within 32 bits I, other safe integer or bigint l, other number d, string S, Uint8Array x,
 * Timestamp T, Decimal D, array A, object F, null V. So widths may change when a table is decoded and written again, values
 * never do. A long string that is not UTF-8 is decoded to its bytes; in a field's name what is not UTF-8 becomes U+FFFD. Of two
 * fields with one name the first counts.
 */
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../../model/broker.js';
import type { ByteReader } from '../../wire/byte-reader.js';
import type { ByteWriter } from '../../wire/byte-writer.js';
import { DecodeError, EncodeError } from '../../wire/decode-error.js';
import { textOrUndefined } from '../../wire/utf8.js';
import { readLooseString, writeShortString } from './strings.js';

/** Tables and arrays within each other, the outermost counted. */
export const tableDepthMax = 64;
/** Values in one table, those of inner tables and arrays included. */
export const tableValuesMax = 65_536;

const Letter = {
  boolean: 0x74, // t
  i8: 0x62, // b
  u8: 0x42, // B
  i16: 0x73, // s
  u16: 0x75, // u
  i32: 0x49, // I
  u32: 0x69, // i
  i64: 0x6c, // l
  specifiedI64: 0x4c, // L
  f32: 0x66, // f
  f64: 0x64, // d
  decimal: 0x44, // D
  timestamp: 0x54, // T
  longString: 0x53, // S
  bytes: 0x78, // x
  array: 0x41, // A
  table: 0x46, // F
  nothing: 0x56, // V
} as const;

/** Values still allowed in the table being read; reading is synchronous, so one counter will do. */
let valuesLeft = 0;

function countValue(): void {
  if (--valuesLeft < 0) throw new DecodeError(`a field table has more than ${tableValuesMax} values`);
}

function checkDepth(depth: number): void {
  if (depth > tableDepthMax) throw new DecodeError(`field tables are nested more than ${tableDepthMax} deep`);
}

function unknownLetter(letter: number): DecodeError {
  return new DecodeError(`field value of unknown type 0x${letter.toString(16).padStart(2, '0')}`);
}

/** Reads a length and narrows the reader to that many bytes; returns the end to go back to. */
function enter(reader: ByteReader, what: string): number {
  const length = reader.u32();
  const outerEnd = reader.end;
  if (length > reader.remaining) {
    throw new DecodeError(`${what} of ${length} bytes, ${reader.remaining} left`);
  }
  reader.end = reader.at + length;
  return outerEnd;
}

/** Reads a table: length and fields. Throws DecodeError. */
export function readTable(reader: ByteReader): Arguments {
  valuesLeft = tableValuesMax;
  return readInnerTable(reader, 1);
}

/** Reads fields up to the reader's end: a table without its length, as in an AMQPLAIN response. */
export function readTableFields(reader: ByteReader): Arguments {
  valuesLeft = tableValuesMax;
  return readFields(reader, 1);
}

function readInnerTable(reader: ByteReader, depth: number): Arguments {
  const outerEnd = enter(reader, 'a field table');
  const table = readFields(reader, depth);
  reader.end = outerEnd;
  return table;
}

function readFields(reader: ByteReader, depth: number): Arguments {
  checkDepth(depth);
  const table: Arguments = {};
  while (reader.at < reader.end) {
    countValue();
    const name = readLooseString(reader);
    const value = readValue(reader, depth);
    if (!Object.hasOwn(table, name)) setField(table, name, value);
  }
  return table;
}

function setField(table: Arguments, name: string, value: ArgumentValue): void {
  if (name !== '__proto__') table[name] = value;
  // Plain assignment would set the prototype.
  else Object.defineProperty(table, name, { value, enumerable: true, configurable: true, writable: true });
}

function readArray(reader: ByteReader, depth: number): ArgumentValue[] {
  checkDepth(depth);
  const outerEnd = enter(reader, 'a field array');
  const values: ArgumentValue[] = [];
  while (reader.at < reader.end) {
    countValue();
    values.push(readValue(reader, depth));
  }
  reader.end = outerEnd;
  return values;
}

function readLongString(reader: ByteReader): string | Uint8Array {
  const length = reader.u32();
  const at = reader.take(length);
  return textOrUndefined(reader.bytes, at, at + length) ?? reader.bytes.slice(at, at + length);
}

function readValue(reader: ByteReader, depth: number): ArgumentValue {
  const letter = reader.u8();
  switch (letter) {
    case Letter.boolean:
      return reader.u8() !== 0;
    case Letter.i8:
      return reader.i8();
    case Letter.u8:
      return reader.u8();
    case Letter.i16:
      return reader.i16();
    case Letter.u16:
      return reader.u16();
    case Letter.i32:
      return reader.i32();
    case Letter.u32:
      return reader.u32();
    case Letter.i64:
    case Letter.specifiedI64:
      return reader.i64();
    case Letter.f32:
      return reader.f32();
    case Letter.f64:
      return reader.f64();
    case Letter.decimal:
      return new Decimal(reader.u8(), reader.i32());
    case Letter.timestamp:
      return new Timestamp(reader.u64());
    case Letter.longString:
      return readLongString(reader);
    case Letter.bytes:
      return reader.copy(reader.u32());
    case Letter.array:
      return readArray(reader, depth + 1);
    case Letter.table:
      return readInnerTable(reader, depth + 1);
    case Letter.nothing:
      return null;
    default:
      throw unknownLetter(letter);
  }
}

/** Fields of a message's headers that say where it goes, as bits. */
export const RoutingField = { cc: 1, bcc: 2 } as const;

/**
 * Steps over a table and checks all of it, without making values. Returns which of the fields of `RoutingField` it has. Throws
 * DecodeError just where `readTable` would.
 */
export function skipTable(reader: ByteReader): number {
  valuesLeft = tableValuesMax;
  const outerEnd = enter(reader, 'a field table');
  let found = 0;
  while (reader.at < reader.end) {
    countValue();
    const length = reader.u8();
    const at = reader.take(length);
    if (length === 2 || length === 3) found |= routingField(reader.bytes, at, length);
    skipValue(reader, 1);
  }
  reader.end = outerEnd;
  return found;
}

/** Is the name of two or three letters `CC` or `BCC`? */
function routingField(bytes: Uint8Array, at: number, length: number): number {
  const last = at + length - 1;
  if (bytes[last] !== letterC || bytes[last - 1] !== letterC) return 0;
  if (length === 2) return RoutingField.cc;
  return bytes[at] === letterB ? RoutingField.bcc : 0;
}

const letterB = 0x42;
const letterC = 0x43;

function skipFields(reader: ByteReader, depth: number, named: boolean): void {
  checkDepth(depth);
  const outerEnd = enter(reader, named ? 'a field table' : 'a field array');
  while (reader.at < reader.end) {
    countValue();
    if (named) reader.take(reader.u8());
    skipValue(reader, depth);
  }
  reader.end = outerEnd;
}

function skipValue(reader: ByteReader, depth: number): void {
  const letter = reader.u8();
  switch (letter) {
    case Letter.nothing:
      return;
    case Letter.boolean:
    case Letter.i8:
    case Letter.u8:
      reader.take(1);
      return;
    case Letter.i16:
    case Letter.u16:
      reader.take(2);
      return;
    case Letter.i32:
    case Letter.u32:
    case Letter.f32:
      reader.take(4);
      return;
    case Letter.decimal:
      // As it is read, in two, so that a table that is cut short fails with the same words.
      reader.take(1);
      reader.take(4);
      return;
    case Letter.i64:
    case Letter.specifiedI64:
    case Letter.f64:
    case Letter.timestamp:
      reader.take(8);
      return;
    case Letter.longString:
    case Letter.bytes:
      reader.take(reader.u32());
      return;
    case Letter.array:
      skipFields(reader, depth + 1, false);
      return;
    case Letter.table:
      skipFields(reader, depth + 1, true);
      return;
    default:
      throw unknownLetter(letter);
  }
}

/** Writes those fields of a table, as they stand there, whose names are wanted. Throws DecodeError. */
export function copyFields(reader: ByteReader, writer: ByteWriter, wants: (name: string) => boolean): void {
  valuesLeft = tableValuesMax;
  const outerEnd = enter(reader, 'a field table');
  while (reader.at < reader.end) {
    const start = reader.at;
    const name = readLooseString(reader);
    skipValue(reader, 1);
    if (wants(name)) writer.raw(reader.bytes, start, reader.at);
  }
  reader.end = outerEnd;
}

/** The first field of that name: its value, and what RabbitMQ calls the value's type; undefined if there is none. Throws DecodeError. */
export function findField(reader: ByteReader, wanted: string): { type: string; value: ArgumentValue } | undefined {
  valuesLeft = tableValuesMax;
  const outerEnd = enter(reader, 'a field table');
  let found: { type: string; value: ArgumentValue } | undefined;
  while (reader.at < reader.end && found === undefined) {
    if (readLooseString(reader) === wanted) {
      const type = typeNames.get(reader.bytes[reader.at]!) ?? 'unknown';
      found = { type, value: readValue(reader, 1) };
    } else skipValue(reader, 1);
  }
  reader.end = outerEnd;
  return found;
}

const typeNames: ReadonlyMap<number, string> = new Map([
  [Letter.boolean, 'bool'],
  [Letter.i8, 'byte'],
  [Letter.u8, 'unsignedbyte'],
  [Letter.i16, 'short'],
  [Letter.u16, 'unsignedshort'],
  [Letter.i32, 'signedint'],
  [Letter.u32, 'unsignedint'],
  [Letter.i64, 'long'],
  [Letter.specifiedI64, 'long'],
  [Letter.f32, 'float'],
  [Letter.f64, 'double'],
  [Letter.decimal, 'decimal'],
  [Letter.timestamp, 'timestamp'],
  [Letter.longString, 'longstr'],
  [Letter.bytes, 'binary'],
  [Letter.array, 'array'],
  [Letter.table, 'table'],
  [Letter.nothing, 'void'],
]);

/** Writes a table: length and fields. Throws EncodeError for what has no encoding. */
export function writeTable(writer: ByteWriter, table: Arguments): void {
  writeInnerTable(writer, table, 1);
}

function writeInnerTable(writer: ByteWriter, table: Arguments, depth: number): void {
  if (depth > tableDepthMax) throw new EncodeError(`field tables are nested more than ${tableDepthMax} deep`);
  writer.u32(0);
  const start = writer.length;
  for (const name of Object.keys(table)) {
    writeShortString(writer, name);
    writeValue(writer, table[name]!, depth);
  }
  writer.patchU32(start - 4, writer.length - start);
}

function writeArray(writer: ByteWriter, values: readonly ArgumentValue[], depth: number): void {
  if (depth > tableDepthMax) throw new EncodeError(`field tables are nested more than ${tableDepthMax} deep`);
  writer.u8(Letter.array);
  writer.u32(0);
  const start = writer.length;
  for (const value of values) writeValue(writer, value, depth);
  writer.patchU32(start - 4, writer.length - start);
}

function writeValue(writer: ByteWriter, value: ArgumentValue, depth: number): void {
  switch (typeof value) {
    case 'boolean':
      writer.u8(Letter.boolean);
      writer.u8(value ? 1 : 0);
      return;
    case 'number':
      writeNumber(writer, value);
      return;
    case 'bigint':
      writeBigInt(writer, value);
      return;
    case 'string': {
      writer.u8(Letter.longString);
      writer.u32(0);
      const at = writer.length;
      writer.patchU32(at - 4, writer.text(value));
      return;
    }
    case 'object':
      writeObject(writer, value, depth);
      return;
    default:
      throw new EncodeError(`a value of type ${typeof value} has no encoding in a field table`);
  }
}

function writeNumber(writer: ByteWriter, value: number): void {
  if ((value | 0) === value && !Object.is(value, -0)) {
    writer.u8(Letter.i32);
    writer.i32(value);
  } else if (Number.isSafeInteger(value) && value !== 0) {
    writeBigInt(writer, BigInt(value));
  } else {
    writer.u8(Letter.f64);
    writer.f64(value);
  }
}

function writeBigInt(writer: ByteWriter, value: bigint): void {
  if (BigInt.asIntN(64, value) !== value) throw new EncodeError(`${value} does not fit into 64 bits`);
  writer.u8(Letter.i64);
  writer.i64(value);
}

function writeObject(writer: ByteWriter, value: object | null, depth: number): void {
  if (value === null) {
    writer.u8(Letter.nothing);
  } else if (value instanceof Uint8Array) {
    writer.u8(Letter.bytes);
    writer.u32(value.length);
    writer.raw(value);
  } else if (value instanceof Timestamp) {
    if (!(value.seconds >= 0)) throw new EncodeError(`a timestamp of ${value.seconds} seconds has no encoding`);
    writer.u8(Letter.timestamp);
    writer.u64(value.seconds);
  } else if (value instanceof Decimal) {
    writer.u8(Letter.decimal);
    writer.u8(value.scale);
    writer.i32(value.value);
  } else if (Array.isArray(value)) {
    writeArray(writer, value as ArgumentValue[], depth + 1);
  } else {
    writer.u8(Letter.table);
    writeInnerTable(writer, value as Arguments, depth + 1);
  }
}
