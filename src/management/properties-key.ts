import { createHash } from 'node:crypto';
import { argumentsKey } from '../model/wiring/arguments.js';
import type { BindingView } from './describe.js';

/** Characters of a hash of arguments: it tells apart the bindings of one queue or exchange to one other with the same routing key. */
const hashLength = 12;

/**
 * What tells a binding from others of the same two ends, in paths and answers: the routing key, and a hash of its arguments if it
 * has any. Written as RabbitMQ does; whoever has it takes it as it is.
 */
export function propertiesKey({ routingKey, arguments: table }: Pick<BindingView, 'routingKey' | 'arguments'>): string {
  const key = argumentsKey(table);
  if (key === '') return routingKey === '' ? '~' : quoted(routingKey);
  const hash = createHash('sha256').update(key).digest('base64url').slice(0, hashLength);
  return `${quoted(routingKey)}~${hash}`;
}

/** As in a form's URL. */
function quoted(text: string): string {
  // Half a surrogate pair has no bytes of its own.
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'))
    .replaceAll(/[!~*'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}
