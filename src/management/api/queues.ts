import { HttpError, type Resource, requireStarted } from '../resource.js';

/**
 * `POST .../reroute`: what is ready goes on through `exchange` (default: the queue's dead-letter exchange) with `routing_key` (default: its
 * own).
 *
 * `GET /api/queues/VHOST/NAME`: one queue, by the names that RabbitMQ's management uses. Counts are the primary's.
 */
export const queueRoutes: readonly Resource[] = [
  {
    path: '/api/queues/:vhost/:name',
    needs: ['management', 'administrator'],
    async get({ broker, parameters }) {
      requireStarted(broker);
      const status = await broker.broker.queueStatus(parameters['vhost']!, parameters['name']!);
      return {
        name: status.name,
        vhost: status.vhost,
        durable: status.durable,
        exclusive: status.exclusive,
        auto_delete: status.autoDelete,
        policy: status.policy === '' ? null : status.policy,
        effective_policy_definition: status.policyDefinition,
        moving: status.moving,
        messages: status.messages + status.unacknowledged,
        messages_ready: status.messages,
        messages_unacknowledged: status.unacknowledged,
        consumers: status.consumers,
        group: status.group,
        leader: status.leader,
        members: status.members,
        online: status.online,
      };
    },
  },
  {
    path: '/api/queues/:vhost/:name/reroute',
    needs: ['administrator', 'administrator'],
    async post({ broker, parameters, body, asker }) {
      requireStarted(broker);
      const { exchange, routing_key: routingKey } = body;
      for (const [key, value] of Object.entries({ exchange, routing_key: routingKey }))
        if (value !== undefined && typeof value !== 'string')
          throw new HttpError(400, 'bad_request', `${key} must be a text`);
      const [vhost, name] = [parameters['vhost']!, parameters['name']!];
      const messages = await broker.broker.reroute(vhost, name, {
        ...(exchange === undefined ? {} : { exchange: exchange as string }),
        ...(routingKey === undefined ? {} : { routingKey: routingKey as string }),
      });
      broker.ports.logger.info('queue rerouted', { vhost, queue: name, messages, asker });
      return { messages };
    },
  },
];
