/** Short strings (one length octet, UTF-8) and long strings (four length octets, any bytes), §4.2.5.3. */
import type { ByteReader } from '../../wire/byte-reader.js';
import type { ByteWriter } from '../../wire/byte-writer.js';
import { EncodeError } from '../../wire/decode-error.js';
import { truncateText } from '../../wire/utf8.js';

export const shortStringBytesMax = 255;

export function readShortString(reader: ByteReader): string {
  return reader.text(reader.u8());
}

/** A short string of message data, which clients fill with any bytes: what is not UTF-8 becomes U+FFFD. */
export function readLooseString(reader: ByteReader): string {
  return reader.looseText(reader.u8());
}

/** A long string that is text. */
export function readLongString(reader: ByteReader): string {
  return reader.text(reader.u32());
}

/** A long string as a copy of its bytes. */
export function readLongBytes(reader: ByteReader): Uint8Array {
  return reader.copy(reader.u32());
}

/** Throws EncodeError beyond 255 bytes; see `fitShortString`. */
export function writeShortString(writer: ByteWriter, text: string): void {
  const at = writer.ensure(1 + text.length * 3);
  writer.length = at + 1;
  const written = writer.text(text);
  if (written > shortStringBytesMax) {
    writer.rewind(at);
    throw new EncodeError(`a short string holds at most ${shortStringBytesMax} bytes, not ${written}`);
  }
  writer.bytes[at] = written;
}

export function writeLongString(writer: ByteWriter, text: string): void {
  writer.u32(0);
  const at = writer.length;
  writer.patchU32(at - 4, writer.text(text));
}

export function writeLongBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.u32(bytes.length);
  writer.raw(bytes);
}

/** As much of the text as a short string holds: for reply texts and other explanations. */
export function fitShortString(text: string): string {
  return truncateText(text, shortStringBytesMax);
}
