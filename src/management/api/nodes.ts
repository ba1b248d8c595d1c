import type { BrokerNode } from '../../broker-node.js';
import { ListQuery } from '../lists/list-query.js';
import { list } from '../lists/list.js';
import { byNameAlone } from '../lists/orders.js';
import { notFound } from '../read.js';
import { type Resource, requireStarted } from '../resource.js';

type Member = ReturnType<BrokerNode['report']['members']>[number];

/** The nodes of the cluster, under RabbitMQ's paths and by its names. More of them is in `GET /api/cluster`. */
export const nodeRoutes: readonly Resource[] = [
  {
    path: '/api/nodes',
    needs: ['monitoring', 'administrator'],
    async get(request) {
      requireStarted(request.broker);
      return await list<Member>(request, { items: request.broker.report.members(), compare: byNameAlone, describe });
    },
  },
  {
    path: '/api/nodes/:node',
    needs: ['monitoring', 'administrator'],
    get({ broker, parameters, query }) {
      requireStarted(broker);
      const member = broker.report.members().find(({ name }) => name === parameters['node']);
      if (member === undefined) throw notFound(`node '${parameters['node']}'`);
      return new ListQuery(query, false).select(describe(member));
    },
  },
];

function describe({ name, pid, state, alarms = [] }: Member): Record<string, unknown> {
  return {
    name,
    type: 'disc',
    running: state === 'ready' || state === 'draining',
    state,
    os_pid: String(pid),
    mem_alarm: alarms.includes('memory'),
    disk_free_alarm: alarms.includes('disk'),
    partitions: [],
  };
}
