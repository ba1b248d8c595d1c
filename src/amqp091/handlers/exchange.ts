import { Refusal, RefusedError } from '../../base/errors.js';
import type { ExchangeDeclaration } from '../../model/broker.js';
import type { Channel } from '../channel.js';
import {
  type ExchangeBind,
  ExchangeBindOk,
  type ExchangeDeclare,
  ExchangeDeclareOk,
  type ExchangeDelete,
  ExchangeDeleteOk,
  type ExchangeUnbind,
  ExchangeUnbindOk,
  ProtocolError,
  ReplyCode,
} from '../codec/index.js';
import { declareReserved, isReserved, refuseDefaultExchange } from './names.js';

const types: ReadonlySet<string> = new Set(['direct', 'fanout', 'topic', 'headers']);

export function declare(channel: Channel, method: ExchangeDeclare): void {
  const { wiring } = channel.host.broker;
  refuseDefaultExchange(method.exchange);
  const declaration: ExchangeDeclaration = {
    vhost: channel.host.vhost,
    name: method.exchange,
    type: method.type,
    passive: method.passive,
    durable: method.durable,
    autoDelete: method.autoDelete,
    internal: method.internal,
    arguments: method.arguments,
  };
  if (!method.passive && !types.has(method.type)) {
    throw new ProtocolError(ReplyCode.commandInvalid, `unknown exchange type '${method.type}'`);
  }
  const work =
    method.passive || !isReserved(method.exchange)
      ? wiring.declareExchange(declaration)
      : declareReserved(
          'exchange',
          method.exchange,
          () => wiring.declareExchange({ ...declaration, passive: true }),
          () => wiring.declareExchange(declaration),
        );
  channel.await(work, () => channel.reply(new ExchangeDeclareOk(), method.noWait));
}

export function remove(channel: Channel, method: ExchangeDelete): void {
  const { broker, vhost } = channel.host;
  refuseDefaultExchange(method.exchange);
  if (isReserved(method.exchange)) {
    const text = `deletion of system exchange '${method.exchange}' in vhost '${vhost}' not allowed`;
    throw new RefusedError(Refusal.accessRefused, text);
  }
  const work = broker.wiring.deleteExchange(vhost, method.exchange, { ifUnused: method.ifUnused });
  channel.await(work, () => channel.reply(new ExchangeDeleteOk(), method.noWait));
}

export function bind(channel: Channel, method: ExchangeBind): void {
  const work = channel.host.broker.wiring.bind(binding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new ExchangeBindOk(), method.noWait));
}

export function unbind(channel: Channel, method: ExchangeUnbind): void {
  const work = channel.host.broker.wiring.unbind(binding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new ExchangeUnbindOk(), method.noWait));
}

function binding(channel: Channel, method: ExchangeBind | ExchangeUnbind) {
  refuseDefaultExchange(method.source);
  refuseDefaultExchange(method.destination);
  return {
    vhost: channel.host.vhost,
    source: method.source,
    destination: method.destination,
    destinationKind: 'exchange' as const,
    routingKey: method.routingKey,
    arguments: method.arguments,
  };
}
