import type { Binding } from '../../model/broker.js';
import { requireBinding as requireFor } from '../../security/declaring.js';
import type { ChannelHost } from '../channel-host.js';

/** Returns the binding. @throws RefusedError access-refused */
export function requireBinding({ permissions, broker }: ChannelHost, binding: Binding): Binding {
  requireFor(permissions, broker.isTopicExchange(binding.vhost, binding.source), binding);
  return binding;
}
