import { Command } from 'commander';
import { callApi, type ClusterView, fetchCluster } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { addWaitOptions, untilTrue, type WaitOptions } from './wait.js';

interface TransferOptions extends WaitOptions {
  url: string;
  backup?: string;
}

/** Instead of a node's name: the placement decides. */
const anywhere = 'any';
/** Until a wish is written down. */
const timeoutMs = 10_000;

/** `understudy transfer`: another node leads a group, or holds a replica of it. Its clients notice a pause of milliseconds, or nothing. */
export function transferCommand(): Command {
  return addWaitOptions(
    addUrlOption(
      new Command('transfer')
        .description('have a node lead a group, whenever it may and is in sync; or hold a replica instead of another')
        .argument('<group>', 'its number, or "system"')
        .argument('<node>', `its name; "${anywhere}" takes back what was asked before: the placement decides`),
    ),
  )
    .option('--backup <from>', 'move the replica that is there to the node, instead of the primary')
    .action((group: string, node: string, options: TransferOptions) => transfer(group, node, options));
}

async function transfer(which: string, node: string, options: TransferOptions): Promise<void> {
  const urls = parseUrls(options.url);
  if (which !== 'system' && !/^\d+$/.test(which))
    throw new CommandError(`"${which}" is no group: a number, or "system"`, ExitCode.usage);
  const id = which === 'system' ? 0 : Number(which);
  const path = `/api/cluster/groups/${id}`;
  const ask = (method: 'PUT' | 'POST' | 'DELETE', part: string, body?: object): Promise<unknown> =>
    askAny(urls, (url) => callApi(url, method, `${path}/${part}`, { timeoutMs, ...(body && { body }) }));
  const groupIn = (view: ClusterView): ClusterView['groups'][number] => view.groups.find((group) => group.id === id)!;
  const asked = async (): Promise<ClusterView['groups'][number]> => groupIn(await askAny(urls, fetchCluster));
  if (node === anywhere) {
    await ask('DELETE', 'primary');
    return say(`group ${which} is led by whoever the placement says`);
  }
  const { backup } = options;
  if (backup === undefined) await ask('PUT', 'primary', { node });
  else await ask('POST', 'replicas', { from: backup, to: node });
  if (!options.wait) return say(`group ${which} goes to ${node}`);
  const done = await untilTrue(options, async () => {
    const { primary, inSync } = await asked();
    return backup === undefined ? primary === node : inSync.includes(node) && !inSync.includes(backup);
  });
  if (done)
    return say(backup === undefined ? `group ${which} is led by ${node}` : `group ${which} has its replica on ${node}`);
  const { primary, inSync } = await asked();
  throw new CommandError(
    `group ${which} is led by ${primary}, with ${inSync.join(', ')} in sync, after ${options.timeout} s; the wish stands: see ` +
      `'understudy status'` +
      (backup === undefined ? `; 'understudy transfer ${which} ${anywhere}' takes it back` : ''),
  );
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
