import type { Binding } from '../../model/broker.js';
import { ExchangeType } from '../../model/wiring/objects.js';
import { requireExchange } from '../../security/declaring.js';
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
import { requireBinding } from './require-binding.js';

export function declare(channel: Channel, method: ExchangeDeclare): void {
  const { broker, vhost } = channel.host;
  if (!method.passive && !Object.hasOwn(ExchangeType, method.type)) {
    throw new ProtocolError(ReplyCode.commandInvalid, `unknown exchange type '${method.type}'`);
  }
  if (!method.passive) requireExchange(channel.host.permissions, method.exchange, method.arguments);
  const work = broker.wiring.declareExchange({
    vhost,
    name: method.exchange,
    type: method.type,
    passive: method.passive,
    durable: method.durable,
    autoDelete: method.autoDelete,
    internal: method.internal,
    arguments: method.arguments,
    connection: channel.host.id,
  });
  channel.await(work, () => channel.reply(new ExchangeDeclareOk(), method.noWait));
}

export function remove(channel: Channel, method: ExchangeDelete): void {
  const { broker, vhost, permissions } = channel.host;
  permissions.require('configure', 'exchange', method.exchange);
  const work = broker.wiring.deleteExchange(vhost, method.exchange, { ifUnused: method.ifUnused });
  channel.await(work, () => channel.reply(new ExchangeDeleteOk(), method.noWait));
}

export function bind(channel: Channel, method: ExchangeBind): void {
  const work = channel.host.broker.wiring.bind(permittedBinding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new ExchangeBindOk(), method.noWait));
}

export function unbind(channel: Channel, method: ExchangeUnbind): void {
  const work = channel.host.broker.wiring.unbind(permittedBinding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new ExchangeUnbindOk(), method.noWait));
}

function permittedBinding(channel: Channel, method: ExchangeBind | ExchangeUnbind): Binding {
  return requireBinding(channel.host, {
    vhost: channel.host.vhost,
    source: method.source,
    destination: method.destination,
    destinationKind: 'exchange',
    routingKey: method.routingKey,
    arguments: method.arguments,
  });
}
