/** What lies between publishers and queues: the default exchange, or one of a type, with as many bindings and keys as are wanted. */
import { ExchangeDeclare, ExchangeDelete, QueueBind, QueueDeclare } from '../../amqp091/codec/index.js';
import type { Arguments } from '../../model/broker.js';
import { channelNumber, type LoadConnection } from './connection.js';

export interface RoutingOptions {
  /** '' = the default exchange. */
  exchange: string;
  bindings: number;
  /** Different routing keys, at most as many as there are bindings; each leads to one queue. */
  keys: number;
  /** The header `x-delay` of every message, in milliseconds; 0: none. */
  delayMs: number;
}

/** Binds are sent ahead of their answers, which are not asked for; then one is. */
const bindsAhead = 1000;

export interface Routing {
  readonly exchange: string;
  /** Routing keys for the messages of that queue. */
  keysOf(queue: number): readonly string[];
  close(): Promise<void>;
}

/** Declares and binds what is wanted. */
export async function setUpRouting(
  control: LoadConnection,
  queues: readonly string[],
  durable: boolean,
  { exchange: type, bindings, keys }: RoutingOptions,
): Promise<Routing> {
  if (type === '') return { exchange: '', keysOf: (queue) => [queues[queue]!], close: () => Promise.resolve() };
  const name = `${queues[0]}-exchange`;
  const args: Arguments = type === 'x-delayed-message' ? { 'x-delayed-type': 'direct' } : {};
  await control.ask(new ExchangeDeclare(name, type, false, durable, false, false, false, args));
  for (let i = 0; i < bindings; i++) {
    const queue = queues[i % queues.length]!;
    control.frames.method(channelNumber, new QueueBind(queue, name, bindingKey(type, i), true, {}));
    if (i % bindsAhead === bindsAhead - 1 || i === bindings - 1) await control.ask(passive(queue));
  }
  const ofQueue = (queue: number): string[] => {
    const own: string[] = [];
    for (let i = queue; i < keys; i += queues.length) own.push(routingKey(i));
    return own.length > 0 ? own : [routingKey(queue)];
  };
  return {
    exchange: name,
    keysOf: ofQueue,
    close: async () => void (await control.ask(new ExchangeDelete(name, false, false))),
  };
}

function passive(queue: string): QueueDeclare {
  return new QueueDeclare(queue, true, false, false, false, false, {});
}

function routingKey(index: number): string {
  return `key${index}.part${index % 97}.end`;
}

/** What the key of the same number matches, and no other key. */
function bindingKey(type: string, index: number): string {
  if (type === 'x-consistent-hash') return '1';
  if (type !== 'topic') return routingKey(index);
  const patterns = [`key${index}.*.end`, `key${index}.#`, `key${index}.*.*`, routingKey(index)];
  return patterns[index % patterns.length]!;
}
