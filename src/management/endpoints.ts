import type { BrokerNode } from '../broker-node.js';

export interface Listener {
  readonly node: string;
  readonly protocol: string;
  readonly ip_address: string;
  readonly port: number;
}

/** RabbitMQ's names of protocols. */
const protocols = { amqp: 'amqp', amqps: 'amqp/ssl', http: 'http', https: 'https', address: 'clustering' } as const;

/** Where nodes listen, as all of them know it. `node`: that one alone. */
export function listenersOf({ map }: BrokerNode, node?: string): Listener[] {
  const listeners: Listener[] = [];
  for (const { value } of map.members.values()) {
    if (node !== undefined && value.node !== node) continue;
    for (const [key, protocol] of Object.entries(protocols)) {
      const endpoint = value[key as keyof typeof protocols] ?? '';
      const colon = endpoint.lastIndexOf(':');
      const host = endpoint.slice(0, colon).replaceAll(/[[\]]/g, '');
      if (colon > 0)
        listeners.push({ node: value.node, protocol, ip_address: host, port: Number(endpoint.slice(colon + 1)) });
    }
  }
  return listeners;
}
