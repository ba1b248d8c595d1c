/** Finds one value in a section that is a map (§3.2.5), and decodes no other. */
import { ByteReader } from '../../wire/byte-reader.js';
import { readU32 } from '../../wire/bytes.js';
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
    readDescriptor(reader.set(bytes, start + 1, end));
    const { at } = reader;
    const isSmall = bytes[at] === Code.map8;
    for (let key = at + (isSmall ? 3 : 9); key < end; ) {
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

/** Where the values are in such a section, by key; of two with the same key the first. */
export function indexMap(bytes: Uint8Array, start: number, end: number): Map<string, number> {
  const index = new Map<string, number>();
  try {
    readDescriptor(reader.set(bytes, start + 1, end));
    const { at } = reader;
    const isSmall = bytes[at] === Code.map8;
    for (let key = at + (isSmall ? 3 : 9); key < end; ) {
      const value = skipValue(bytes, key, end);
      const name = keyAt(bytes, key, value);
      if (name !== undefined && !index.has(name)) index.set(name, value);
      key = skipValue(bytes, value, end);
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  return index;
}

/** The value there; undefined if it makes no sense. */
export function valueIn(bytes: Uint8Array, at: number, end: number): Value | undefined {
  try {
    return readValue(reader.set(bytes, at, end));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function keyAt(bytes: Uint8Array, at: number, end: number): string | undefined {
  const code = bytes[at];
  const isShort = code === Code.string8 || code === Code.symbol8;
  if (!isShort && code !== Code.string32 && code !== Code.symbol32) return undefined;
  return decodeLooseText(bytes, at + (isShort ? 2 : 5), end);
}

function isKey(bytes: Uint8Array, at: number, end: number, name: string): boolean {
  const code = bytes[at];
  const isShort = code === Code.string8 || code === Code.symbol8;
  if (!isShort && code !== Code.string32 && code !== Code.symbol32) return false;
  const from = at + (isShort ? 2 : 5);
  const length = isShort ? bytes[at + 1]! : readU32(bytes, at + 1);
  // UTF-8 has one to three bytes for each of the name's characters.
  if (length < name.length || length > name.length * 3) return false;
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i);
    if (char > 0x7f) return decodeLooseText(bytes, from, end) === name;
    if (bytes[from + i] !== char) return false;
  }
  return length === name.length;
}
