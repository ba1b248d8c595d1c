/**
 * The messages of simulated clients on the wire: who published it, its number, and padding whose bytes are known, so that a
 * body that was mixed up with another is noticed.
 *
 *   body    0 u16 publisher   2 u32 number   6.. padding: the number's low byte
 *   header  property flags 0x1000 and the delivery mode, as in a content header; where there are large messages then publisher and number,
 *           as in the body, which comes later
 */
import type { EnqueueView, MessageParts } from '../../src/log/record.js';

const bodyHeaderBytes = 6;
const headerBytes = 3;

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
  isNamed: boolean = false,
): void {
  const meta = new Uint8Array(2 + exchange.length + routingKey.length);
  let at = 0;
  for (const text of [exchange, routingKey]) {
    meta[at++] = text.length;
    for (let i = 0; i < text.length; i++) meta[at++] = text.charCodeAt(i);
  }
  const header = new Uint8Array(isNamed ? headerBytes + bodyHeaderBytes : headerBytes);
  header.set([0x10, 0x00, persistent ? 2 : 1]);
  const body = new Uint8Array(bodyHeaderBytes + paddingBytes);
  const view = new DataView(body.buffer);
  view.setUint16(0, message.publisher);
  view.setUint32(2, message.number);
  if (isNamed) header.set(body.subarray(0, bodyHeaderBytes), headerBytes);
  body.fill(message.number & 0xff, bodyHeaderBytes);
  parts.persistent = persistent;
  parts.priority = 0;
  parts.format = 0;
  parts.expiresAt = 0;
  parts.setMeta(meta);
  parts.setHeader(header);
  parts.setBody(body);
}

/** Reads who published a large message, whose body has not come yet. */
export function nameOf({ bytes, headerStart, headerLength }: EnqueueView): WireMessage {
  if (headerLength !== headerBytes + bodyHeaderBytes) throw new Error('the header is damaged');
  const view = new DataView(bytes.buffer, bytes.byteOffset + headerStart + headerBytes);
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
  const isPlain = view.headerLength === headerBytes || view.headerLength === headerBytes + bodyHeaderBytes;
  if (!isPlain || bytes[view.headerStart] !== 0x10) throw new Error('the header is damaged');
  return { publisher, number };
}
