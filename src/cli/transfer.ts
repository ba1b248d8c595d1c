import { Command } from 'commander';
import { callApi, fetchCluster } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { addWaitOptions, untilTrue, type WaitOptions } from './wait.js';

interface TransferOptions extends WaitOptions {
  url: string;
}

/** Instead of a node's name: the placement decides. */
const anywhere = 'any';

/** `understudy transfer`: another node leads a group. Its clients notice a pause of milliseconds. */
export function transferCommand(): Command {
  return addWaitOptions(
    addUrlOption(
      new Command('transfer')
        .description('have a node lead a group, whenever it may and is in sync')
        .argument('<group>', 'its number, or "system"')
        .argument('<node>', `its name; "${anywhere}" takes back what was asked before: the placement decides`),
    ),
  ).action((group: string, node: string, options: TransferOptions) => transfer(group, node, options));
}

async function transfer(which: string, node: string, options: TransferOptions): Promise<void> {
  const urls = parseUrls(options.url);
  const group = which === 'system' ? 0 : Number(which);
  if (which !== 'system' && !/^\d+$/.test(which))
    throw new CommandError(`"${which}" is no group: a number, or "system"`, ExitCode.usage);
  const path = `/api/cluster/groups/${group}/primary`;
  if (node === anywhere) {
    await askAny(urls, (url) => callApi(url, 'DELETE', path, { timeoutMs: 10_000 }));
    return void process.stdout.write(`group ${which} is led by whoever the placement says\n`);
  }
  await askAny(urls, (url) => callApi(url, 'PUT', path, { body: { node }, timeoutMs: 10_000 }));
  if (!options.wait) return void process.stdout.write(`group ${which} is to be led by ${node}\n`);
  let primary = '';
  const done = await untilTrue(options, async () => {
    const { groups } = await askAny(urls, fetchCluster);
    primary = groups.find(({ id }) => id === group)?.primary ?? '';
    return primary === node;
  });
  if (!done)
    throw new CommandError(
      `group ${which} is led by ${primary} after ${options.timeout} s, and goes to ${node} when that may lead and is in sync: see ` +
        `'understudy status'; 'understudy transfer ${which} ${anywhere}' takes the wish back`,
    );
  process.stdout.write(`group ${which} is led by ${node}\n`);
}
