/** Objects of the wiring as RabbitMQ's management writes them. */
import type { PermissionDescription, TopicPermissionDescription } from '../model/access/operations.js';
import type { LimitsObject, UserObject } from '../model/access/objects.js';
import { argumentsToJson } from '../model/wiring/arguments.js';
import type { BindingObject, ExchangeObject, PolicyObject, QueueObject } from '../model/wiring/objects.js';

type Described = Record<string, unknown>;

export function describeQueueObject({ name, vhost, durable, autoDelete, arguments: table }: QueueObject): Described {
  return { name, vhost, durable, auto_delete: autoDelete, arguments: argumentsToJson(table) };
}

export function describeExchangeObject(exchange: ExchangeObject): Described {
  const { name, vhost, type, durable, autoDelete, internal, arguments: table } = exchange;
  return { name, vhost, type, durable, auto_delete: autoDelete, internal, arguments: argumentsToJson(table) };
}

export type BindingView = Pick<
  BindingObject,
  'vhost' | 'source' | 'destination' | 'destinationKind' | 'routingKey' | 'arguments'
>;

export function describeBindingObject(binding: BindingView): Described {
  const { source, vhost, destination, destinationKind, routingKey, arguments: table } = binding;
  return {
    source,
    vhost,
    destination,
    destination_type: destinationKind,
    routing_key: routingKey,
    arguments: argumentsToJson(table),
  };
}

export function describePolicy({ vhost, name, pattern, applyTo, priority, definition }: PolicyObject): Described {
  return { vhost, name, pattern, 'apply-to': applyTo, priority, definition };
}

/** Hashes are shown so that users can be taken elsewhere. */
export function describeUser(
  { name, tags, hashing, hash, scram }: UserObject,
  limits: LimitsObject['limits'] = {},
): Described {
  return {
    name,
    password_hash: hash,
    hashing_algorithm: hashing,
    ...(scram === '' ? {} : { scram_sha_256: scram }),
    tags,
    limits,
  };
}

export function describePermission({ user, vhost, configure, write, read }: PermissionDescription): Described {
  return { user, vhost, configure, write, read };
}

export function describeTopics({ user, vhost, exchange, write, read }: TopicPermissionDescription): Described {
  return { user, vhost, exchange, write, read };
}
