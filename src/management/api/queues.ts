import { type Resource, requireStarted } from '../resource.js';

/** `GET /api/queues/VHOST/NAME`: one queue, by the names that RabbitMQ's management uses. Counts are the primary's. */
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
        operator_policy: status.operatorPolicy === '' ? null : status.operatorPolicy,
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
];
