/** A message's properties once more, with other headers; everything else stays as it is, byte for byte. */
import type { Arguments } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { readU16 } from '../wire/bytes.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { copyFields, writeTable } from './codec/field-table.js';
import { PropertyFlag } from './codec/generated/properties.js';
import type { PropertyView } from './codec/property-view.js';

const reader = new ByteReader();
/** One for all: it is filled and emptied in one call. */
const writer = new ByteWriter();

/**
 * Flags and list again, with `headers` instead of those of the same names.
 * @param expires whether it keeps its expiration
 */
export function rewriteHeaders(view: PropertyView, headers: Arguments, { expires }: { expires: boolean }): Uint8Array {
  const { bytes, start, end, headersStart, headersEnd, expirationAt } = view;
  const kept = expires ? 0xffff : ~PropertyFlag.expiration;
  const flags = (readU16(bytes, start) | PropertyFlag.headers) & kept;
  writer.u8(flags >> 8);
  writer.u8(flags & 0xff);
  const tableAt = headersStart >= 0 ? headersStart : headersBelong(view);
  writer.raw(bytes, start + 2, tableAt);
  writeHeaders(view, headers);
  const restAt = headersStart >= 0 ? headersEnd : tableAt;
  if (expires || expirationAt < 0) writer.raw(bytes, restAt, end);
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

/** A table of these, and of the message's own that they do not replace. */
function writeHeaders(view: PropertyView, headers: Arguments): void {
  const lengthAt = writer.length;
  writeTable(writer, headers);
  if (view.headersStart >= 0)
    copyFields(
      reader.set(view.bytes, view.headersStart, view.headersEnd),
      writer,
      (name) => !Object.hasOwn(headers, name),
    );
  writer.patchU32(lengthAt, writer.length - lengthAt - 4);
}
