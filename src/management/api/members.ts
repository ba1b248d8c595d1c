import { operatorsError } from '../operators.js';
import { HttpError, type Resource, requireStarted } from '../resource.js';

/** `DELETE /api/cluster/nodes/NODE`: the cluster forgets a node that is down. */
export const memberRoutes: readonly Resource[] = [
  {
    path: '/api/cluster/nodes/:node',
    needs: ['administrator', 'administrator'],
    async delete({ broker, parameters, asker }) {
      requireStarted(broker);
      if (broker.forgetting === undefined)
        throw new HttpError(409, 'refused', 'this broker is alone: there is no other node');
      const node = parameters['node']!;
      await broker.forgetting.forget(node, asker).catch((error: unknown) => Promise.reject(operatorsError(error)));
      return { forgotten: node };
    },
  },
];
