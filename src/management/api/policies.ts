import type { BrokerNode } from '../../broker-node.js';
import { Done, HttpError, type Resource, requireStarted } from '../resource.js';

type Policies = BrokerNode['policies'];
type PolicyObject = ReturnType<Policies['list']>[number];

/**
 * Policies, under RabbitMQ's paths and by its names: `GET /api/policies`, `/api/policies/VHOST`, and GET, PUT and DELETE of
 * `/api/policies/VHOST/NAME`. The same for `/api/operator-policies`, which only administrators set.
 */
export const policyRoutes: readonly Resource[] = [
  ...routesOf('policies', 'policy', ['management', 'policymaker'], ({ policies }) => policies, 'all'),
  ...routesOf(
    'operator-policies',
    'operator policy',
    ['administrator', 'administrator'],
    ({ operatorPolicies }) => operatorPolicies,
    'queues',
  ),
];

/** @param needs for one of them; the lists are for whoever may look into the vhost. @param applyTo if it is not said */
function routesOf(
  collection: string,
  title: string,
  needs: Resource['needs'],
  policiesOf: (broker: BrokerNode) => Policies,
  applyTo: Written['applyTo'],
): Resource[] {
  const find = (broker: BrokerNode, parameters: Record<string, string>): PolicyObject => {
    requireStarted(broker);
    const { vhost, name } = parameters as { vhost: string; name: string };
    const policy = policiesOf(broker).find(vhost, name);
    if (policy === undefined) throw new HttpError(404, 'not_found', `no ${title} '${name}' in vhost '${vhost}'`);
    return policy;
  };
  return [
    {
      path: `/api/${collection}`,
      needs: ['management', needs[1]],
      get({ broker, enters }) {
        requireStarted(broker);
        const policies = policiesOf(broker).list();
        return policies.filter(({ vhost }) => enters(vhost)).map(describe);
      },
    },
    {
      path: `/api/${collection}/:vhost`,
      needs: ['management', needs[1]],
      get({ broker, parameters }) {
        requireStarted(broker);
        const vhost = parameters['vhost']!;
        if (!broker.broker.hasVhost(vhost)) throw new HttpError(404, 'not_found', `no vhost '${vhost}'`);
        return policiesOf(broker).list(vhost).map(describe);
      },
    },
    {
      path: `/api/${collection}/:vhost/:name`,
      needs,
      get: ({ broker, parameters }) => describe(find(broker, parameters)),
      async put({ broker, parameters, body }) {
        requireStarted(broker);
        const { vhost, name } = parameters as { vhost: string; name: string };
        const isNew = await policiesOf(broker).set({ vhost, name, ...readPolicy(body, applyTo) });
        return new Done(isNew ? 201 : 204);
      },
      async delete({ broker, parameters }) {
        const { vhost, name } = find(broker, parameters);
        await policiesOf(broker).clear(vhost, name);
        return new Done(204);
      },
    },
  ];
}

function describe({ vhost, name, pattern, applyTo, priority, definition }: PolicyObject): Record<string, unknown> {
  return { vhost, name, pattern, 'apply-to': applyTo, priority, definition };
}

type Written = Pick<PolicyObject, 'pattern' | 'priority' | 'applyTo' | 'definition'>;

/** Only the shape; what the values may be is for the wiring to judge. @throws HttpError 400 */
function readPolicy(body: Record<string, unknown>, applyToDefault: Written['applyTo']): Written {
  const refuse = (why: string): never => {
    throw new HttpError(400, 'bad_request', why);
  };
  const { pattern, definition, priority = 0, 'apply-to': applyTo = applyToDefault } = body;
  if (typeof pattern !== 'string') return refuse('"pattern" must be a text, a regular expression');
  if (typeof priority !== 'number') return refuse('"priority" must be a number');
  if (typeof applyTo !== 'string') return refuse('"apply-to" must be a text');
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition))
    return refuse('"definition" must be an object of keys and values');
  return { pattern, priority, applyTo: applyTo as Written['applyTo'], definition: definition as Written['definition'] };
}
