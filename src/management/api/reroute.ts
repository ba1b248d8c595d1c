import { HttpError, type Resource, requireStarted } from '../resource.js';

/**
 * `POST /api/queues/VHOST/NAME/reroute`: what is ready in the queue goes on through `exchange` (default: the queue's dead-letter exchange)
 * with `routing_key` (default: its own). The answer says how many messages that were, when they are safe.
 */
export const rerouteRoutes: readonly Resource[] = [
  {
    path: '/api/queues/:vhost/:name/reroute',
    needs: ['administrator', 'administrator'],
    async post({ broker, parameters, body, asker }) {
      requireStarted(broker);
      const exchange = textIn(body, 'exchange');
      const routingKey = textIn(body, 'routing_key');
      const [vhost, name] = [parameters['vhost']!, parameters['name']!];
      const to = {
        ...(exchange === undefined ? {} : { exchange }),
        ...(routingKey === undefined ? {} : { routingKey }),
      };
      const messages = await broker.broker.reroute(vhost, name, to);
      broker.ports.logger.info('queue rerouted', { vhost, queue: name, messages, asker });
      return { messages };
    },
  },
];

function textIn(body: Record<string, unknown>, key: string): string | undefined {
  const value = body[key];
  if (value !== undefined && typeof value !== 'string') throw new HttpError(400, 'bad_request', `"${key}" is no text`);
  return value;
}
