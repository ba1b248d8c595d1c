import type { Arguments } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { readU16 } from '../wire/bytes.js';
import { copyFields, writeTable } from './codec/field-table.js';
import { PropertyFlag } from './codec/generated/properties.js';
import type { PropertyView } from './codec/property-view.js';

const reader = new ByteReader();
/** One for all: it is filled and emptied in one call. */
const writer = new ByteWriter();

/**
 * A message's property flags and list again, byte for byte but for its headers: those of `headers` replace or join what it has.
 * @param keepsExpiration false: the message expires no more
 * @param gone a header that it has no more
 */
export function rewriteHeaders(
  view: PropertyView,
  headers: Arguments,
  keepsExpiration: boolean,
  gone = '',
): Uint8Array {
  const { bytes, start, end, headersStart, headersEnd } = view;
  const expirationAt = keepsExpiration ? -1 : view.expirationAt;
  const dropped = keepsExpiration ? 0 : PropertyFlag.expiration;
  const flags = (readU16(bytes, start) | PropertyFlag.headers) & ~dropped;
  writer.u8(flags >> 8);
  writer.u8(flags & 0xff);
  const tableAt = headersStart >= 0 ? headersStart : headersBelong(view);
  writer.raw(bytes, start + 2, tableAt);
  writeHeaders(view, headers, gone);
  const restAt = headersStart >= 0 ? headersEnd : tableAt;
  if (expirationAt < 0) writer.raw(bytes, restAt, end);
  else {
    writer.raw(bytes, restAt, expirationAt);
    writer.raw(bytes, expirationAt + 1 + bytes[expirationAt]!, end);
  }
  const rewritten = writer.bytes.slice(0, writer.length);
  writer.rewind(0);
  return rewritten;
}

/** Where the headers would begin: behind content-type and content-encoding. */
function headersBelong({ bytes, start, flags }: PropertyView): number {
  let at = start + 2;
  if ((flags & PropertyFlag.contentType) !== 0) at += 1 + bytes[at]!;
  if ((flags & PropertyFlag.contentEncoding) !== 0) at += 1 + bytes[at]!;
  return at;
}

/** A table of these, and of the message's own that they do not replace, without the one that is gone. */
function writeHeaders(view: PropertyView, headers: Arguments, gone: string): void {
  const lengthAt = writer.length;
  writeTable(writer, headers);
  if (view.headersStart >= 0)
    copyFields(
      reader.set(view.bytes, view.headersStart, view.headersEnd),
      writer,
      (name) => name !== gone && !Object.hasOwn(headers, name),
    );
  writer.patchU32(lengthAt, writer.length - lengthAt - 4);
}
