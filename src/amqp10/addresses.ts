/**
 * Addresses of nodes, as RabbitMQ and Qpid have them.
 *
 *   /queues/Q                  a queue; names are percent-encoded                              RabbitMQ 4
 *   /exchanges/E/K             an exchange, and a routing key
 *   /exchanges/E               an exchange; the message's subject is the routing key
 *   /queue/Q  /amq/queue/Q     a queue                                                         RabbitMQ 3
 *   /exchange/E/K  /topic/K    an exchange (amq.topic), and a routing key
 *   N                          a queue if there is one of that name, else an exchange          Qpid
 *   N/S                        the same with a subject
 */
import { Condition } from './codec/index.js';
import { LinkError } from './errors.js';

export type Address =
  | { readonly kind: 'queue'; readonly queue: string }
  | { readonly kind: 'exchange'; readonly exchange: string; readonly routingKey: string | undefined }
  /** To be looked up. */
  | { readonly kind: 'name'; readonly name: string; readonly subject: string | undefined };

const nameBytesMax = 255;
const topicExchange = 'amq.topic';

/** Throws LinkError invalid-field if it is none. */
export function parseAddress(address: string): Address {
  if (!address.startsWith('/')) return plainName(address);
  const [, kind = '', ...rest] = address.split('/');
  if (kind === 'queues' && rest.length === 1) return { kind: 'queue', queue: decoded(rest[0]!, address) };
  if (kind === 'exchanges' && (rest.length === 1 || rest.length === 2)) {
    const [exchange, key] = rest.map((part) => decoded(part, address));
    return { kind: 'exchange', exchange: exchange!, routingKey: key };
  }
  const tail = rest.join('/');
  if (kind === 'queue' && tail !== '') return { kind: 'queue', queue: named(tail, address) };
  if (tail.startsWith('queue/') && kind === 'amq' && tail.length > 'queue/'.length)
    return { kind: 'queue', queue: named(rest.slice(1).join('/'), address) };
  if (kind === 'topic' && tail !== '')
    return { kind: 'exchange', exchange: topicExchange, routingKey: named(tail, address) };
  if (kind === 'exchange' && rest[0] !== undefined && rest[0] !== '') {
    const key = rest.length > 1 ? named(rest.slice(1).join('/'), address) : undefined;
    return { kind: 'exchange', exchange: named(rest[0], address), routingKey: key };
  }
  throw invalid(address, '/queues/QUEUE, /exchanges/EXCHANGE and /exchanges/EXCHANGE/KEY are known');
}

function plainName(address: string): Address {
  if (address === '') throw invalid(address, 'it is empty');
  const at = address.indexOf('/');
  if (at < 0) return { kind: 'name', name: named(address, address), subject: undefined };
  return { kind: 'name', name: named(address.slice(0, at), address), subject: named(address.slice(at + 1), address) };
}

function decoded(part: string, address: string): string {
  let text: string;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw invalid(address, 'it is not percent-encoded as it must be');
  }
  if (text === '') throw invalid(address, 'a name in it is empty');
  return named(text, address);
}

/** Names of AMQP 0-9-1 have 255 bytes, and there may be clients of that protocol. */
function named(text: string, address: string): string {
  if (Buffer.byteLength(text) > nameBytesMax)
    throw invalid(address, `a name in it has more than ${nameBytesMax} bytes`);
  return text;
}

function invalid(address: string, why: string): LinkError {
  return new LinkError(Condition.invalidField, `cannot use the address '${address}': ${why}`);
}
