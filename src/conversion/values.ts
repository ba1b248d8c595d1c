/**
 * Values of headers: those of field tables (AMQP 0-9-1) and those of AMQP 1.0.
 *
 *   boolean, null, text, bytes   as they are; bytes that are a text in 0-9-1 are text
 *   integer                      int within 32 bits, else long        ← any integer
 *   other number                 double                               ← float, double
 *   timestamp, s                 timestamp, ms                        ← (cut to seconds)
 *   decimal                      double
 *   array, table                 list, map with symbols as keys       ← list and array, map
 *                                text of the value                    ← char, symbol, uuid, decimals
 */
import { MapValue, ArrayValue, Described, Scalar, symbol, textOf, type Value } from '../amqp10/codec/values.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../model/broker.js';

const intMin = -0x8000_0000;
const intMax = 0x7fff_ffff;

/** A value of a field table as AMQP 1.0 has it. */
export function toValue(value: ArgumentValue): Value {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return numberValue(value);
  if (typeof value === 'bigint') return new Scalar('long', value);
  if (value instanceof Uint8Array) return value;
  if (value instanceof Timestamp) return new Scalar('timestamp', BigInt(value.seconds) * 1000n);
  if (value instanceof Decimal) return new Scalar('double', value.value / 10 ** value.scale);
  if (Array.isArray(value)) return value.map(toValue);
  return new MapValue(Object.entries(value).map(([key, one]) => [symbol(ascii(key)), toValue(one)]));
}

function numberValue(value: number): Scalar {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return new Scalar('double', value);
  return value >= intMin && value <= intMax ? new Scalar('int', value) : new Scalar('long', BigInt(value));
}

/** Symbols have ASCII only. */
export function ascii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, '?');
}

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** A value of AMQP 1.0 as field tables have it. */
export function toArgument(value: Value): ArgumentValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || value instanceof Uint8Array)
    return value;
  if (value instanceof Scalar) return scalarArgument(value);
  if (value instanceof MapValue) return toArguments(value);
  if (value instanceof ArrayValue) return value.elements.map(toArgument);
  if (value instanceof Described) return toArgument(value.value);
  return value.map(toArgument);
}

/** Keys that are no text, or longer than names may be in field tables, are left out. */
export function toArguments({ entries }: MapValue): Arguments {
  const table: Arguments = {};
  for (const [key, value] of entries) {
    const name = textOf(key);
    if (name !== undefined && isShort(name)) put(table, name, toArgument(value));
  }
  return table;
}

const shortStringMax = 255;
const encoder = new TextEncoder();

/** It fits into a short string of AMQP 0-9-1. */
export function isShort(text: string): boolean {
  return text.length * 3 <= shortStringMax || encoder.encode(text).length <= shortStringMax;
}

/** Plain assignment of `__proto__` would set the prototype. */
export function put(table: Arguments, name: string, value: ArgumentValue): void {
  Object.defineProperty(table, name, { value, enumerable: true, configurable: true, writable: true });
}

function scalarArgument({ type, value }: Scalar): ArgumentValue {
  if (type === 'timestamp') return secondsOf(BigInt(value as bigint));
  if (type === 'char') return String.fromCodePoint(value as number);
  if (type === 'uuid') return uuidText(value as Uint8Array);
  if (typeof value === 'bigint') return fitting(value);
  return value;
}

function secondsOf(ms: bigint): ArgumentValue {
  // Field tables know no time before 1970.
  return ms < 0n ? ms : new Timestamp(Number(ms / 1000n));
}

/** As field tables are read: a number where that is exact. They have 64 bits with a sign. */
function fitting(value: bigint): ArgumentValue {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return value > 2n ** 63n - 1n ? value.toString() : value;
}

/** `urn:uuid:` and the usual form. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (octet) => octet.toString(16).padStart(2, '0')).join('');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const uuidPattern = /^urn:uuid:([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

/** The bytes of a text in exactly that form. */
export function uuidBytes(text: string): Uint8Array | undefined {
  const match = uuidPattern.exec(text);
  if (match === null) return undefined;
  const hex = match.slice(1).join('');
  return Uint8Array.from({ length: 16 }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16));
}
