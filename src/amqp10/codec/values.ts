/**
 * Values of AMQP 1.0 as objects, each with its exact type, for what is looked at: properties of connections, filters, annotations. Messages
 * that pass through are never made into these.
 *
 *   null, boolean, string, binary   as JavaScript has them
 *   list                            an array
 *   everything else                 Scalar, MapValue, ArrayValue, Described
 */
import type { TypeName } from './format-codes.js';

export type ScalarName = Exclude<TypeName, 'null' | 'boolean' | 'string' | 'binary' | 'list' | 'map' | 'array'>;

export type Value = null | boolean | string | Uint8Array | Scalar | MapValue | ArrayValue | Described | Value[];

/**
 * A number, symbol, uuid or decimal. `value`: a number for all integers of up to 32 bits, for float, double and char (its code point), a
 * bigint for ulong, long and timestamp (ms since 1970), a text for symbol, the bytes for uuid and decimals.
 */
export class Scalar {
  readonly type: ScalarName;
  readonly value: number | bigint | string | Uint8Array;
  constructor(type: ScalarName, value: number | bigint | string | Uint8Array) {
    this.type = type;
    this.value = value;
  }
}

/** Pairs in their order; keys may be of any type. */
export class MapValue {
  readonly entries: [key: Value, value: Value][];
  constructor(entries: [key: Value, value: Value][]) {
    this.entries = entries;
  }

  /** The value of a string or symbol as key; undefined if it is not there. */
  get(name: string): Value | undefined {
    return this.entries.find(([key]) => textOf(key) === name)?.[1];
  }
}

/** Values of one type. `descriptors`: of each of them, the outermost first; mostly none. */
export class ArrayValue {
  readonly type: TypeName;
  readonly elements: Value[];
  readonly descriptors: Value[];
  constructor(type: TypeName, elements: Value[], descriptors: Value[] = []) {
    this.type = type;
    this.elements = elements;
    this.descriptors = descriptors;
  }
}

export class Described {
  readonly descriptor: Value;
  readonly value: Value;
  constructor(descriptor: Value, value: Value) {
    this.descriptor = descriptor;
    this.value = value;
  }
}

export function symbol(text: string): Scalar {
  return new Scalar('symbol', text);
}

export function uint(value: number): Scalar {
  return new Scalar('uint', value);
}

/** A map whose keys are symbols, as all fields of performatives have it. */
export function fieldMap(entries: Readonly<Record<string, Value>>): MapValue {
  return new MapValue(Object.entries(entries).map(([key, value]) => [symbol(key), value]));
}

/** The text of a string or symbol. */
export function textOf(value: Value | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Scalar && value.type === 'symbol' ? (value.value as string) : undefined;
}

/** The number of any integer, where that is exact. */
export function integerOf(value: Value | undefined): number | undefined {
  if (!(value instanceof Scalar) || typeof value.value === 'string') return undefined;
  const number = typeof value.value === 'bigint' ? Number(value.value) : value.value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
