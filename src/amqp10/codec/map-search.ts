/** Finds values in a section that is a map (§3.2.5), and decodes no others. */
import { ByteReader } from '../../wire/byte-reader.js';
import { DecodeError } from '../../wire/decode-error.js';
import { decodeLooseText } from '../../wire/utf8.js';
import { readDescriptor } from './field-reader.js';
import { Code } from './format-codes.js';
import { readValue, skipValue } from './value-reader.js';
import type { Value } from './values.js';

const reader = new ByteReader();

/** The value of the key `name` in the section at [start, end), which begins with its descriptor; undefined if there is none. */
export function findInMap(bytes: Uint8Array, start: number, end: number, name: string): Value | undefined {
  try {
    for (let key = firstKey(bytes, start, end); key < end; ) {
      const value = skipValue(bytes, key, end);
      if (isKey(bytes, key, value, name)) return readValue(reader.set(bytes, value, end));
      key = skipValue(bytes, value, end);
    }
    return undefined;
  } catch (error) {
    // It was taken as it is: what makes no sense in it is not there.
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Where the values of all keys that are texts begin in that section; of those that come twice the first. As far as it makes sense. */
export function valuesInMap(bytes: Uint8Array, start: number, end: number): Map<string, number> {
  const values = new Map<string, number>();
  try {
    for (let key = firstKey(bytes, start, end); key < end; ) {
      const value = skipValue(bytes, key, end);
      const from = textStart(bytes, key);
      const name = from === undefined ? undefined : decodeLooseText(bytes, from, value);
      if (name !== undefined && !values.has(name)) values.set(name, value);
      key = skipValue(bytes, value, end);
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  return values;
}

/** The value that begins there; undefined if it makes no sense. */
export function valueAt(bytes: Uint8Array, at: number, end: number): Value | undefined {
  try {
    return readValue(reader.set(bytes, at, end));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function firstKey(bytes: Uint8Array, start: number, end: number): number {
  readDescriptor(reader.set(bytes, start + 1, end));
  const { at } = reader;
  return at + (bytes[at] === Code.map8 ? 3 : 9);
}

/** Where the text of a key begins, if it is one. */
function textStart(bytes: Uint8Array, at: number): number | undefined {
  const code = bytes[at];
  if (code === Code.string8 || code === Code.symbol8) return at + 2;
  return code === Code.string32 || code === Code.symbol32 ? at + 5 : undefined;
}

function isKey(bytes: Uint8Array, at: number, end: number, name: string): boolean {
  const from = textStart(bytes, at);
  if (from === undefined) return false;
  const length = end - from;
  // UTF-8 has one to three bytes for each of the name's characters.
  if (length < name.length || length > name.length * 3) return false;
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i);
    if (char > 0x7f) return decodeLooseText(bytes, from, end) === name;
    if (bytes[from + i] !== char) return false;
  }
  return length === name.length;
}
