import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts } from '../log/record.js';
import { rewriteHeaders } from './header-rewrite.js';
import { PropertyView } from './codec/property-view.js';

const header = 'x-delivery-count';
const properties = new PropertyView();
const parts = new MessageParts();
const view = new EnqueueView();

/** The message with a header that says how often it came back, as RabbitMQ's quorum queues have it. Valid until the next call. */
export function withReturnCount(message: EnqueueView, returns: number): EnqueueView {
  const { bytes, headerStart, headerLength } = message;
  properties.set(bytes, headerStart, headerStart + headerLength);
  parts.setFrom(message);
  parts.origin = undefined;
  parts.setHeader(rewriteHeaders(properties, { [header]: BigInt(returns) }, true));
  const copy = new Uint8Array(enqueueLength(parts, 0));
  const copyView = new DataView(copy.buffer);
  encodeEnqueue(copy, copyView, 0, parts, [], false, 0, 0);
  return view.set(copy, copyView, 0);
}
