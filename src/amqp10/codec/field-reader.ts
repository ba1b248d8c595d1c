/**
 * Reads the fields of a described list (§1.4) one after the other: a field that is null, or not there any more, is undefined. Errors name
 * type and field.
 */
import { ByteReader } from '../../wire/byte-reader.js';
import { readU32 } from '../../wire/bytes.js';
import { DecodeError } from '../../wire/decode-error.js';
import { AmqpError } from './amqp-error.js';
import { Code, typeOf } from './format-codes.js';
import { Condition } from './generated/conditions.js';
import { descriptorName, symbolicDescriptors } from './generated/descriptors.js';
import { depthMax, describeCode, readAscii, readValue } from './value-reader.js';
import { ArrayValue, MapValue, Scalar, type Value } from './values.js';

export class FieldReader {
  private readonly reader: ByteReader;
  private readonly depth: number;
  /** Fields that are there and not read yet. */
  private left = 0;
  private type = '';
  private names: readonly string[] = [];
  private index = 0;

  constructor(reader: ByteReader, depth = 0) {
    this.reader = reader;
    this.depth = depth;
  }

  /**
   * Reads a descriptor and the beginning of its list, whose fields come next; the reader ends with the list, and `endOf` says where
   * that is.
   * @returns the descriptor's code, -1 if the specification has none like it
   */
  begin(): number {
    const { reader } = this;
    if (reader.u8() !== Code.described) throw new DecodeError('a described value expected');
    const code = readDescriptor(reader);
    const kind = reader.u8();
    if (kind === Code.list0) {
      this.left = 0;
      reader.end = reader.at;
      return code;
    }
    if (kind !== Code.list8 && kind !== Code.list32)
      throw new DecodeError(`the descriptor ${describe(code)} is followed by a ${describeCode(kind)}, a list expected`);
    const size = kind === Code.list8 ? reader.u8() : reader.u32();
    const start = reader.take(size);
    reader.set(reader.bytes, start, start + size);
    this.left = kind === Code.list8 ? reader.u8() : reader.u32();
    return code;
  }

  /** Where the list ends. */
  get end(): number {
    return this.reader.end;
  }

  /** What the list is, and its fields' names. */
  expect(type: string, names: readonly string[]): void {
    this.type = type;
    this.names = names;
    this.index = 0;
    if (this.left > names.length)
      throw new AmqpError(Condition.decodeError, `${type} has ${this.left} fields, it may have ${names.length}`);
  }

  /** The list has no field that was not read. */
  finish(): void {
    if (this.reader.remaining > 0)
      throw new AmqpError(
        Condition.decodeError,
        `${this.type} has ${this.reader.remaining} bytes behind its last field`,
      );
  }

  /** The field just read must be there. */
  missing(): never {
    throw new AmqpError(Condition.invalidField, `${this.type} has no ${this.name}, which is mandatory`);
  }

  // A field each; undefined if it is null.

