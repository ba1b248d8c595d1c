import { Command } from 'commander';
import { type ApiOptions, api, change, limits, print, withJson, withUrl } from './access-api.js';

interface VhostView {
  name: string;
  description: string;
  tags: string[];
}

interface AddOptions {
  description: string;
  defaultQueueType?: string;
}

/** `understudy vhost add|delete|list|limits`. */
export function vhostCommand(): Command {
  const vhost = new Command('vhost').description('vhosts: queues and exchanges with names of their own');
  withUrl(vhost.command('add <name>'))
    .description('add a vhost; whoever adds it has all permissions in it, others are given some by `permissions set`')
    .option('--description <text>', 'what it is for', '')
    .option('--default-queue-type <type>', 'of queues that are declared without one: classic or quorum')
    .action(async (name: string, { description, defaultQueueType, ...options }: ApiOptions & AddOptions) => {
      const type = defaultQueueType === undefined ? {} : { default_queue_type: defaultQueueType };
      await api(options, 'PUT', ['vhosts', name], { description, ...type });
    });
  withJson(withUrl(vhost.command('limits <name> [limit...]')))
    .description('set limits of a vhost: max-connections=N, max-queues=N, or =none; without any, show them')
    .action((name: string, written: string[], options: ApiOptions) => limits('vhost', name, written, options));
  withJson(withUrl(vhost.command('list')))
    .description('show all vhosts')
    .action((options: ApiOptions) => list(options));
  withUrl(vhost.command('delete <name>'))
    .description('delete a vhost with all queues, messages and exchanges in it; its connections are closed')
    .action((name: string, options: ApiOptions) => change(options, 'DELETE', ['vhosts', name]));
  return vhost;
}

async function list(options: ApiOptions): Promise<void> {
  const vhosts = (await api(options, 'GET', ['vhosts'])) as VhostView[];
  const rows = vhosts.map(({ name, description, tags }) => [name, description, tags.join(',')]);
  print(options, vhosts, [['name', 'description', 'tags'], ...rows]);
}
