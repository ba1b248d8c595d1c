/**
 * Reads values, all types in all widths, and steps over them. Whatever the bytes are: nothing outside of them is read, no more is built than
 * `valuesMax` values in `depthMax` levels, and what makes no sense is a DecodeError.
 */
import { ByteReader } from '../../wire/byte-reader.js';
import { readU32 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { Code, hex, type TypeName, typeOf } from './format-codes.js';
import { ArrayValue, Described, MapValue, Scalar, type Value } from './values.js';

/** Lists in lists, and so on. */
export const depthMax = 32;
/** Of one call of `readValue`. Values of no bytes (null, true) make arrays that are larger than they look. */
export const valuesMax = 65_536;

/** Values that the present call may still build. */
let budget = 0;

/** Reads one value. Throws DecodeError. */
export function readValue(reader: ByteReader): Value {
  budget = valuesMax;
  return read(reader, 0);
}

function read(reader: ByteReader, depth: number): Value {
  const code = reader.u8();
  if (code !== Code.described) return readAs(reader, code, depth);
  checkDepth(depth);
  const descriptor = read(reader, depth + 1);
  return new Described(descriptor, read(reader, depth + 1));
}

/** Reads what follows the octet `code`. */
function readAs(reader: ByteReader, code: number, depth: number): Value {
  if (--budget < 0) throw new DecodeError(`more than ${valuesMax} values in one`);
  if (code < 0xa0) return readFixed(reader, code);
  if (code < 0xc0) return readVariable(reader, code);
  checkDepth(depth);
  return readCompound(reader, code, depth);
}

function readFixed(reader: ByteReader, code: number): Value {
  switch (code) {
    case Code.null:
      return null;
    case Code.true:
      return true;
    case Code.false:
      return false;
    case Code.boolean:
      return readBoolean(reader);
    case Code.list0:
      return [];
    case Code.float:
      return new Scalar('float', reader.f32());
    case Code.double:
      return new Scalar('double', reader.f64());
    case Code.char:
      return new Scalar('char', readChar(reader));
    case Code.decimal32:
      return new Scalar('decimal32', reader.copy(4));
    case Code.decimal64:
      return new Scalar('decimal64', reader.copy(8));
    case Code.decimal128:
      return new Scalar('decimal128', reader.copy(16));
    case Code.uuid:
      return new Scalar('uuid', reader.copy(16));
    default:
      return readInteger(reader, code);
  }
}

function readInteger(reader: ByteReader, code: number): Value {
  switch (code) {
    case Code.ubyte:
      return new Scalar('ubyte', reader.u8());
    case Code.ushort:
      return new Scalar('ushort', reader.u16());
    case Code.uint:
      return new Scalar('uint', reader.u32());
    case Code.smallUint:
      return new Scalar('uint', reader.u8());
    case Code.uint0:
      return new Scalar('uint', 0);
    case Code.ulong:
      return new Scalar('ulong', readU64(reader));
    case Code.smallUlong:
      return new Scalar('ulong', BigInt(reader.u8()));
    case Code.ulong0:
      return new Scalar('ulong', 0n);
    case Code.byte:
      return new Scalar('byte', reader.i8());
    case Code.short:
      return new Scalar('short', reader.i16());
    case Code.int:
      return new Scalar('int', reader.i32());
    case Code.smallInt:
      return new Scalar('int', reader.i8());
    case Code.long:
      return new Scalar('long', BigInt(reader.i64()));
    case Code.smallLong:
      return new Scalar('long', BigInt(reader.i8()));
    case Code.timestamp:
      return new Scalar('timestamp', BigInt(reader.i64()));
    default:
      throw unknown(code);
  }
}

function readBoolean(reader: ByteReader): boolean {
  const octet = reader.u8();
  if (octet > 1) throw new DecodeError(`a boolean of ${hex(octet)}, 0x00 or 0x01 expected`);
  return octet === 1;
}

function readChar(reader: ByteReader): number {
  const point = reader.u32();
  if (point > 0x10ffff) throw new DecodeError(`a char of ${hex(point)}, which is no code point`);
  return point;
}

function readU64(reader: ByteReader): bigint {
  const at = reader.take(8);
  return (BigInt(readU32(reader.bytes, at)) << 32n) | BigInt(readU32(reader.bytes, at + 4));
}

function readVariable(reader: ByteReader, code: number): Value {
  const length = code < 0xb0 ? reader.u8() : reader.u32();
  switch (code) {
    case Code.binary8:
    case Code.binary32:
      return reader.copy(length);
    case Code.string8:
    case Code.string32:
      return reader.text(length);
    case Code.symbol8:
    case Code.symbol32:
      return new Scalar('symbol', readAscii(reader, length));
    default:
      throw unknown(code);
  }
}

/** The text of a symbol, whose characters are ASCII (§1.6.21). */
export function readAscii(reader: ByteReader, length: number): string {
  const at = reader.take(length);
  let text = '';
  for (let i = at; i < at + length; i++) {
    const octet = reader.bytes[i]!;
    if (octet > 0x7f) throw new DecodeError(`a symbol with the octet ${hex(octet)}, which is not ASCII`);
    text += String.fromCharCode(octet);
  }
  return text;
}

function readCompound(reader: ByteReader, code: number, depth: number): Value {
  const type = typeOf(code);
  if (type === undefined) throw unknown(code);
  const outerEnd = reader.end;
  const isSmall = code === Code.list8 || code === Code.map8 || code === Code.array8;
  const size = isSmall ? reader.u8() : reader.u32();
  const start = reader.take(size);
  reader.set(reader.bytes, start, start + size);
  const count = isSmall ? reader.u8() : reader.u32();
  let value: Value;
  if (type === 'list') value = readList(reader, count, depth);
  else if (type === 'map') value = readMap(reader, count, depth);
  else value = readArray(reader, count, depth);
  reader.finish();
  reader.end = outerEnd;
  return value;
}

function readList(reader: ByteReader, count: number, depth: number): Value[] {
  checkCount(count);
  const list: Value[] = [];
  for (let i = 0; i < count; i++) list.push(read(reader, depth + 1));
  return list;
}

function readMap(reader: ByteReader, count: number, depth: number): MapValue {
  if (count % 2 !== 0) throw new DecodeError(`a map of ${count} values, where keys and values make pairs`);
  checkCount(count);
  const entries: [Value, Value][] = [];
  for (let i = 0; i < count; i += 2) entries.push([read(reader, depth + 1), read(reader, depth + 1)]);
  return new MapValue(entries);
}

function readArray(reader: ByteReader, count: number, depth: number): ArrayValue {
  checkCount(count);
  const descriptors: Value[] = [];
  let code = reader.u8();
  for (; code === Code.described; code = reader.u8()) {
    checkDepth(depth + descriptors.length);
    descriptors.push(read(reader, depth + 1));
  }
  const type = typeOf(code);
  if (type === undefined) throw unknown(code);
  const elements: Value[] = [];
  for (let i = 0; i < count; i++) elements.push(readAs(reader, code, depth + 1));
  return new ArrayValue(type, elements, descriptors);
}

/** What cannot be is noticed before anything is built. */
function checkCount(count: number): void {
  if (count > budget) throw new DecodeError(`a compound of ${count} values, more than ${valuesMax} are in one`);
}

function checkDepth(depth: number): void {
  if (depth >= depthMax) throw new DecodeError(`values are nested more than ${depthMax} deep`);
}

function unknown(code: number): DecodeError {
  return new DecodeError(`no type begins with ${hex(code)}`);
}

/**
 * Where the value at `at` ends, at most `end`. What is in compound values is not looked at. Throws DecodeError if it does not end there.
 */
export function skipValue(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  // A described value is two.
  for (let values = 1; values > 0; values--) {
    if (next >= end) throw new DecodeError('a value expected, no bytes left');
    const code = bytes[next]!;
    if (code === Code.described) {
      values += 2;
      next++;
    } else {
      next = skipAs(bytes, next, end, code);
    }
  }
  return next;
}

function skipAs(bytes: Uint8Array, at: number, end: number, code: number): number {
  if (typeOf(code) === undefined) throw unknown(code);
  const kind = code >>> 4;
  let length: number;
  if (kind < 0xa) {
    length = 1 + (kind === 4 ? 0 : 1 << (kind - 5));
  } else if ((kind & 1) === 0) {
    if (at + 2 > end) throw cutShort(code);
    length = 2 + bytes[at + 1]!;
  } else {
    if (at + 5 > end) throw cutShort(code);
    length = 5 + readU32(bytes, at + 1);
  }
  if (at + length > end) throw cutShort(code);
  return at + length;
}

function cutShort(code: number): DecodeError {
  return new DecodeError(`a ${typeOf(code)!} is cut short`);
}

/** The type of the value at `at`, for errors. */
export function describeCode(code: number): TypeName | 'described value' | 'unknown type' {
  return code === Code.described ? 'described value' : (typeOf(code) ?? 'unknown type');
}
