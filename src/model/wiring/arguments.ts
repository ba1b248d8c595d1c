/**
 * Argument tables as JSON, for the wiring log and for operations between nodes.
 *
 * JSON has fewer types than AMQP field tables. What it lacks is written as an object with one key that begins with '$':
 *
 *   {"$time": seconds}   {"$decimal": [scale, value]}   {"$bytes": one character U+0000..U+00FF per byte}
 *   {"$big": "digits"}   {"$number": "NaN" | "Infinity" | "-Infinity"}
 *   {"$table": table}    a table that has a key beginning with '$' itself
 */
import { Refusal, RefusedError } from '../../base/errors.js';
import { type Arguments, type ArgumentValue, Decimal, Timestamp } from '../broker.js';

/** Tables and arrays within each other, at most. */
export const argumentDepthMax = 32;
/** Values of a declaration's arguments: every node keeps them, and compares them with those of the next declaration. */
export const argumentValuesMax = 1024;

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** @throws RefusedError (precondition-failed) if the value is nested deeper than `argumentDepthMax`. */
export function argumentToJson(value: ArgumentValue, depth = 0): Json {
  if (depth > argumentDepthMax) {
    throw new RefusedError(
      Refusal.preconditionFailed,
      `arguments are nested deeper than ${argumentDepthMax} levels; flatten them`,
    );
  }
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : { $number: String(value) };
    case 'bigint':
      return { $big: value.toString() };
    default:
  }
  if (value === null || value === undefined) return null;
  if (value instanceof Timestamp) return { $time: value.seconds };
  if (value instanceof Decimal) return { $decimal: [value.scale, value.value] };
  if (value instanceof Uint8Array) return { $bytes: bytesToText(value) };
  if (Array.isArray(value)) return value.map((item) => argumentToJson(item, depth + 1));
  const table = tableToJson(value as Arguments, depth);
  return Object.keys(table).some((key) => key.startsWith('$')) ? { $table: table } : table;
}

function tableToJson(table: Arguments, depth: number): { [key: string]: Json } {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, argumentToJson(value, depth + 1)]));
}

/** The reverse of `argumentToJson`. */
export function argumentFromJson(json: Json): ArgumentValue {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(argumentFromJson);
  if ('$time' in json) return new Timestamp(json['$time'] as number);
  if ('$decimal' in json) {
    const [scale, value] = json['$decimal'] as [number, number];
    return new Decimal(scale, value);
  }
  if ('$bytes' in json) return textToBytes(json['$bytes'] as string);
  if ('$big' in json) return BigInt(json['$big'] as string);
  if ('$number' in json) return Number(json['$number']);
  if ('$table' in json) return tableFromJson(json['$table'] as { [key: string]: Json });
  return tableFromJson(json);
}

// Object.fromEntries makes own properties of whatever name, '__proto__' included.
function tableFromJson(json: { [key: string]: Json }): Arguments {
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, argumentFromJson(value)]));
}

/**
 * The JSON of a whole argument table.
 * @throws RefusedError (precondition-failed) if it has more than `argumentValuesMax` values, or is nested too deep.
 */
export function argumentsToJson(table: Arguments): Json {
  const json = argumentToJson(table);
  if (countValues(table) > argumentValuesMax) {
    throw new RefusedError(Refusal.preconditionFailed, `arguments have more than ${argumentValuesMax} values`);
  }
  return json;
}

/** @throws RefusedError (precondition-failed) for a table that `argumentsToJson` refuses. */
export function checkArguments(table: Arguments): void {
  argumentsToJson(table);
}

/** Values of a table, those of tables and arrays in it included. */
function countValues(value: ArgumentValue): number {
  if (!isComposite(value)) return 1;
  let count = 0;
  for (const inner of Object.values(value)) count += countValues(inner);
  return count;
}

function isComposite(value: ArgumentValue): value is ArgumentValue[] | Arguments {
  if (typeof value !== 'object' || value === null) return false;
  return !(value instanceof Timestamp || value instanceof Decimal || value instanceof Uint8Array);
}

export function argumentsFromJson(json: Json): Arguments {
  return argumentFromJson(json) as Arguments;
}

function bytesToText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function textToBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** One text per table: equal for tables with the same entries in any order, and '' for the empty table. */
export function argumentsKey(table: Arguments): string {
  const keys = Object.keys(table);
  if (keys.length === 0) return '';
  return JSON.stringify(sorted(argumentsToJson(table)));
}

function sorted(json: Json): Json {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(sorted);
  // 1n and 1 are the same argument: integers have several widths on the wire.
  if ('$big' in json && Number.isSafeInteger(Number(json['$big']))) return Number(json['$big']);
  return Object.fromEntries(
    Object.keys(json)
      .sort()
      .map((key) => [key, sorted(json[key]!)]),
  );
}

/** An own entry of a table; undefined if there is none. (Names such as 'constructor' are names like any other.) */
export function argument(table: Arguments, key: string): ArgumentValue | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/**
 * Are two argument values the same? Numbers are compared by value, whatever their width was on the wire; so are timestamps, also with
 * numbers, as RabbitMQ does.
 */
export function argumentsEqual(a: ArgumentValue | undefined, b: ArgumentValue | undefined): boolean {
  if (a === b) return true;
  // 1n and 1 are equal so, NaN and NaN are not.
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) return x <= y && x >= y;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Timestamp) return false;
  if (a instanceof Decimal) return b instanceof Decimal && a.scale === b.scale && a.value === b.value;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && listsEqual(a, b);
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b);
  if (b instanceof Timestamp || b instanceof Decimal || b instanceof Uint8Array || Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && argumentsEqual(a[key], b[key]));
}

function numberOf(value: ArgumentValue | undefined): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Timestamp ? value.seconds : undefined;
}

function listsEqual(a: ArrayLike<ArgumentValue>, b: ArrayLike<ArgumentValue>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!argumentsEqual(a[i], b[i])) return false;
  return true;
}

/** How a value is named in the text of an error: "the value '10' of type 'long'", or "none". */
export function describeArgument(value: ArgumentValue | undefined): string {
  if (value === undefined) return 'none';
  const text = typeof value === 'string' ? value : (JSON.stringify(argumentToJson(value)) ?? '');
  const shown = text.length > 200 ? `${text.slice(0, 200)}...` : text;
  return `the value '${shown}' of type '${typeName(value)}'`;
}

function typeName(value: ArgumentValue): string {
  switch (typeof value) {
    case 'string':
      return 'longstr';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'long';
    case 'number':
      return Number.isInteger(value) ? 'long' : 'double';
    default:
  }
  if (value === null) return 'void';
  if (value instanceof Timestamp) return 'timestamp';
  if (value instanceof Decimal) return 'decimal';
  if (value instanceof Uint8Array) return 'binary';
  return Array.isArray(value) ? 'array' : 'table';
}
