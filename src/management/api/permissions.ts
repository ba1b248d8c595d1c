import { Refusal, RefusedError } from '../../base/errors.js';
import { describePermission, describeTopics } from '../describe.js';
import { badRequest, notFound, requiredText } from '../read.js';
import { Done, type Resource, requireStarted } from '../resource.js';

type Parameters = { vhost: string; user: string };

/** Permissions, of topics too, under RabbitMQ's paths and by its names. */
export const permissionRoutes: readonly Resource[] = [
  {
    path: '/api/permissions',
    needs: ['administrator', 'administrator'],
    get({ broker }) {
      requireStarted(broker);
      return broker.access.permissions().map(describePermission);
    },
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
    get({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['user']!;
      if (broker.access.user(name) === undefined) throw notFound(`user '${name}'`);
      return broker.access
        .permissions()
        .filter(({ user }) => user === name)
        .map(describePermission);
    },
  },
  {
    path: '/api/topic-permissions',
    needs: ['administrator', 'administrator'],
    get({ broker }) {
      requireStarted(broker);
      return broker.access.topicPermissions().map(describeTopics);
    },
  },
  {
    path: '/api/topic-permissions/:vhost/:user',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { vhost, user } = parameters as Parameters;
      const topics = broker.access.topicPermissions().filter((one) => one.user === user && one.vhost === vhost);
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
      const isSome = broker.access.topicPermissions().some((one) => one.user === user && one.vhost === vhost);
      if (!isSome) throw notFound(`topic permission of user '${user}' in vhost '${vhost}'`);
      await broker.access.clearTopicPermission(user, vhost);
      return new Done(204);
    },
  },
  {
    path: '/api/vhosts/:vhost/topic-permissions',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { vhost } = parameters as Parameters;
      if (broker.access.vhost(vhost) === undefined) throw notFound(`vhost '${vhost}'`);
      return broker.access
        .topicPermissions()
        .filter((one) => one.vhost === vhost)
        .map(describeTopics);
    },
  },
  {
    path: '/api/users/:user/topic-permissions',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const { user } = parameters as Parameters;
      if (broker.access.user(user) === undefined) throw notFound(`user '${user}'`);
      return broker.access
        .topicPermissions()
        .filter((one) => one.user === user)
        .map(describeTopics);
    },
  },
];

/** What is not there is not the path's fault, as RabbitMQ sees it. */
function refuse(error: unknown): never {
  throw error instanceof RefusedError && error.kind === Refusal.notFound ? badRequest(error.message) : error;
}
