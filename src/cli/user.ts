import { Command } from 'commander';
import { type ApiOptions, api, change, limits, print, withJson, withUrl } from './access-api.js';
import { CommandError } from './fail.js';
import { readPassword } from './secret.js';

interface UserView {
  name: string;
  tags: string[];
  limits: Record<string, number>;
  password_hash: string;
}

/** `understudy user add|delete|list|password|tags|limits`. */
export function userCommand(): Command {
  const user = new Command('user').description('who may connect');
  withUrl(user.command('add <name>'))
    .description('add a user; the password is asked for, or read from standard input')
    .option('--tags <tags>', 'with commas between: administrator, monitoring, policymaker, management', '')
    .action((name: string, options: ApiOptions & { tags: string }) => add(name, options));
  withUrl(user.command('password <name>'))
    .description('give a user another password; it is asked for, or read from standard input')
    .action((name: string, options: ApiOptions) => setPassword(name, options));
  withUrl(user.command('tags <name> [tags...]'))
    .description('set the tags of a user, instead of those that it has')
    .action((name: string, tags: string[], options: ApiOptions) => setTags(name, tags, options));
  withJson(withUrl(user.command('limits <name> [limit...]')))
    .description('set limits of a user: max-connections=N, max-channels=N, or =none; without any, show them')
    .action((name: string, written: string[], options: ApiOptions) => limits('user', name, written, options));
  withJson(withUrl(user.command('list')))
    .description('show all users')
    .action((options: ApiOptions) => list(options));
  withUrl(user.command('delete <name>'))
    .description('delete a user; its connections are closed')
    .action((name: string, options: ApiOptions) => change(options, 'DELETE', ['users', name]));
  return user;
}

async function add(name: string, { tags, ...options }: ApiOptions & { tags: string }): Promise<void> {
  const users = (await api(options, 'GET', ['users'])) as UserView[];
  if (users.some((user) => user.name === name))
    throw new CommandError(`there is a user '${name}' already: see user password and user tags`);
  await api(options, 'PUT', ['users', name], { password: await readPassword(name), tags });
}

async function setPassword(name: string, options: ApiOptions): Promise<void> {
  const { tags } = (await api(options, 'GET', ['users', name])) as UserView;
  await api(options, 'PUT', ['users', name], { password: await readPassword(name), tags });
}

/** Everything else about it stays as it is. */
async function setTags(name: string, tags: readonly string[], options: ApiOptions): Promise<void> {
  const user = (await api(options, 'GET', ['users', name])) as UserView;
  await api(options, 'PUT', ['users', name], { ...user, tags });
}

async function list(options: ApiOptions): Promise<void> {
  const users = (await api(options, 'GET', ['users'])) as UserView[];
  const rows = users.map(({ name, tags, password_hash: hash }) => [name, tags.join(','), hash === '' ? 'none' : 'set']);
  print(options, users, [['name', 'tags', 'password'], ...rows]);
}
