/**
 * The headers CC and BCC (RabbitMQ's sender-selected distribution): lists of routing keys with which a message is published as well. Each
 * queue gets it once. BCC is taken out before it is routed.
 */
import { ByteReader } from '../wire/byte-reader.js';
import { decodeLooseText } from '../wire/utf8.js';
import { findField, MethodId, ProtocolError, type PropertyView, ReplyCode, RoutingField } from './codec/index.js';

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
  // What is no text is passed over, as RabbitMQ does.
  for (const key of value) {
    if (typeof key === 'string') keys.push(key);
    else if (key instanceof Uint8Array) keys.push(decodeLooseText(key, 0, key.length));
  }
}

function refused(what: string): ProtocolError {
  return new ProtocolError(ReplyCode.preconditionFailed, `invalid message: ${what}`, MethodId.basicPublish);
}
