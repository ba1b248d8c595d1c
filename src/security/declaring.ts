/** What permissions declarations and bindings take, whatever protocol they come by. All throw RefusedError (access-refused). */
import type { Arguments, Binding } from '../model/broker.js';
import type { Permissions } from './permissions.js';

/** With a dead letter exchange the queue's messages go there without anybody's doing. */
export function requireQueue(permissions: Permissions, name: string, table: Arguments): void {
  permissions.require('configure', 'queue', name);
  const deadLetterExchange = table['x-dead-letter-exchange'];
  if (typeof deadLetterExchange !== 'string') return;
  permissions.require('read', 'queue', name);
  permissions.require('write', 'exchange', deadLetterExchange);
}

/** With an alternate exchange messages go there without anybody's doing. */
export function requireExchange(permissions: Permissions, name: string, table: Arguments): void {
  permissions.require('configure', 'exchange', name);
  const alternate = table['alternate-exchange'];
  if (typeof alternate !== 'string') return;
  permissions.require('read', 'exchange', name);
  permissions.require('write', 'exchange', alternate);
}

/**
 * To bind and to unbind takes the right to read what comes, and to write where it goes.
 * @param isTopic whether the source is a topic exchange
 */
export function requireBinding(permissions: Permissions, isTopic: boolean, binding: Binding): void {
  const { source, destination, destinationKind, routingKey } = binding;
  permissions.require('write', destinationKind, destination);
  permissions.require('read', 'exchange', source);
  if (isTopic) permissions.requireTopic('read', source, routingKey);
}
