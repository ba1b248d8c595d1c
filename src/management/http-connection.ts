import type { BrokerNode } from '../broker-node.js';
import type { ConnectionId } from '../model/broker.js';

/** Stands for the connection of whoever declares something over HTTP. Nothing is exclusive to it. */
export function httpConnection({ self }: BrokerNode): ConnectionId {
  return `${self.node}/${self.boot}/http`;
}
