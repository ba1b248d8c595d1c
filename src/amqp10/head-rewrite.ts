import { ByteWriter } from '../wire/byte-writer.js';
import { Descriptor, MessageHeader, type MapValue, type MessageView } from './codec/index.js';
import { Code } from './codec/format-codes.js';
import { ListWriter } from './codec/list-writer.js';
import { writeMap } from './codec/value-writer.js';

/** What becomes different in a message's head, the sections before its body. */
export interface HeadChange {
  /** Stand instead of those that it has. */
  readonly annotations: MapValue;
  /** The message expires no more. */
  readonly dropsTtl: boolean;
}

/** One for all: it is filled and read in one call. */
const writer = new ByteWriter();
const list = new ListWriter(writer);

/** The head again, byte for byte but for the change, and without the annotations of the hop that is over. */
export function rewriteHead(view: MessageView, { annotations, dropsTtl }: HeadChange): Uint8Array {
  const { bytes, start, headerEnd, annotationsStart, annotationsEnd, keptStart, bodyStart } = view;
  writer.rewind(0);
  if (headerEnd >= 0 && dropsTtl && view.ttlMs >= 0) writeHeader(view);
  else if (headerEnd >= 0) writer.raw(bytes, start, headerEnd);
  writer.u8(Code.described);
  writer.u8(Code.smallUlong);
  writer.u8(Descriptor.messageAnnotations);
  writeMap(writer, annotations);
  writer.raw(bytes, annotationsStart < 0 ? keptStart : annotationsEnd, bodyStart);
  return writer.bytes.slice(0, writer.length);
}

function writeHeader({ durable, priority }: MessageView): void {
  const header = new MessageHeader();
  if (durable >= 0) header.durable = durable === 1;
  if (priority >= 0) header.priority = priority;
  header.encode(list);
}
