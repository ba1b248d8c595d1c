/**
 * Arguments of queues, exchanges and bindings in JSON. What JSON has no type for is written as in the wiring: an object with one key
 * that begins with `$` (see model/wiring/arguments).
 */
import type { Arguments, ArgumentValue } from '../model/broker.js';
import { argumentDepthMax, argumentFromJson, checkArguments, type Json } from '../model/wiring/arguments.js';
import { badRequest } from './read.js';

const int32Max = 0x7fff_ffff;
const int64Max = 2n ** 63n - 1n;

/** What each of the keys may have for its value. */
const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  $time: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  $decimal: (value) => Array.isArray(value) && value.length === 2 && isByte(value[0]) && isInt32(value[1]),
  $bytes: (value) => typeof value === 'string' && /^[\0-\xff]*$/.test(value),
  $big: (value) => typeof value === 'string' && /^-?\d{1,19}$/.test(value) && isInt64(BigInt(value)),
  $number: (value) => ['NaN', 'Infinity', '-Infinity'].includes(value as string),
  $table: isObject,
};

/** Absent, or an empty list, which older brokers write: none. @throws HttpError 400, RefusedError */
export function argumentTable(written: unknown): Arguments {
  if (written === undefined || written === null) return {};
  if (Array.isArray(written) && written.length === 0) return {};
  if (!isObject(written)) throw badRequest('"arguments" must be an object');
  const table = tableOf(written, 0);
  checkArguments(table);
  return table;
}

function tableOf(written: Record<string, unknown>, depth: number): Arguments {
  return Object.fromEntries(Object.entries(written).map(([key, value]) => [key, valueOf(value, depth + 1)]));
}

function valueOf(written: unknown, depth: number): ArgumentValue {
  if (depth > argumentDepthMax) throw badRequest(`"arguments" are nested deeper than ${argumentDepthMax} levels`);
  if (Array.isArray(written)) return written.map((value) => valueOf(value, depth + 1));
  if (!isObject(written)) return written as string | number | boolean | null;
  const [key = '', ...others] = Object.keys(written);
  const isForm = others.length === 0 && Object.hasOwn(forms, key);
  if (!isForm) return tableOf(written, depth);
  const value = written[key];
  if (!forms[key]!(value)) throw badRequest(`"arguments" have a ${key} that is none`);
  return key === '$table' ? tableOf(value as Record<string, unknown>, depth) : argumentFromJson(written as Json);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}

function isInt32(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) <= int32Max;
}

function isInt64(value: bigint): boolean {
  return value <= int64Max && value >= -int64Max - 1n;
}
