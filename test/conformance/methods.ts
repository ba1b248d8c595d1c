/** Methods of a client, with what is usual for all that a case does not say. */
import {
  BasicConsume,
  ExchangeBind,
  ExchangeDeclare,
  QueueDeclare,
  QueueDelete,
} from '../../src/amqp091/codec/index.js';
import type { Arguments } from '../../src/model/broker.js';

export interface QueueOptions {
  passive?: boolean;
  durable?: boolean;
  exclusive?: boolean;
  autoDelete?: boolean;
  noWait?: boolean;
  args?: Arguments;
}

/** queue.declare; durable unless said. */
export function declareQueue(queue: string, options: QueueOptions = {}): QueueDeclare {
  const { passive = false, durable = true, exclusive = false, autoDelete = false, noWait = false, args = {} } = options;
  return new QueueDeclare(queue, passive, durable, exclusive, autoDelete, noWait, args);
}

export interface ExchangeOptions {
  type?: string;
  passive?: boolean;
  durable?: boolean;
  autoDelete?: boolean;
  internal?: boolean;
  noWait?: boolean;
  args?: Arguments;
}

/** exchange.declare; direct and durable unless said. */
export function declareExchange(exchange: string, options: ExchangeOptions = {}): ExchangeDeclare {
  const { type = 'direct', passive = false, durable = true, noWait = false, args = {} } = options;
  const { autoDelete = false, internal = false } = options;
  return new ExchangeDeclare(exchange, type, passive, durable, autoDelete, internal, noWait, args);
}

export interface ConsumeOptions {
  tag?: string;
  noLocal?: boolean;
  noAck?: boolean;
  exclusive?: boolean;
  noWait?: boolean;
  args?: Arguments;
}

export function consume(queue: string, options: ConsumeOptions = {}): BasicConsume {
  const { tag = '', noLocal = false, noAck = false, exclusive = false, noWait = false, args = {} } = options;
  return new BasicConsume(queue, tag, noLocal, noAck, exclusive, noWait, args);
}

export function bindExchange(destination: string, source: string, key = '', args: Arguments = {}): ExchangeBind {
  return new ExchangeBind(destination, source, key, false, args);
}

export function deleteQueue(queue: string, options: { ifUnused?: boolean; ifEmpty?: boolean } = {}): QueueDelete {
  return new QueueDelete(queue, options.ifUnused ?? false, options.ifEmpty ?? false, false);
}
