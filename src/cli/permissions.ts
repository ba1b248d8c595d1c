import { Command } from 'commander';
import { type ApiOptions, api, change, print, withJson, withUrl } from './access-api.js';

interface Options extends ApiOptions {
  vhost: string;
}

interface PermissionView {
  user: string;
  vhost: string;
  exchange?: string;
  configure?: string;
  write: string;
  read: string;
}

/** `understudy permissions set|clear|list`, and the same of topics. */
export function permissionsCommand(): Command {
  const permissions = new Command('permissions').description('what users may do in vhosts');
  inVhost(permissions.command('set <user> <configure> <write> <read>'))
    .description('three patterns for names of queues and exchanges: ".*" is all, "" nothing')
    .action((user: string, configure: string, write: string, read: string, options: Options) =>
      change(options, 'PUT', ['permissions', options.vhost, user], { configure, write, read }),
    );
  inVhost(permissions.command('clear <user>'))
    .description('the user may not enter the vhost any more')
    .action((user: string, options: Options) => change(options, 'DELETE', ['permissions', options.vhost, user]));
  inVhost(permissions.command('set-topic <user> <exchange> <write> <read>'))
    .description('two patterns for routing keys at a topic exchange; may have {username} and {vhost} in them')
    .action((user: string, exchange: string, write: string, read: string, options: Options) =>
      change(options, 'PUT', ['topic-permissions', options.vhost, user], { exchange, write, read }),
    );
  inVhost(permissions.command('clear-topic <user>'))
    .description('the user may use all routing keys again')
    .action((user: string, options: Options) => change(options, 'DELETE', ['topic-permissions', options.vhost, user]));
  withJson(withUrl(permissions.command('list')))
    .description('show the permissions of all users')
    .action((options: ApiOptions) => list(options));
  return permissions;
}

function inVhost(command: Command): Command {
  return withUrl(command.option('--vhost <vhost>', 'the vhost', '/'));
}

async function list(options: ApiOptions): Promise<void> {
  const all = (await api(options, 'GET', ['permissions'])) as PermissionView[];
  const topics = (await api(options, 'GET', ['topic-permissions'])) as PermissionView[];
  const rows = [...all, ...topics].map(({ user, vhost, exchange = '', configure = '', write, read }) => [
    user,
    vhost,
    exchange,
    configure,
    write,
    read,
  ]);
  const found = { permissions: all, topic_permissions: topics };
  print(options, found, [['user', 'vhost', 'topics of', 'configure', 'write', 'read'], ...rows]);
}
