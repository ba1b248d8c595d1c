import { groupOf, operatorsError } from '../operators.js';
import { HttpError, type Resource, type ResourceRequest, requireStarted } from '../resource.js';

/**
 * Who leads what, as operators want it. Each answers when the wish is written down; the moves follow, and `GET /api/cluster` tells
 * of them.
 *
 * `PUT /api/cluster/groups/GROUP/primary`, `{"node": NAME}`: that node leads the group, whenever it may and is in sync. DELETE takes
 * the wish back: the placement decides.
 *
 * `POST /api/cluster/groups/GROUP/replicas`, `{"from": NAME, "to": NAME}`: the group's replica on one node is to be on another.
 *
 * `PUT /api/cluster/nodes/NODE/drain`: the node gives away all that it leads, and leads nothing until DELETE, or its next start.
 */
export const leadingRoutes: readonly Resource[] = [
  {
    path: '/api/cluster/groups/:group/primary',
    needs: ['administrator', 'administrator'],
    put(request) {
      const { node } = request.body;
      if (typeof node !== 'string')
        throw new HttpError(400, 'bad_request', '"node" is missing: who is to lead the group');
      return carryOut(request, `transfer of group ${request.parameters['group']} to ${node}`, (operations) =>
        operations.transfer(groupOf(request.parameters), node),
      );
    },
    delete(request) {
      return carryOut(request, `transfer of group ${request.parameters['group']} taken back`, (operations) =>
        operations.transfer(groupOf(request.parameters), undefined),
      );
    },
  },
  {
    path: '/api/cluster/groups/:group/replicas',
    needs: ['administrator', 'administrator'],
    post(request) {
      const { from, to } = request.body;
      if (typeof from !== 'string' || typeof to !== 'string')
        throw new HttpError(400, 'bad_request', '"from" and "to" are missing: whose replica goes to whom');
      return carryOut(request, `replica of group ${request.parameters['group']} from ${from} to ${to}`, (operations) =>
        operations.transferReplica(groupOf(request.parameters), from, to),
      );
    },
  },
  {
    path: '/api/cluster/nodes/:node/drain',
    needs: ['administrator', 'administrator'],
    put(request) {
      const node = request.parameters['node']!;
      return carryOut(request, `drain of ${node}`, (operations) => operations.drain(node));
    },
    delete(request) {
      const node = request.parameters['node']!;
      return carryOut(request, `revival of ${node}`, (operations) => operations.revive(node));
    },
  },
];

async function carryOut(
  { broker, asker }: ResourceRequest,
  what: string,
  operation: (operations: ResourceRequest['broker']['operations']) => Promise<void>,
): Promise<object> {
  requireStarted(broker);
  if (broker.links === undefined)
    throw new HttpError(409, 'refused', 'this broker is alone: there is nobody else to lead its groups');
  await operation(broker.operations).catch((error: unknown) => Promise.reject(operatorsError(error)));
  broker.ports.logger.warn(what, { asker });
  return { done: what };
}
