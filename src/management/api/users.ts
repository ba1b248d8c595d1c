import { Hashing, type UserObject } from '../../model/access/objects.js';
import type { UserDescription } from '../../model/access/operations.js';
import { hashProblem } from '../../security/password-hash.js';
import type { Passwords } from '../../security/passwords.js';
import { parseScramKeys } from '../../security/scram-keys.js';
import { describeUser } from '../describe.js';
import { list } from '../lists/list.js';
import { byNameAlone } from '../lists/orders.js';
import { badRequest, notFound, optionalText, requiredText, tagList } from '../read.js';
import { Done, type Resource, type ResourceRequest, requireStarted } from '../resource.js';

/** Users, under RabbitMQ's paths and by its names. */
export const userRoutes: readonly Resource[] = [
  {
    path: '/api/whoami',
    needs: ['management', 'administrator'],
    get: ({ person }) => ({ name: person.name, tags: person.tags }),
  },
  {
    path: '/api/users',
    needs: ['administrator', 'administrator'],
    get: (request) => listUsers(request),
  },
  {
    path: '/api/users/without-permissions',
    needs: ['administrator', 'administrator'],
    get: (request) =>
      listUsers(request, ({ name }) => {
        for (const { kind } of request.broker.tables.access.grants.ofUser(name))
          if (kind === 'permission') return false;
        return true;
      }),
  },
  {
    path: '/api/users/bulk-delete',
    needs: ['administrator', 'administrator'],
    async post({ broker, body }) {
      requireStarted(broker);
      const { users } = body;
      if (!Array.isArray(users) || !users.every((name) => typeof name === 'string'))
        throw badRequest('"users" must be a list of names');
      const unknown = users.find((name) => broker.access.user(name) === undefined);
      if (unknown !== undefined) throw badRequest(`there is no user '${unknown}'`);
      for (const name of users) await broker.access.deleteUser(name);
      return new Done(204);
    },
  },
  {
    path: '/api/users/:user',
    needs: ['administrator', 'administrator'],
    get({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['user']!;
      const user = broker.access.user(name);
      if (user === undefined) throw notFound(`user '${name}'`);
      return describeUser(user, broker.tables.access.limitsOf('user', name)?.limits);
    },
    async put({ broker, parameters, body, security }) {
      requireStarted(broker);
      const user = await readUser(parameters['user']!, body, security.passwords);
      return new Done((await broker.access.setUser(user)) ? 201 : 204);
    },
    async delete({ broker, parameters }) {
      requireStarted(broker);
      const name = parameters['user']!;
      if (broker.access.user(name) === undefined) throw notFound(`user '${name}'`);
      await broker.access.deleteUser(name);
      return new Done(204);
    },
  },
];

async function listUsers(request: ResourceRequest, isIn: (user: UserObject) => boolean = () => true): Promise<unknown> {
  requireStarted(request.broker);
  const { access } = request.broker.tables;
  const describe = (user: UserObject): Record<string, unknown> =>
    describeUser(user, access.limitsOf('user', user.name)?.limits);
  return await list<UserObject>(request, { items: access.allUsers(), isIn, compare: byNameAlone, describe });
}

/** Without a password nobody can log in by one. @throws HttpError 400 */
async function readUser(name: string, body: Record<string, unknown>, passwords: Passwords): Promise<UserDescription> {
  const password = optionalText(body, 'password') || undefined;
  const hash = optionalText(body, 'password_hash') || undefined;
  if (body['tags'] === undefined) throw badRequest('"tags" is missing: it may be empty');
  const tags = tagList(body['tags']);
  if (password !== undefined && hash !== undefined)
    throw badRequest('"password" and "password_hash" exclude each other');
  if (password !== undefined) return { name, tags, ...(await passwords.credentials(password)) };
  if (hash === undefined) return { name, tags, hashing: Hashing.sha256, hash: '', scram: '' };
  const hashing = body['hashing_algorithm'] === undefined ? Hashing.sha256 : requiredText(body, 'hashing_algorithm');
  const problem = hashProblem(hashing, hash);
  if (problem !== '') throw badRequest(`"password_hash" cannot be used: ${problem}`);
  const scram = optionalText(body, 'scram_sha_256') ?? '';
  if (scram !== '' && parseScramKeys(scram) === undefined)
    throw badRequest('"scram_sha_256" is no such thing as iterations$salt$storedKey$serverKey');
  return { name, tags, hashing: hashing as Hashing, hash, scram };
}
