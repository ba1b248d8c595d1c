import { MessageParts } from './record.js';

/** The same parts over bytes of their own. */
export function ownParts(parts: MessageParts): MessageParts {
  const own = Object.assign(new MessageParts(), parts);
  own.metaBytes = parts.metaBytes.slice(parts.metaStart, parts.metaStart + parts.metaLength);
  own.headerBytes = parts.headerBytes.slice(parts.headerStart, parts.headerStart + parts.headerLength);
  own.bodyBytes = parts.bodyBytes.slice(parts.bodyStart, parts.bodyStart + parts.bodyLength);
  own.metaStart = 0;
  own.headerStart = 0;
  own.bodyStart = 0;
  return own;
}
