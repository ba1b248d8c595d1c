import { groupOf, operatorsError } from '../operators.js';
import { HttpError, type Resource, requireStarted } from '../resource.js';

/**
 * `GET /api/cluster`: who is a member, and per group who leads it, who is in sync and who is on the way to it, and how far.
 *
 * `POST /api/cluster/groups/GROUP/override`, `{"acceptLoss": true, "node": NAME}`: a node that is not in sync leads a group that waits.
 * Without `acceptLoss` it is refused with what may be lost; without `node` it is the one that has most.
 */
export const clusterRoutes: readonly Resource[] = [
  {
    path: '/api/cluster',
    needs: ['monitoring', 'administrator'],
    get({ broker }) {
      requireStarted(broker);
      const { report, map } = broker;
      const { id, replicas, minInSync, clients, placement, version } = map.config;
      return {
        id,
        node: broker.options.node,
        replicas,
        minInSync,
        clients,
        placement,
        protocol: version,
        complete: report.isComplete(),
        members: report.members(),
        groups: report.groups(),
      };
    },
  },
  {
    path: '/api/cluster/groups/:group/override',
    needs: ['administrator', 'administrator'],
    async post({ broker, parameters, body, asker }) {
      requireStarted(broker);
      const { node, acceptLoss } = body;
      if (node !== undefined && typeof node !== 'string') throw new HttpError(400, 'bad_request', '"node" is no name');
      if (acceptLoss !== undefined && typeof acceptLoss !== 'boolean')
        throw new HttpError(400, 'bad_request', '"acceptLoss" is true or false');
      const group = groupOf(parameters);
      if (broker.override === undefined)
        throw new HttpError(409, 'refused', 'this broker is alone: its groups wait for nobody');
      return broker.override
        .run({ group, node, acceptLoss: acceptLoss ?? false, asker })
        .catch((error: unknown) => Promise.reject(operatorsError(error)));
    },
  },
];

/**
 * `POST /api/cluster/coordinator/override`, `{"acceptLoss": true}`: a coordinator that was put back is believed without the reports of the nodes
 * that this one waits for.
 */
export const coordinatorRoutes: readonly Resource[] = [
  {
    path: '/api/cluster/coordinator/override',
    needs: ['administrator', 'administrator'],
    async post({ broker, body, asker }) {
      const waits = broker.restoration?.waitsFor ?? '';
      if (waits === '') throw new HttpError(409, 'refused', 'this node waits for no reports');
      if (body['acceptLoss'] !== true)
        throw new HttpError(
          409,
          'refused',
          `${waits}. What they confirmed since the coordinator was as it is now, and no other node has, is lost. Should one of them run after all, what it confirms is lost too: make sure that it is stopped. If that is accepted, say so`,
        );
      return { accepted: await broker.restoration!.accept(asker) };
    },
  },
];
