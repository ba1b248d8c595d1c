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
        .map(describe);
    },
  },
  {
    path: '/api/vhosts/:vhost',
    needs: ['management', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      const vhost = broker.access.vhost(name);
      if (vhost === undefined) throw notFound(`vhost '${name}'`);
      return describe(vhost);
    },
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      const current = broker.access.vhost(name);
      const description = optionalText(body, 'description') ?? current?.description ?? '';
      const tags = body['tags'] === undefined ? (current?.tags ?? []) : tagList(body['tags']);
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

function describe({ name, description, tags }: VhostDescription): Record<string, unknown> {
  return { name, description, tags, default_queue_type: 'undefined', metadata: { description, tags }, tracing: false };
}
