import { Command } from 'commander';
import { callApi } from './api-client.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';

/** It waits for leases, which may be long. */
const timeoutMs = 120_000;

/** `understudy forget`: a node that will not come back. */
export function forgetCommand(): Command {
  return addUrlOption(
    new Command('forget')
      .description('remove a node that is down, and will not come back with its data, from the cluster')
      .argument('<node>', 'its name'),
  ).action(async (node: string, { url }: { url: string }) => {
    const path = `/api/cluster/nodes/${encodeURIComponent(node)}`;
    await askAny(parseUrls(url), (each) => callApi(each, 'DELETE', path, { timeoutMs }));
    process.stdout.write(`${node} is forgotten\n`);
  });
}