  boolean(): boolean | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code === Code.true || code === Code.false) return code === Code.true;
    if (code !== Code.boolean) throw this.wrongType(code, 'boolean');
    const octet = this.reader.u8();
    if (octet > 1) throw this.invalid(`a boolean of ${octet}`);
    return octet === 1;
  }

  ubyte(): number | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.ubyte) throw this.wrongType(code, 'ubyte');
    return this.reader.u8();
  }

  ushort(): number | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.ushort) throw this.wrongType(code, 'ushort');
    return this.reader.u16();
  }

  uint(): number | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code === Code.uint0) return 0;
    if (code === Code.smallUint) return this.reader.u8();
    if (code !== Code.uint) throw this.wrongType(code, 'uint');
    return this.reader.u32();
  }

  /** Above 2^53 rounded to the nearest number. */
  ulong(): number | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code === Code.ulong0) return 0;
    if (code === Code.smallUlong) return this.reader.u8();
    if (code !== Code.ulong) throw this.wrongType(code, 'ulong');
    return this.reader.u64();
  }

  /** Milliseconds since 1970. */
  timestamp(): number | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.timestamp) throw this.wrongType(code, 'timestamp');
    return Number(this.reader.i64());
  }

  string(): string | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.string8 && code !== Code.string32) throw this.wrongType(code, 'string');
    return this.reader.text(code === Code.string8 ? this.reader.u8() : this.reader.u32());
  }

  symbol(): string | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.symbol8 && code !== Code.symbol32) throw this.wrongType(code, 'symbol');
    return readAscii(this.reader, code === Code.symbol8 ? this.reader.u8() : this.reader.u32());
  }

  /** One, or an array of them (`multiple`). */
  symbols(): string[] | undefined {
    const value = this.any();
    if (value === undefined) return undefined;
    if (value instanceof Scalar && value.type === 'symbol') return [value.value as string];
    if (!(value instanceof ArrayValue) || value.type !== 'symbol')
      throw this.invalid('no symbol, nor an array of them');
    return value.elements.map((element) => (element as Scalar).value as string);
  }

  /** A copy. */
  binary(): Uint8Array | undefined {
    const code = this.next();
    if (code === Code.null) return undefined;
    if (code !== Code.binary8 && code !== Code.binary32) throw this.wrongType(code, 'binary');
    return this.reader.copy(code === Code.binary8 ? this.reader.u8() : this.reader.u32());
  }

  any(): Value | undefined {
    if (this.isOver) return undefined;
    return readValue(this.reader) ?? undefined;
  }

  map(): MapValue | undefined {
    const value = this.any();
    if (value === undefined || value instanceof MapValue) return value;
    throw this.invalid('no map');
  }

  /** A map whose keys are symbols. */
  fields(): MapValue | undefined {
    const map = this.map();
    for (const [key] of map?.entries ?? [])
      if (!(key instanceof Scalar) || key.type !== 'symbol') throw this.invalid('a map with a key that is no symbol');
    return map;
  }

  /** A described list. @param decode undefined: that descriptor has no place here */
  nested<T>(decode: (code: number, fields: FieldReader) => T | undefined): T | undefined {
    const { reader, depth } = this;
    if (this.isOver) return undefined;
    if (reader.at < reader.end && reader.bytes[reader.at] === Code.null) {
      reader.at++;
      return undefined;
    }
    if (depth >= depthMax) throw new DecodeError(`values are nested more than ${depthMax} deep`);
    const inner = new ByteReader(reader.bytes, reader.at, reader.end);
    const fields = new FieldReader(inner, depth + 1);
    const code = fields.begin();
    const value = decode(code, fields);
    if (value === undefined) throw this.invalid(`a described value ${describe(code)}, which has no place there`);
    reader.at = inner.end;
    return value;
  }

  /** Steps to the next field: true if there is none. */
  private get isOver(): boolean {
    this.index++;
    if (this.left === 0) return true;
    this.left--;
    return false;
  }

  private next(): number {
    return this.isOver ? Code.null : this.reader.u8();
  }

  private get name(): string {
    return this.names[this.index - 1] ?? `field ${this.index}`;
  }

  private wrongType(code: number, expected: string): AmqpError {
    return this.invalid(`a ${describeCode(code)}, ${expected} expected`);
  }

  private invalid(what: string): AmqpError {
    return new AmqpError(Condition.decodeError, `${this.name} of ${this.type} is ${what}`);
  }
}

/** The code of a descriptor in either form; -1 if the specification has none like it. */
export function readDescriptor(reader: ByteReader): number {
  const code = reader.u8();
  if (code === Code.smallUlong) return reader.u8();
  if (code === Code.ulong0) return 0;
  if (code === Code.ulong) {
    const at = reader.take(8);
    return readU32(reader.bytes, at) === 0 ? readU32(reader.bytes, at + 4) : -1;
  }
  if (code === Code.symbol8 || code === Code.symbol32) {
    const length = code === Code.symbol8 ? reader.u8() : reader.u32();
    return symbolicDescriptors.get(readAscii(reader, length)) ?? -1;
  }
  throw new DecodeError(`a descriptor is a ${typeOf(code) ?? 'described value'}, ulong or symbol expected`);
}

function describe(code: number): string {
  return code < 0 ? 'that is not known' : descriptorName(code);
}
