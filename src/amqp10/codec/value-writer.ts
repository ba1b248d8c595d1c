/** Writes values: each in the shortest form that its type has, compound ones with lengths of 32 bits. */
import type { ByteWriter } from '../../wire/byte-writer.js';
import { EncodeError } from '../../wire/decode-error.js';
import { Code, type TypeName } from './format-codes.js';
import { ArrayValue, Described, MapValue, Scalar, type Value } from './values.js';

/** Throws EncodeError for what has no encoding. */
export function writeValue(writer: ByteWriter, value: Value): void {
  if (value === null) writer.u8(Code.null);
  else if (typeof value === 'boolean') writer.u8(value ? Code.true : Code.false);
  else if (typeof value === 'string') writeString(writer, value);
  else if (value instanceof Uint8Array) writeBinary(writer, value);
  else if (value instanceof Scalar) writeScalar(writer, value);
  else if (value instanceof MapValue) writeMap(writer, value);
  else if (value instanceof ArrayValue) writeArray(writer, value);
  else if (value instanceof Described) {
    writer.u8(Code.described);
    writeValue(writer, value.descriptor);
    writeValue(writer, value.value);
  } else writeList(writer, value);
}

export function writeString(writer: ByteWriter, text: string): void {
  writer.u8(Code.string8);
  putText(writer, text, writer.length, Code.string32);
}

export function writeSymbol(writer: ByteWriter, text: string): void {
  writer.u8(Code.symbol8);
  putText(writer, text, writer.length, Code.symbol32);
}

/** A length of 8 bits if it is enough; `at`: where the length goes, behind the short code. */
function putText(writer: ByteWriter, text: string, at: number, longCode: number): void {
  writer.u8(0);
  const length = writer.text(text);
  if (length <= 0xff) {
    writer.bytes[at] = length;
    return;
  }
  writer.rewind(at - 1);
  writer.u8(longCode);
  writer.u32(length);
  writer.text(text);
}

export function writeBinary(writer: ByteWriter, bytes: Uint8Array, start = 0, end: number = bytes.length): void {
  writeBinaryHeader(writer, end - start);
  writer.raw(bytes, start, end);
}

/** Code and length of a binary value; the bytes are to follow. */
export function writeBinaryHeader(writer: ByteWriter, length: number): void {
  if (length <= 0xff) {
    writer.u8(Code.binary8);
    writer.u8(length);
  } else {
    writer.u8(Code.binary32);
    writer.u32(length);
  }
}

export function writeUint(writer: ByteWriter, value: number): void {
  if (value === 0) {
    writer.u8(Code.uint0);
  } else if (value <= 0xff) {
    writer.u8(Code.smallUint);
    writer.u8(value);
  } else {
    writer.u8(Code.uint);
    writer.u32(value);
  }
}

function isSmall(value: number | bigint): boolean {
  return value >= -128 && value <= 127;
}

function writeScalar(writer: ByteWriter, { type, value }: Scalar): void {
  switch (type) {
    case 'symbol':
      return writeSymbol(writer, value as string);
    case 'uint':
      return writeUint(writer, value as number);
    case 'int':
      writer.u8(isSmall(value as number) ? Code.smallInt : Code.int);
      if (isSmall(value as number)) writer.u8((value as number) & 0xff);
      else writer.i32(value as number);
      return;
    case 'ulong':
      return writeUlong(writer, BigInt(value as bigint));
    case 'long':
      writer.u8(isSmall(value as bigint) ? Code.smallLong : Code.long);
      if (isSmall(value as bigint)) writer.u8(Number(value) & 0xff);
      else writer.i64(BigInt(value as bigint));
      return;
    default:
      writer.u8(widest[type]);
      putFixed(writer, type, value);
  }
}

export function writeUlong(writer: ByteWriter, value: bigint): void {
  if (value === 0n) {
    writer.u8(Code.ulong0);
  } else if (value <= 0xffn) {
    writer.u8(Code.smallUlong);
    writer.u8(Number(value));
  } else {
    writer.u8(Code.ulong);
    writer.i64(BigInt.asIntN(64, value));
  }
}

