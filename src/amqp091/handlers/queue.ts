import { Refusal, RefusedError } from '../../base/errors.js';
import type { Binding } from '../../model/broker.js';
import { replyQueue } from '../../model/replies.js';
import { requireQueue } from '../../security/declaring.js';
import type { Channel } from '../channel.js';
import {
  type QueueBind,
  QueueBindOk,
  type QueueDeclare,
  QueueDeclareOk,
  type QueueDelete,
  QueueDeleteOk,
  type QueuePurge,
  QueuePurgeOk,
  type QueueUnbind,
  QueueUnbindOk,
} from '../codec/index.js';
import { queueName } from './queue-name.js';
import { requireBinding } from './require-binding.js';

/** Stands for all names that the broker makes, where permissions are asked. */
const generatedName = 'amq.gen-0000000000000000000000';

export function declare(channel: Channel, method: QueueDeclare): void {
  const { id, vhost, broker } = channel.host;
  if (method.passive && method.queue === '') {
    throw new RefusedError(Refusal.notFound, `no queue '' in vhost '${vhost}'`);
  }
  if (method.queue.startsWith(replyQueue)) return declareReplyQueue(channel, method);
  const permittedName = method.queue === '' ? generatedName : method.queue;
  if (!method.passive) requireQueue(channel.host.permissions, permittedName, method.arguments);
  const work = broker.wiring.declareQueue({
    vhost,
    name: method.queue,
    passive: method.passive,
    durable: method.durable,
    exclusive: method.exclusive,
    autoDelete: method.autoDelete,
    arguments: method.arguments,
    connection: id,
  });
  channel.await(work, (info) => {
    channel.lastQueue = info.name;
    channel.reply(new QueueDeclareOk(info.name, info.messages, info.consumers), method.noWait);
  });
}

/**
 * The pseudo-queue of direct replies, or the address of somebody who waits for one: whatever is declared, it is there or not, and has
 * one consumer then. That is how a server finds out that its client is gone.
 */
function declareReplyQueue(channel: Channel, { queue, noWait }: QueueDeclare): void {
  const { vhost, broker } = channel.host;
  const exists = queue === replyQueue ? Promise.resolve(true) : broker.replies.exists(queue);
  channel.await(exists, (found) => {
    if (!found) throw new RefusedError(Refusal.notFound, `no queue '${queue}' in vhost '${vhost}'`);
    channel.lastQueue = queue;
    channel.reply(new QueueDeclareOk(queue, 0, 1), noWait);
  });
}

export function bind(channel: Channel, method: QueueBind): void {
  const work = channel.host.broker.wiring.bind(permittedBinding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new QueueBindOk(), method.noWait));
}

export function unbind(channel: Channel, method: QueueUnbind): void {
  const work = channel.host.broker.wiring.unbind(permittedBinding(channel, method), channel.host.id);
  channel.await(work, () => channel.reply(new QueueUnbindOk()));
}

export function purge(channel: Channel, method: QueuePurge): void {
  const { id, vhost, broker } = channel.host;
  const queue = queueName(channel, method.queue);
  channel.host.permissions.require('read', 'queue', queue);
  const work = broker.wiring.purgeQueue(vhost, queue, id);
  channel.await(work, (count) => channel.reply(new QueuePurgeOk(count), method.noWait));
}

export function remove(channel: Channel, method: QueueDelete): void {
  const { id, vhost, broker } = channel.host;
  const options = { ifUnused: method.ifUnused, ifEmpty: method.ifEmpty, connection: id };
  const queue = queueName(channel, method.queue);
  channel.host.permissions.require('configure', 'queue', queue);
  const work = broker.wiring.deleteQueue(vhost, queue, options);
  channel.await(work, (count) => channel.reply(new QueueDeleteOk(count), method.noWait));
}

/** Without queue and routing key, the queue last declared is bound by its own name (§1.7.2.3). */
function permittedBinding(channel: Channel, method: QueueBind | QueueUnbind): Binding {
  const destination = queueName(channel, method.queue);
  return requireBinding(channel.host, {
    vhost: channel.host.vhost,
    source: method.exchange,
    destination,
    destinationKind: 'queue',
    routingKey: method.queue === '' && method.routingKey === '' ? destination : method.routingKey,
    arguments: method.arguments,
  });
}
