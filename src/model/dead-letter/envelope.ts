/**
 * Where a message in an outbox is to go: its meta, which stands before a delivery's exchange and routing key what is needed to route it.
 *
 *   kind u8   vhost shortstr   exchange shortstr   routing key shortstr
 *   kind u8   vhost shortstr   exchange that had it wait, shortstr   exchange shortstr   routing key shortstr
 */
import type { EnqueueView } from '../../log/record.js';

export const EnvelopeKind = {
  /** It died in its queue, and goes to a dead-letter exchange. */
  dead: 0,
  /** It has waited for its time, and goes on from the exchange that had it wait. */
  delayed: 1,
} as const;
export type EnvelopeKind = (typeof EnvelopeKind)[keyof typeof EnvelopeKind];

export interface Envelope {
  readonly kind: EnvelopeKind;
  readonly vhost: string;
  readonly exchange: string;
  readonly routingKey: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Of a dead letter. @param routingKey undefined: the message's own */
export function envelope(message: EnqueueView, vhost: string, exchange: string, routingKey?: string): Uint8Array {
  const key = routingKey === undefined ? ownRoutingKey(message) : shortString(routingKey);
  return joined([Uint8Array.of(EnvelopeKind.dead), shortString(vhost), shortString(exchange), key]);
}

/** Of a message that waits; its own exchange and routing key are to follow. */
export function delayedEnvelope(vhost: string, exchange: string): Uint8Array {
  return joined([Uint8Array.of(EnvelopeKind.delayed), shortString(vhost), shortString(exchange)]);
}

/** How the message in the outbox came there. */
export function kindOf({ bytes, metaStart }: EnqueueView): EnvelopeKind {
  return bytes[metaStart] as EnvelopeKind;
}

/** Where the message in the outbox is to go. */
export function readEnvelope(message: EnqueueView): Envelope {
  const { bytes, metaStart } = message;
  const exchangeAt = after(bytes, metaStart + 1);
  const keyAt = after(bytes, innerMeta(message));
  return {
    kind: kindOf(message),
    vhost: text(bytes, metaStart + 1),
    exchange: text(bytes, exchangeAt),
    routingKey: text(bytes, keyAt),
  };
}

/** Where a delivery's meta begins in it. */
export function innerMeta({ bytes, metaStart }: EnqueueView): number {
  const exchangeAt = after(bytes, metaStart + 1);
  return bytes[metaStart] === EnvelopeKind.delayed ? after(bytes, exchangeAt) : exchangeAt;
}

function ownRoutingKey({ bytes, metaStart, metaLength }: EnqueueView): Uint8Array {
  return bytes.slice(after(bytes, metaStart), metaStart + metaLength);
}

function shortString(value: string): Uint8Array {
  const utf8 = encoder.encode(value);
  return joined([Uint8Array.of(utf8.length), utf8]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Where the short string at `at` ends. */
function after(bytes: Uint8Array, at: number): number {
  return at + 1 + bytes[at]!;
}

function text(bytes: Uint8Array, at: number): string {
  return decoder.decode(bytes.subarray(at + 1, after(bytes, at)));
}
