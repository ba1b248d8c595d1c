import type { Arguments } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { readU16 } from '../wire/bytes.js';
import { copyFields, writeTable } from './codec/field-table.js';
import { PropertyFlag } from './codec/generated/properties.js';
import type { PropertyView } from './codec/property-view.js';
import { writeShortString } from './codec/strings.js';

/** What becomes different. */
export interface HeaderChange {
  /** Headers that replace those of their names, or join. */
  readonly headers?: Arguments;
  /** Names of headers that go. */
  readonly without?: readonly string[];
  /** The message expires no more. */
  readonly dropsExpiration?: boolean;
  /** Stands instead of the message's own, of which there must be one. */
  readonly replyTo?: string | undefined;
}

const reader = new ByteReader();
/** One for all: it is filled and read in one call. */
const writer = new ByteWriter();

/** A message's property flags and list again, byte for byte but for the change. */
export function rewriteHeaders(view: PropertyView, change: HeaderChange): Uint8Array {
  const { bytes, start, end, headersStart, headersEnd, replyToAt } = view;
  const expirationAt = change.dropsExpiration ? view.expirationAt : -1;
  const flags = readU16(bytes, start);
  writer.rewind(0);
  writer.u16((change.headers === undefined ? flags : flags | PropertyFlag.headers) & ~dropped(expirationAt));
  let at = start + 2;
  if (change.headers !== undefined || (change.without !== undefined && headersStart >= 0)) {
    const tableAt = headersStart >= 0 ? headersStart : headersBelong(view);
    writer.raw(bytes, at, tableAt);
    writeHeaders(view, change);
    at = headersStart >= 0 ? headersEnd : tableAt;
  }
  if (change.replyTo !== undefined) {
    writer.raw(bytes, at, replyToAt);
    writeShortString(writer, change.replyTo);
    at = replyToAt + 1 + bytes[replyToAt]!;
  }
  if (expirationAt >= 0) {
    writer.raw(bytes, at, expirationAt);
    at = expirationAt + 1 + bytes[expirationAt]!;
  }
  writer.raw(bytes, at, end);
  return writer.bytes.slice(0, writer.length);
}

function dropped(expirationAt: number): number {
  return expirationAt < 0 ? 0 : PropertyFlag.expiration;
}

/** Where the headers would begin: behind content-type and content-encoding. */
function headersBelong({ bytes, start, flags }: PropertyView): number {
  let at = start + 2;
  if ((flags & PropertyFlag.contentType) !== 0) at += 1 + bytes[at]!;
  if ((flags & PropertyFlag.contentEncoding) !== 0) at += 1 + bytes[at]!;
  return at;
}

/** A table of the new ones, and of the message's own that stay. */
function writeHeaders(view: PropertyView, { headers = {}, without = [] }: HeaderChange): void {
  const lengthAt = writer.length;
  writeTable(writer, headers);
  if (view.headersStart >= 0)
    copyFields(
      reader.set(view.bytes, view.headersStart, view.headersEnd),
      writer,
      (name) => !Object.hasOwn(headers, name) && !without.includes(name),
    );
  writer.patchU32(lengthAt, writer.length - lengthAt - 4);
}
