import type { BrokerNode } from '../../broker-node.js';
import type { QueueDeclaration } from '../../model/broker.js';
import type { QueueObject } from '../../model/wiring/objects.js';
import { requireQueue } from '../../security/declaring.js';
import { argumentTable } from '../argument-table.js';
import { httpConnection } from '../http-connection.js';
import { ListQuery } from '../lists/list-query.js';
import { list } from '../lists/list.js';
import { byVhostAndName } from '../lists/orders.js';
import { countFields, QueueView } from '../queue-view.js';
import { badRequest, flag, notFound } from '../read.js';
import { Done, type Resource, type ResourceRequest } from '../resource.js';
import { permissionsOf } from '../user-permissions.js';
import { requireVhost, vhostsEntered } from '../vhosts-entered.js';

/** Queues, under RabbitMQ's paths and by its names. */
export const queueRoutes: readonly Resource[] = [
  {
    path: '/api/queues',
    needs: ['management', 'management'],
    get: (request) => listQueues(request, vhostsEntered(request)),
  },
  {
    path: '/api/queues/:vhost',
    needs: ['management', 'management'],
    get: (request) => listQueues(request, [requireVhost(request)]),
  },
  {
    path: '/api/queues/:vhost/:name',
    needs: ['management', 'management'],
    async get(request) {
      const { broker, parameters, query } = request;
      const vhost = requireVhost(request);
      const name = parameters['name']!;
      // A node that has not heard of it may have to wait for others.
      if (broker.tables.queue(vhost, name) === undefined) await broker.broker.queueStatus(vhost, name);
      const queue = find(broker, vhost, name);
      const view = new QueueView(broker);
      const described = view.describe(queue);
      await view.count(queue, described);
      return new ListQuery(query, false).select(described);
    },
    async put(request) {
      const declaration = readQueue(request);
      const { broker } = request;
      requireQueue(permissionsOf(request, declaration.vhost), declaration.name, declaration.arguments);
      const isNew = broker.tables.queue(declaration.vhost, declaration.name) === undefined;
      await broker.broker.wiring.declareQueue(declaration);
      return new Done(isNew ? 201 : 204);
    },
    async delete(request) {
      const { broker, query } = request;
      const { vhost, name } = findIn(request);
      permissionsOf(request, vhost).require('configure', 'queue', name);
      const asked = (key: string): boolean => query.get(key) === 'true';
      const conditions = { ifUnused: asked('if-unused'), ifEmpty: asked('if-empty') };
      await broker.broker.wiring.deleteQueue(vhost, name, { ...conditions, connection: httpConnection(broker) });
      return new Done(204);
    },
  },
  {
    path: '/api/queues/:vhost/:name/contents',
    needs: ['management', 'management'],
    async delete(request) {
      const { broker } = request;
      const { vhost, name } = findIn(request);
      permissionsOf(request, vhost).require('read', 'queue', name);
      await broker.broker.wiring.purgeQueue(vhost, name, httpConnection(broker));
      return new Done(204);
    },
  },
];

async function listQueues(request: ResourceRequest, vhosts: readonly string[]): Promise<unknown> {
  const { broker } = request;
  const view = new QueueView(broker);
  return await list<QueueObject>(request, {
    items: queuesOf(broker, vhosts),
    compare: byVhostAndName,
    name: ({ name }) => name,
    describe: (queue) => view.describe(queue),
    asked: { fields: countFields, ask: (queue, described) => view.count(queue, described) },
  });
}

function* queuesOf({ tables }: BrokerNode, vhosts: readonly string[]): Generator<QueueObject, void> {
  for (const vhost of vhosts) yield* tables.queuesIn(vhost);
}

/** @throws HttpError 404 */
function find({ tables }: BrokerNode, vhost: string, name: string): QueueObject {
  const queue = tables.queue(vhost, name);
  if (queue === undefined) throw notFound(`queue '${name}' in vhost '${vhost}'`);
  return queue;
}

/** @throws HttpError 404 */
function findIn(request: ResourceRequest): QueueObject {
  return find(request.broker, requireVhost(request), request.parameters['name']!);
}

/** @throws HttpError 400, 404 */
function readQueue(request: ResourceRequest): QueueDeclaration {
  const { broker, parameters, body } = request;
  const vhost = requireVhost(request);
  if (flag(body, 'exclusive'))
    throw badRequest('"exclusive": a queue can be a connection’s own only, and HTTP has none');
  return {
    vhost,
    name: parameters['name']!,
    passive: false,
    durable: flag(body, 'durable'),
    exclusive: false,
    autoDelete: flag(body, 'auto_delete'),
    arguments: argumentTable(body['arguments']),
    connection: httpConnection(broker),
  };
}
