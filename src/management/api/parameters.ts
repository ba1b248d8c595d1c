import type { BrokerNode } from '../../broker-node.js';
import type { GlobalParameterObject } from '../../model/wiring/objects.js';
import type { Json } from '../../model/wiring/arguments.js';
import { badRequest, notFound } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';

/** What operators and their tools note about the cluster, under RabbitMQ's paths: it means nothing to the broker. */
export const parameterRoutes: readonly Resource[] = [
  {
    path: '/api/global-parameters',
    needs: ['policymaker', 'administrator'],
    get({ broker }) {
      requireStarted(broker);
      return broker.parameters.list().map(describe);
    },
  },
  {
    path: '/api/global-parameters/:name',
    needs: ['policymaker', 'administrator'],
    get: ({ broker, parameters }) => describe(find(broker, parameters['name']!)),
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      if (body['value'] === undefined) throw badRequest('"value" is missing');
      return new Done((await broker.parameters.set(parameters['name']!, body['value'] as Json)) ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      const { name } = find(broker, parameters['name']!);
      await broker.parameters.clear(name);
      return new Done(204);
    },
  },
];

/** @throws HttpError 404 */
function find(broker: BrokerNode, name: string): GlobalParameterObject {
  requireStarted(broker);
  const parameter = broker.parameters.find(name);
  if (parameter === undefined) throw notFound(`global parameter '${name}'`);
  return parameter;
}

function describe({ name, value }: GlobalParameterObject): Record<string, unknown> {
  return { name, value };
}
