import type { BrokerNode } from '../../broker-node.js';
import { ExchangeType } from '../../model/wiring/objects.js';
import { version } from '../../version.js';
import { listenersOf } from '../endpoints.js';
import { rabbitmqVersion } from '../rabbitmq-version.js';
import { badRequest, requiredText } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';

/** As RabbitMQ keeps it. */
const clusterName = 'cluster_name';

/** What there is in general, without statistics: `GET /api/overview`, and the cluster's name. */
export const overviewRoutes: readonly Resource[] = [
  {
    path: '/api/overview',
    needs: ['management', 'administrator'],
    get({ broker, enters }) {
      requireStarted(broker);
      const { tables, options } = broker;
      const vhosts = [...tables.vhostNames()].filter(enters);
      const total = (count: (vhost: string) => number): number => vhosts.reduce((sum, vhost) => sum + count(vhost), 0);
      return {
        management_version: rabbitmqVersion,
        rates_mode: 'none',
        exchange_types: Object.keys(ExchangeType).map((name) => ({ name, description: '', enabled: true })),
        product_name: 'Understudy',
        product_version: version,
        rabbitmq_version: rabbitmqVersion,
        cluster_name: nameOf(broker),
        disable_stats: true,
        object_totals: {
          exchanges: total((vhost) => tables.exchangeCount(vhost)),
          queues: total((vhost) => tables.queueCount(vhost)),
        },
        node: options.node,
        listeners: listenersOf(broker),
      };
    },
  },
  {
    path: '/api/cluster-name',
    needs: ['management', 'administrator'],
    get({ broker }) {
      requireStarted(broker);
      return { name: nameOf(broker) };
    },
    async put({ broker, body }) {
      requireStarted(broker);
      const name = requiredText(body, 'name');
      if (name === '') throw badRequest('"name" is empty');
      await broker.parameters.set(clusterName, name);
      return new Done(204);
    },
  },
];

/** What operators call it; else its id. */
function nameOf({ parameters, map }: BrokerNode): string {
  const value = parameters.find(clusterName)?.value;
  return typeof value === 'string' ? value : map.config.id;
}
