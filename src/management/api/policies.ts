import type { BrokerNode } from '../../broker-node.js';
import { describePolicy } from '../describe.js';
import { list } from '../lists/list.js';
import { byVhostAndName } from '../lists/orders.js';
import { type PolicyFields, policyFields } from '../policy-fields.js';
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
  applyTo: PolicyFields['applyTo'],
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
      async get(request) {
        const { broker, enters } = request;
        requireStarted(broker);
        const items = policiesOf(broker).list();
        const isIn = ({ vhost }: PolicyObject): boolean => enters(vhost);
        return await list<PolicyObject>(request, { items, isIn, compare: byVhostAndName, describe: describePolicy });
      },
    },
    {
      path: `/api/${collection}/:vhost`,
      needs: ['management', needs[1]],
      async get(request) {
        const { broker, parameters } = request;
        requireStarted(broker);
        const vhost = parameters['vhost']!;
        if (!broker.broker.hasVhost(vhost)) throw new HttpError(404, 'not_found', `no vhost '${vhost}'`);
        const items = policiesOf(broker).list(vhost);
        return await list<PolicyObject>(request, { items, compare: byVhostAndName, describe: describePolicy });
      },
    },
    {
      path: `/api/${collection}/:vhost/:name`,
      needs,
      get: ({ broker, parameters }) => describePolicy(find(broker, parameters)),
      async put({ broker, parameters, body }) {
        requireStarted(broker);
        const { vhost, name } = parameters as { vhost: string; name: string };
        const isNew = await policiesOf(broker).set({ vhost, name, ...policyFields(body, applyTo) });
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