/** The form that takes every value of the type: that of elements of arrays. */
const widest: Readonly<Record<TypeName, Code>> = {
  null: Code.null,
  boolean: Code.boolean,
  ubyte: Code.ubyte,
  ushort: Code.ushort,
  uint: Code.uint,
  ulong: Code.ulong,
  byte: Code.byte,
  short: Code.short,
  int: Code.int,
  long: Code.long,
  float: Code.float,
  double: Code.double,
  decimal32: Code.decimal32,
  decimal64: Code.decimal64,
  decimal128: Code.decimal128,
  char: Code.char,
  timestamp: Code.timestamp,
  uuid: Code.uuid,
  binary: Code.binary32,
  string: Code.string32,
  symbol: Code.symbol32,
  list: Code.list32,
  map: Code.map32,
  array: Code.array32,
};

/** What follows the widest code of a type of fixed width. */
function putFixed(writer: ByteWriter, type: TypeName, value: Scalar['value']): void {
  switch (type) {
    case 'ubyte':
    case 'byte':
      return writer.u8((value as number) & 0xff);
    case 'ushort':
    case 'short':
      return writer.u16((value as number) & 0xffff);
    case 'uint':
    case 'char':
      return writer.u32(value as number);
    case 'int':
      return writer.i32(value as number);
    case 'ulong':
    case 'long':
    case 'timestamp':
      return writer.i64(BigInt.asIntN(64, BigInt(value as bigint)));
    case 'float': {
      const at = writer.ensure(4);
      writer.view.setFloat32(at, value as number);
      writer.length = at + 4;
      return;
    }
    case 'double':
      return writer.f64(value as number);
    default:
      writer.raw(value as Uint8Array);
  }
}

/** Size and count of a compound value, to be patched by `endCompound`. Returns where. */
export function beginCompound(writer: ByteWriter, code: Code): number {
  writer.u8(code);
  return beginSized(writer);
}

function beginSized(writer: ByteWriter): number {
  const at = writer.length;
  writer.u32(0);
  writer.u32(0);
  return at;
}

export function endCompound(writer: ByteWriter, at: number, count: number): void {
  writer.patchU32(at, writer.length - at - 4);
  writer.patchU32(at + 4, count);
}

function writeList(writer: ByteWriter, list: readonly Value[]): void {
  if (list.length === 0) return writer.u8(Code.list0);
  const at = beginCompound(writer, Code.list32);
  for (const value of list) writeValue(writer, value);
  endCompound(writer, at, list.length);
}

export function writeMap(writer: ByteWriter, map: MapValue): void {
  writer.u8(Code.map32);
  putMap(writer, map);
}

function putMap(writer: ByteWriter, { entries }: MapValue): void {
  const at = beginSized(writer);
  for (const [key, value] of entries) {
    writeValue(writer, key);
    writeValue(writer, value);
  }
  endCompound(writer, at, entries.length * 2);
}

function writeArray(writer: ByteWriter, array: ArrayValue): void {
  writer.u8(Code.array32);
  putArray(writer, array);
}

function putArray(writer: ByteWriter, { type, elements, descriptors }: ArrayValue): void {
  const at = beginSized(writer);
  for (const descriptor of descriptors) {
    writer.u8(Code.described);
    writeValue(writer, descriptor);
  }
  writer.u8(widest[type]);
  for (const element of elements) putElement(writer, type, element);
  endCompound(writer, at, elements.length);
}

/** A value without its code. */
function putElement(writer: ByteWriter, type: TypeName, value: Value): void {
  if (type === 'null' && value === null) return;
  if (type === 'boolean' && typeof value === 'boolean') return writer.u8(value ? 1 : 0);
  if (type === 'string' && typeof value === 'string') return putLongText(writer, value);
  if (type === 'binary' && value instanceof Uint8Array) {
    writer.u32(value.length);
    return writer.raw(value);
  }
  if (type === 'array' && value instanceof ArrayValue) return putArray(writer, value);
  if (type === 'map' && value instanceof MapValue) return putMap(writer, value);
  if (type === 'list' && Array.isArray(value)) {
    const at = beginSized(writer);
    for (const one of value) writeValue(writer, one);
    return endCompound(writer, at, value.length);
  }
  if (!(value instanceof Scalar) || value.type !== type)
    throw new EncodeError(`an element of an array of ${type} is none`);
  if (type === 'symbol') putLongText(writer, value.value as string);
  else putFixed(writer, type, value.value);
}

function putLongText(writer: ByteWriter, text: string): void {
  const at = writer.length;
  writer.u32(0);
  writer.patchU32(at, writer.text(text));
}
