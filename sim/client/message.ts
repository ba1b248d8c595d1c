/**
 * The messages of simulated clients on the wire: who published it, its number, and padding whose bytes are known, so that a
 * body that was mixed up with another is noticed.
 *
 *   body    0 u16 publisher   2 u32 number   6.. padding: the number's low byte
 *   header  property flags 0x1000 and the delivery mode, as in a content header; the message's key, if it has one; and where there are
 *           large messages publisher and number, as in the body, which comes later
 */
import type { EnqueueView, MessageParts } from '../../src/log/record.js';
import { type HeaderCodec, opaqueHeaders } from '../../src/model/dead-letter/death.js';
import type { Labels } from '../queue-kind.js';

const bodyHeaderBytes = 6;
const headerBytes = 3;

/** The header by which queues tell messages apart. */
export const keyHeader = 'key';

/** All that the model is told of the headers. */
export const simHeaders: HeaderCodec = {
  ...opaqueHeaders,
  table: ({ bytes, headerStart, headerLength }) =>
    hasKey(headerLength) ? { [keyHeader]: bytes[headerStart + headerBytes]! } : {},
  annotated: (message, notes) => {
    const { bytes, headerStart } = message;
    return Uint8Array.of(...bytes.subarray(headerStart, headerStart + headerBytes), ...notes.subarray(-noteLength));
  },
};

/** Of a note that a client makes of a message; its queue's messages have neither keys nor names in their headers. */
const noteLength = 4;

export function noteBytes(note: number): Uint8Array {
  const bytes = new Uint8Array(noteLength);
  new DataView(bytes.buffer).setUint32(0, note);
  return bytes;
}

/** 0 = nobody has noted anything of it. */
export function noteOf({ view, headerStart, headerLength }: EnqueueView): number {
  return headerLength === headerBytes + noteLength ? view.getUint32(headerStart + headerBytes) : 0;
}

export interface WireMessage {
  publisher: number;
  number: number;
}

/** Fills `parts` with a message; all its bytes are fresh. */
export function encodeMessage(
  parts: MessageParts,
  message: WireMessage,
  exchange: string,
  routingKey: string,
  persistent: boolean,
  paddingBytes: number,
  labels: Labels,
  isNamed: boolean = false,
): void {
  const meta = new Uint8Array(2 + exchange.length + routingKey.length);
  let at = 0;
  for (const text of [exchange, routingKey]) {
    meta[at++] = text.length;
    for (let i = 0; i < text.length; i++) meta[at++] = text.charCodeAt(i);
  }
  const body = new Uint8Array(bodyHeaderBytes + paddingBytes);
  const view = new DataView(body.buffer);
  view.setUint16(0, message.publisher);
  view.setUint32(2, message.number);
  const key = labels.key === 0 ? [] : [labels.key];
  const name = isNamed ? body.subarray(0, bodyHeaderBytes) : [];
  const header = Uint8Array.of(0x10, 0x00, persistent ? 2 : 1, ...key, ...name);
  body.fill(message.number & 0xff, bodyHeaderBytes);
  parts.persistent = persistent;
  parts.priority = labels.priority;
  parts.format = 0;
  parts.expiresAt = 0;
  parts.setMeta(meta);
  parts.setHeader(header);
  parts.setBody(body);
}

/** Reads who published a large message, whose body has not come yet. */
export function nameOf({ bytes, headerStart, headerLength }: EnqueueView): WireMessage {
  if (!isSound(headerLength) || headerLength < bodyHeaderBytes) throw new Error('the header is damaged');
  const view = new DataView(bytes.buffer, bytes.byteOffset + headerStart + headerLength - bodyHeaderBytes);
  return { publisher: view.getUint16(0), number: view.getUint32(2) };
}

/** Reads a message back. Throws if any of its bytes is not as it was sent. */
export function decodeMessage(view: EnqueueView): WireMessage {
  if (view.bodyLength < bodyHeaderBytes) throw new Error(`a body of ${view.bodyLength} bytes`);
  const bytes = view.bytes;
  const start = view.bodyStart;
  const publisher = bytes[start]! * 256 + bytes[start + 1]!;
  const number = new DataView(bytes.buffer, bytes.byteOffset + start, bodyHeaderBytes).getUint32(2);
  for (let i = bodyHeaderBytes; i < view.bodyLength; i++) {
    if (bytes[start + i] !== (number & 0xff)) throw new Error(`body of ${publisher}#${number} is damaged at ${i}`);
  }
  const isKnown = isSound(view.headerLength) || view.headerLength === headerBytes + noteLength;
  if (!isKnown || bytes[view.headerStart] !== 0x10) throw new Error('the header is damaged');
  return { publisher, number };
}

function hasKey(headerLength: number): boolean {
  return headerLength === headerBytes + 1 || headerLength === headerBytes + 1 + bodyHeaderBytes;
}

function isSound(headerLength: number): boolean {
  return hasKey(headerLength) || headerLength === headerBytes || headerLength === headerBytes + bodyHeaderBytes;
}
