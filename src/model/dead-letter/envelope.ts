/**
 * Where a message in an outbox is to go: its meta, which stands before a delivery's exchange and routing key as the vhost.
 *
 *   vhost shortstr   exchange shortstr   routing key shortstr
 */
import type { EnqueueView } from '../../log/record.js';

export interface Envelope {
  readonly vhost: string;
  readonly exchange: string;
  readonly routingKey: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** @param routingKey undefined: the message's own */
export function envelope(message: EnqueueView, vhost: string, exchange: string, routingKey?: string): Uint8Array {
  const key = routingKey === undefined ? ownRoutingKey(message) : shortString(routingKey);
  const parts = [shortString(vhost), shortString(exchange), key];
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Where the message in the outbox is to go. */
export function readEnvelope({ bytes, metaStart }: EnqueueView): Envelope {
  const exchangeAt = after(bytes, metaStart);
  const keyAt = after(bytes, exchangeAt);
  return { vhost: text(bytes, metaStart), exchange: text(bytes, exchangeAt), routingKey: text(bytes, keyAt) };
}

/** Where a delivery's meta begins in it. */
export function innerMeta({ bytes, metaStart }: EnqueueView): number {
  return after(bytes, metaStart);
}

function ownRoutingKey({ bytes, metaStart, metaLength }: EnqueueView): Uint8Array {
  return bytes.slice(after(bytes, metaStart), metaStart + metaLength);
}

function shortString(value: string): Uint8Array {
  const utf8 = encoder.encode(value);
  const bytes = new Uint8Array(1 + utf8.length);
  bytes[0] = utf8.length;
  bytes.set(utf8, 1);
  return bytes;
}

/** Where the short string at `at` ends. */
function after(bytes: Uint8Array, at: number): number {
  return at + 1 + bytes[at]!;
}

function text(bytes: Uint8Array, at: number): string {
  return decoder.decode(bytes.subarray(at + 1, after(bytes, at)));
}
