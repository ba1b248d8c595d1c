import { type Resource, requireStarted } from '../resource.js';

/**
 * `GET /api/cluster`: who is a member, and per group who leads it, who is in sync and who is on the way to it, and how far.
 */
export const clusterRoutes: readonly Resource[] = [
  {
    path: '/api/cluster',
    get({ broker }) {
      requireStarted(broker);
      const { report, map } = broker;
      const { id, replicas, minInSync, clients, placement } = map.config;
      return {
        id,
        node: broker.options.node,
        replicas,
        minInSync,
        clients,
        placement,
        complete: report.isComplete(),
        members: report.members(),
        groups: report.groups(),
      };
    },
  },
];
