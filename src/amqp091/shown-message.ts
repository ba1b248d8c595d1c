/** Messages as clients are to see them, where that is not as they are kept. */
import { asAmqp091 } from '../conversion/to-amqp091.js';
import { MessageFormat } from '../log/message-format.js';
import { EnqueueView, encodeEnqueue, enqueueLength, MessageParts, RecordFlag } from '../log/record.js';
import { hiddenHeaders } from './carbon-copies.js';
import { PropertyView } from './codec/property-view.js';
import { rewriteHeaders } from './header-rewrite.js';

const returnCount = 'x-delivery-count';
const properties = new PropertyView();
const parts = new MessageParts();
const view = new EnqueueView();

/**
 * The message in the encoding of AMQP 0-9-1, without what is hidden, and, if it came back, with a header that says how often, as RabbitMQ's quorum queues have it; mostly
 * that is the message itself. Valid until the next call.
 */
export function shownMessage(message: EnqueueView, returns: number): EnqueueView {
  const isOurs = message.format !== MessageFormat.amqp10;
  if (returns === 0 && isOurs && (message.flags & RecordFlag.hidden) === 0) return message;
  const ours = isOurs ? message : asAmqp091(message);
  return returns === 0 && (ours.flags & RecordFlag.hidden) === 0 ? ours : rewritten(ours, returns);
}

function rewritten(message: EnqueueView, returns: number): EnqueueView {
  const { bytes, headerStart, headerLength } = message;
  properties.set(bytes, headerStart, headerStart + headerLength);
  parts.setFrom(message);
  const counted = returns === 0 ? {} : { headers: { [returnCount]: BigInt(returns) } };
  const hidden = parts.hidden ? { without: hiddenHeaders } : {};
  parts.origin = undefined;
  parts.hidden = false;
  parts.setHeader(rewriteHeaders(properties, { ...counted, ...hidden }));
  const copy = new Uint8Array(enqueueLength(parts, 0));
  const copyView = new DataView(copy.buffer);
  encodeEnqueue(copy, copyView, 0, parts, [], false, 0, 0);
  return view.set(copy, copyView, 0);
}

/** The same for the parts of a message that goes back to who published it. */
export function shownParts(message: MessageParts): MessageParts {
  if (!message.hidden) return message;
  const { headerBytes, headerStart, headerLength } = message;
  properties.set(headerBytes, headerStart, headerStart + headerLength);
  const shown = Object.assign(parts, message);
  shown.hidden = false;
  shown.setHeader(rewriteHeaders(properties, { without: hiddenHeaders }));
  return shown;
}
