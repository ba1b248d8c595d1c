import { MessageParts } from './record.js';

/** The same parts over bytes of their own. */
export function ownParts(parts: MessageParts): MessageParts {
  const own = new MessageParts();
  own.setTo(parts);
  own.setMeta(parts.metaBytes.slice(parts.metaStart, parts.metaStart + parts.metaLength));
  own.setHeader(parts.headerBytes.slice(parts.headerStart, parts.headerStart + parts.headerLength));
  own.setBody(parts.bodyBytes.slice(parts.bodyStart, parts.bodyStart + parts.bodyLength));
  return own;
}
