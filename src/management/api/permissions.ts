import { Refusal, RefusedError } from '../../base/errors.js';
import type { BrokerNode } from '../../broker-node.js';
import type { Grants } from '../../model/access/grants.js';
import type { GrantObject, PermissionObject, TopicPermissionObject } from '../../model/access/objects.js';
import { describePermission, describeTopics } from '../describe.js';
import { list } from '../lists/list.js';
import { byVhostAndUser } from '../lists/orders.js';
import { badRequest, notFound, requiredText } from '../read.js';
import { Done, type Resource, type ResourceRequest, requireStarted } from '../resource.js';
import { requireVhost } from '../vhosts-entered.js';

type Parameters = { vhost: string; user: string };

/** Permissions, of topics too, under RabbitMQ's paths and by its names. */
export const permissionRoutes: readonly Resource[] = [
  {
    path: '/api/permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listPermissions(request, grantsOf(request).all()),
  },
  {
    path: '/api/permissions/:vhost/:user',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      const permission = broker.access.permission(user, vhost);
      if (permission === undefined) throw notFound(`permission of user '${user}' in vhost '${vhost}'`);
      return describePermission(permission);
    },
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      const [configure, write, read] = ['configure', 'write', 'read'].map((key) => requiredText(body, key));
      const permission = { user, vhost, configure: configure!, write: write!, read: read! };
      return new Done((await broker.access.setPermission(permission).catch(refuse)) ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      if (broker.access.permission(user, vhost) === undefined)
        throw notFound(`permission of user '${user}' in vhost '${vhost}'`);
      await broker.access.clearPermission(user, vhost);
      return new Done(204);
    },
  },
  {
    path: '/api/users/:user/permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listPermissions(request, grantsOf(request).ofUser(knownUser(request))),
  },
  {
    path: '/api/vhosts/:vhost/permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listPermissions(request, grantsOf(request).ofVhost(requireVhost(request))),
  },
  {
    path: '/api/topic-permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listTopics(request, grantsOf(request).all()),
  },
  {
    path: '/api/topic-permissions/:vhost/:user',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      const topics = topicsOf(broker, user, vhost);
      if (topics.length === 0) throw notFound(`topic permission of user '${user}' in vhost '${vhost}'`);
      return topics.map(describeTopics);
    },
    async put({ broker, parameters, body }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      const [exchange, write, read] = ['exchange', 'write', 'read'].map((key) => requiredText(body, key));
      const permission = { user, vhost, exchange: exchange!, write: write!, read: read! };
      return new Done((await broker.access.setTopicPermission(permission).catch(refuse)) ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      if (topicsOf(broker, user, vhost).length === 0)
        throw notFound(`topic permission of user '${user}' in vhost '${vhost}'`);
      await broker.access.clearTopicPermission(user, vhost);
      return new Done(204);
    },
  },
  {
    path: '/api/vhosts/:vhost/topic-permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listTopics(request, grantsOf(request).ofVhost(requireVhost(request))),
  },
  {
    path: '/api/users/:user/topic-permissions',
    needs: ['administrator', 'administrator'],
    get: (request) => listTopics(request, grantsOf(request).ofUser(knownUser(request))),
  },
];

function grantsOf({ broker }: ResourceRequest): Grants {
  requireStarted(broker);
  return broker.tables.access.grants;
}

/** The user of the path. @throws HttpError 404 */
function knownUser({ broker, parameters }: ResourceRequest): string {
  const user = parameters['user']!;
  if (broker.access.user(user) === undefined) throw notFound(`user '${user}'`);
  return user;
}

async function listPermissions(request: ResourceRequest, items: Iterable<GrantObject>): Promise<unknown> {
  const grants = grantsOf(request);
  return await list<GrantObject>(request, {
    items,
    isIn: (grant) => grant.kind === 'permission' && grants.permission(grant.user, grant.vhost) === grant,
    compare: byVhostAndUser,
    describe: (grant) => describePermission(grant as PermissionObject),
  });
}

async function listTopics(request: ResourceRequest, items: Iterable<GrantObject>): Promise<unknown> {
  const grants = grantsOf(request);
  return await list<GrantObject>(request, {
    items,
    isIn: (grant) =>
      grant.kind === 'topicPermission' && grants.topicPermission(grant.user, grant.vhost, grant.exchange) === grant,
    compare: byVhostAndUser,
    describe: (grant) => describeTopics(grant as TopicPermissionObject),
  });
}

/** A user's in one vhost: few. */
function topicsOf({ tables }: BrokerNode, user: string, vhost: string): TopicPermissionObject[] {
  const found: TopicPermissionObject[] = [];
  for (const grant of tables.access.grants.ofUser(user))
    if (grant.kind === 'topicPermission' && grant.vhost === vhost) found.push(grant);
  return found;
}

/** What is not there is not the path's fault, as RabbitMQ sees it. */
function refuse(error: unknown): never {
  throw error instanceof RefusedError && error.kind === Refusal.notFound ? badRequest(error.message) : error;
}
