/**
 * The headers CC and BCC (RabbitMQ's sender-selected distribution): lists of routing keys with which a message is published as well. Each
 * queue gets it once. BCC stays with the message, hidden (`MessageParts.hidden`), for its dead letter goes where those keys lead, too;
 * nobody else sees it: no exchange, and no consumer.
 */
import type { Arguments, ArgumentValue } from '../model/broker.js';
import { ByteReader } from '../wire/byte-reader.js';
import { decodeLooseText } from '../wire/utf8.js';
import { findField, MethodId, ProtocolError, type PropertyView, ReplyCode, RoutingField } from './codec/index.js';

/** Headers that clients are not shown. */
export const hiddenHeaders: readonly string[] = ['BCC'];
/** Both. */
export const carbonHeaders: readonly string[] = ['CC', 'BCC'];

/** Routing is done at once, key by key. */
const keysMax = 1024;
const reader = new ByteReader();

/** The message's keys besides its own. Throws ProtocolError 406 if a header is no list, or if there are too many. */
export function carbonKeys(properties: PropertyView): string[] {
  const keys: string[] = [];
  if ((properties.routingFields & RoutingField.cc) !== 0) addKeys(properties, 'CC', keys);
  if ((properties.routingFields & RoutingField.bcc) !== 0) addKeys(properties, 'BCC', keys);
  if (keys.length > keysMax)
    throw refused(`${keys.length} routing keys in the headers CC and BCC, there may be ${keysMax}`);
  return keys;
}

function addKeys(properties: PropertyView, header: string, keys: string[]): void {
  const field = findField(reader.set(properties.bytes, properties.headersStart, properties.headersEnd), header);
  if (field === undefined) return;
  const { type, value } = field;
  if (!Array.isArray(value)) throw refused(`{unacceptable_type_in_header,"${header}",${type}}`);
  keys.push(...keysIn(value));
}

/** What is no text is passed over, as RabbitMQ does. */
function keysIn(list: readonly ArgumentValue[]): string[] {
  const keys: string[] = [];
  for (const key of list) {
    if (typeof key === 'string') keys.push(key);
    else if (key instanceof Uint8Array) keys.push(decodeLooseText(key, 0, key.length));
  }
  return keys;
}

/**
 * The keys of a message that was taken: there may be more of them, or something else in their place, if a program took it that knew
 * nothing of these headers. That makes them none.
 */
export function keptKeys(properties: PropertyView): string[] {
  try {
    return carbonKeys(properties);
  } catch (error) {
    if (error instanceof ProtocolError) return [];
    throw error;
  }
}

/** The keys in CC, of headers that were decoded. */
export function shownKeys(headers: Arguments): string[] {
  const list = Object.hasOwn(headers, 'CC') ? headers['CC'] : undefined;
  return Array.isArray(list) ? keysIn(list) : [];
}

/** The message's headers as others see them. */
export function shownHeaders(properties: PropertyView): Arguments {
  const headers = properties.headers();
  if ((properties.routingFields & RoutingField.bcc) === 0) return headers;
  const { BCC: _hidden, ...shown } = headers;
  return shown;
}

function refused(what: string): ProtocolError {
  return new ProtocolError(ReplyCode.preconditionFailed, `invalid message: ${what}`, MethodId.basicPublish);
}
