import type { BrokerNode } from '../../broker-node.js';
import { Done, HttpError, type Resource, requireStarted } from '../resource.js';

/**
 * Policies, under RabbitMQ's paths and by its names: `GET /api/policies`, `/api/policies/VHOST`, and GET, PUT and DELETE of
 * `/api/policies/VHOST/NAME`.
 */
export const policyRoutes: readonly Resource[] = [
  {
    path: '/api/policies',
    needs: ['management', 'policymaker'],
    get({ broker, enters }) {
      requireStarted(broker);
      return broker.policies
        .list()
        .filter(({ vhost }) => enters(vhost))
        .map(describe);
    },
  },
  {
    path: '/api/policies/:vhost',
    needs: ['management', 'policymaker'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const vhost = parameters['vhost']!;
      if (!broker.broker.hasVhost(vhost)) throw new HttpError(404, 'not_found', `no vhost '${vhost}'`);
      return broker.policies.list(vhost).map(describe);
    },
  },
  {
    path: '/api/policies/:vhost/:name',
    needs: ['management', 'policymaker'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, name } = parameters as { vhost: string; name: string };
      const policy = broker.policies.find(vhost, name);
      if (policy === undefined) throw new HttpError(404, 'not_found', `no policy '${name}' in vhost '${vhost}'`);
      return describe(policy);
    },
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      const isNew = await broker.policies.set({
        vhost: parameters['vhost']!,
        name: parameters['name']!,
        ...readPolicy(body),
      });
      return new Done(isNew ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, name } = parameters as { vhost: string; name: string };
      if (broker.policies.find(vhost, name) === undefined)
        throw new HttpError(404, 'not_found', `no policy '${name}' in vhost '${vhost}'`);
      await broker.policies.clear(vhost, name);
      return new Done(204);
    },
  },
];

type PolicyObject = ReturnType<BrokerNode['policies']['list']>[number];

function describe({ vhost, name, pattern, applyTo, priority, definition }: PolicyObject): Record<string, unknown> {
  return { vhost, name, pattern, 'apply-to': applyTo, priority, definition };
}

type Written = Pick<PolicyObject, 'pattern' | 'priority' | 'applyTo' | 'definition'>;

/** Only the shape; what the values may be is for the wiring to judge. @throws HttpError 400 */
function readPolicy(body: Record<string, unknown>): Written {
  const refuse = (why: string): never => {
    throw new HttpError(400, 'bad_request', why);
  };
  const { pattern, definition, priority = 0, 'apply-to': applyTo = 'all' } = body;
  if (typeof pattern !== 'string') return refuse('"pattern" must be a text, a regular expression');
  if (typeof priority !== 'number') return refuse('"priority" must be a number');
  if (typeof applyTo !== 'string') return refuse('"apply-to" must be a text');
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition))
    return refuse('"definition" must be an object of keys and values');
  return { pattern, priority, applyTo: applyTo as Written['applyTo'], definition: definition as Written['definition'] };
}
