import type { BrokerNode } from '../../broker-node.js';
import type { ExchangeDeclaration } from '../../model/broker.js';
import type { ExchangeObject } from '../../model/wiring/objects.js';
import { requireExchange } from '../../security/declaring.js';
import { argumentTable } from '../argument-table.js';
import { describeExchangeObject } from '../describe.js';
import { exchangeOfPath } from '../exchange-name.js';
import { httpConnection } from '../http-connection.js';
import { ListQuery } from '../lists/list-query.js';
import { list } from '../lists/list.js';
import { byVhostAndName } from '../lists/orders.js';
import { flag, notFound, optionalText } from '../read.js';
import { Done, type Resource, type ResourceRequest } from '../resource.js';
import { permissionsOf } from '../user-permissions.js';
import { requireVhost, vhostsEntered } from '../vhosts-entered.js';

/** Exchanges, under RabbitMQ's paths and by its names. */
export const exchangeRoutes: readonly Resource[] = [
  {
    path: '/api/exchanges',
    needs: ['management', 'management'],
    get: (request) => listExchanges(request, vhostsEntered(request)),
  },
  {
    path: '/api/exchanges/:vhost',
    needs: ['management', 'management'],
    get: (request) => listExchanges(request, [requireVhost(request)]),
  },
  {
    path: '/api/exchanges/:vhost/:name',
    needs: ['management', 'management'],
    get: (request) => new ListQuery(request.query, false).select(describe(request.broker, findIn(request))),
    async put(request) {
      const { broker } = request;
      const declaration = readExchange(request);
      requireExchange(permissionsOf(request, declaration.vhost), declaration.name, declaration.arguments);
      const isNew = broker.tables.exchange(declaration.vhost, declaration.name) === undefined;
      await broker.broker.wiring.declareExchange(declaration);
      return new Done(isNew ? 201 : 204);
    },
    async delete(request) {
      const { broker, query } = request;
      const { vhost, name } = findIn(request);
      permissionsOf(request, vhost).require('configure', 'exchange', name);
      await broker.broker.wiring.deleteExchange(vhost, name, { ifUnused: query.get('if-unused') === 'true' });
      return new Done(204);
    },
  },
];

async function listExchanges(request: ResourceRequest, vhosts: readonly string[]): Promise<unknown> {
  const { broker } = request;
  return await list<ExchangeObject>(request, {
    items: exchangesOf(broker, vhosts),
    compare: byVhostAndName,
    name: ({ name }) => name,
    describe: (exchange) => describe(broker, exchange),
  });
}

function* exchangesOf({ tables }: BrokerNode, vhosts: readonly string[]): Generator<ExchangeObject, void> {
  for (const vhost of vhosts) yield* tables.exchangesIn(vhost);
}

/** As RabbitMQ does, it tells of a policy if there is one. */
function describe({ tables }: BrokerNode, exchange: ExchangeObject): Record<string, unknown> {
  const policy = tables.policies.ofExchange(exchange.vhost, exchange.name);
  return { ...describeExchangeObject(exchange), ...(policy === undefined ? {} : { policy: policy.name }) };
}

/** @throws HttpError 404 */
function findIn(request: ResourceRequest): ExchangeObject {
  const vhost = requireVhost(request);
  const name = exchangeOfPath(request.parameters['name']!);
  const exchange = request.broker.tables.exchange(vhost, name);
  if (exchange === undefined) throw notFound(`exchange '${name}' in vhost '${vhost}'`);
  return exchange;
}

/** @throws HttpError 400, 404 */
function readExchange(request: ResourceRequest): ExchangeDeclaration {
  const { broker, parameters, body } = request;
  return {
    vhost: requireVhost(request),
    name: exchangeOfPath(parameters['name']!),
    type: optionalText(body, 'type') ?? 'direct',
    passive: false,
    durable: flag(body, 'durable'),
    autoDelete: flag(body, 'auto_delete'),
    internal: flag(body, 'internal'),
    arguments: argumentTable(body['arguments']),
    connection: httpConnection(broker),
  };
}
