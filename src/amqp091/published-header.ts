/** A message's properties as they are passed on, where they are not passed on as they came. */
import { ByteReader } from '../wire/byte-reader.js';
import { ByteWriter } from '../wire/byte-writer.js';
import { copyFields, type PropertyView, RoutingField } from './codec/index.js';
import { writeShortString } from './codec/strings.js';

const reader = new ByteReader();

/** Flags and list again, without the header BCC, and with `replyTo` if that is given instead of its own. */
export function publishedHeader(view: PropertyView, replyTo: string | undefined): Uint8Array {
  const { bytes, start, end, headersStart, headersEnd, replyToAt } = view;
  const writer = new ByteWriter();
  let at = start;
  if ((view.routingFields & RoutingField.bcc) !== 0) {
    writer.raw(bytes, at, headersStart);
    writer.u32(0);
    const tableAt = writer.length;
    copyFields(reader.set(bytes, headersStart, headersEnd), writer, (name) => name !== 'BCC');
    writer.patchU32(tableAt - 4, writer.length - tableAt);
    at = headersEnd;
  }
  if (replyTo !== undefined) {
    writer.raw(bytes, at, replyToAt);
    writeShortString(writer, replyTo);
    at = replyToAt + 1 + bytes[replyToAt]!;
  }
  writer.raw(bytes, at, end);
  return writer.take();
}
