import type { BrokerNode } from '../../broker-node.js';
import type { VhostDescription } from '../../model/access/operations.js';
import type { QueueType } from '../../model/wiring/objects.js';
import { notFound, optionalText, tagList } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';
import { list } from '../lists/list.js';
import { compareTexts } from '../sorted.js';

/** Vhosts, under RabbitMQ's paths and by its names. */
export const vhostRoutes: readonly Resource[] = [
  {
    path: '/api/vhosts',
    needs: ['management', 'administrator'],
    async get(request) {
      const { broker, sees } = request;
      requireStarted(broker);
      return await list<string>(request, {
        items: broker.tables.vhostNames(),
        isIn: sees,
        compare: compareTexts,
        name: (name) => name,
        describe: (name) => describe(broker.access.vhost(name) ?? { name, description: '', tags: [] }, broker),
      });
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
    async put({ broker, parameters, body, person }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      const { access } = broker;
      const isNew = await access.setVhost(readVhost(name, body, access.vhost(name)));
      // As in RabbitMQ: whoever has made it may use it. Those of the program may in any case.
      const all = { configure: '.*', write: '.*', read: '.*' };
      if (isNew && access.user(person.name) !== undefined)
        await access.setPermission({ user: person.name, vhost: name, ...all });
      return new Done(isNew ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['vhost']!;
      if (broker.access.vhost(name) === undefined) throw notFound(`vhost '${name}'`);
      await broker.access.deleteVhost(name);
      return new Done(204);
    },
  },
];

/** What is not said stays as it is. @throws HttpError 400 */
function readVhost(
  name: string,
  body: Record<string, unknown>,
  current: VhostDescription | undefined,
): VhostDescription {
  const description = optionalText(body, 'description') ?? current?.description ?? '';
  const tags = body['tags'] === undefined ? (current?.tags ?? []) : tagList(body['tags']);
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
