import type { Binding } from '../../model/broker.js';
import type { ChannelHost } from '../channel-host.js';

/** To bind and to unbind takes the right to read what comes, and to write where it goes. Returns the binding. @throws RefusedError access-refused */
export function requireBinding({ permissions, broker }: ChannelHost, binding: Binding): Binding {
  const { vhost, source, destination, destinationKind, routingKey } = binding;
  permissions.require('write', destinationKind, destination);
  permissions.require('read', 'exchange', source);
  if (broker.isTopicExchange(vhost, source)) permissions.requireTopic('read', source, routingKey);
  return binding;
}
