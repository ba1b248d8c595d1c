import type { BrokerNode } from '../../broker-node.js';
import type { VhostDescription } from '../../model/access/operations.js';
import { notFound, optionalText, tagList } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';
import { describePermission } from './permissions.js';

/** Vhosts, under RabbitMQ's paths and by its names. */
export const vhostRoutes: readonly Resource[] = [
  {
    path: '/api/vhosts',
    needs: ['management', 'administrator'],
    get({ broker, sees }) {
      requireStarted(broker);
      return broker.access
        .vhosts()
        .filter(({ name }) => sees(name))
        .map((vhost) => describe(vhost, broker));
    },
  },
  {
    path: '/api/vhosts/:vhost',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      const vhost = broker.access.vhost(name);
      if (vhost === undefined) throw notFound(`vhost '${name}'`);
      return describe(vhost, broker);
    },
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      const isSaid = body['description'] !== undefined || body['tags'] !== undefined;
      const said = { description: optionalText(body, 'description') ?? '', tags: tagList(body['tags']) };
      const { description, tags } = isSaid ? said : (broker.access.vhost(name) ?? said);
      return new Done((await broker.access.setVhost({ name, description, tags })) ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      if (broker.access.vhost(name) === undefined) throw notFound(`vhost '${name}'`);
      await broker.access.deleteVhost(name);
      return new Done(204);
    },
  },
  {
    path: '/api/vhosts/:vhost/permissions',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      if (broker.access.vhost(name) === undefined) throw notFound(`vhost '${name}'`);
      return broker.access
        .permissions()
        .filter(({ vhost }) => vhost === name)
        .map(describePermission);
    },
  },
];

function describe({ name, description, tags }: VhostDescription, broker: BrokerNode): Record<string, unknown> {
  const ready = broker.report.members().filter(({ state }) => state === 'ready');
  const cluster_state = Object.fromEntries(ready.map(({ name }) => [name, 'running']));
  const metadata = { description, tags };
  return { name, description, tags, default_queue_type: 'undefined', metadata, tracing: false, cluster_state };
}
