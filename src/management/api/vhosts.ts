import type { BrokerNode } from '../../broker-node.js';
import type { VhostDescription } from '../../model/access/operations.js';
import type { QueueType } from '../../model/wiring/objects.js';
import { notFound, optionalText, tagList } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';
import { describePermission } from '../describe.js';

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
      const vhost = readVhost(name, body, broker.access.vhost(name));
      return new Done((await broker.access.setVhost(vhost)) ? 201 : 204);
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

/** What is not said stays as it is. @throws HttpError 400 */
function readVhost(
  name: string,
  body: Record<string, unknown>,
  current: VhostDescription | undefined,
): VhostDescription {
  const isSaid = body['description'] !== undefined || body['tags'] !== undefined;
  const said = { description: optionalText(body, 'description') ?? '', tags: tagList(body['tags']) };
  const { description, tags } = isSaid ? said : (current ?? said);
  const type = (optionalText(body, 'default_queue_type') || undefined) ?? current?.defaultQueueType ?? noQueueType;
  return { name, description, tags, ...(type === noQueueType ? {} : { defaultQueueType: type as QueueType }) };
}

/** As RabbitMQ writes it. */
const noQueueType = 'undefined';

function describe(vhost: VhostDescription, broker: BrokerNode): Record<string, unknown> {
  const ready = broker.report.members().filter(({ state }) => state === 'ready');
  const cluster_state = Object.fromEntries(ready.map(({ name }) => [name, 'running']));
  const { name, description, tags, defaultQueueType } = vhost;
  const type = { default_queue_type: defaultQueueType ?? noQueueType };
  const metadata = { description, tags, ...(defaultQueueType === undefined ? {} : type) };
  return { name, description, tags, ...type, metadata, tracing: false, cluster_state };
}
