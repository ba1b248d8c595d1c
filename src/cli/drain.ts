import { Command } from 'commander';
import { callApi, type ClusterView, fetchCluster } from './api-client.js';
import { CommandError } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { addWaitOptions, untilTrue, type WaitOptions } from './wait.js';

interface DrainOptions extends WaitOptions {
  url: string;
}

/** `understudy drain`: before maintenance. Clients of other nodes notice nothing. */
export function drainCommand(): Command {
  return addWaitOptions(
    addUrlOption(
      new Command('drain')
        .description('have a node give away all that it leads; it leads nothing until it is revived or started again')
        .argument('<node>', 'its name'),
    ),
  ).action((node: string, options: DrainOptions) => drain(node, options));
}

export function reviveCommand(): Command {
  return addUrlOption(
    new Command('revive').description('let a node lead again that was drained').argument('<node>', 'its name'),
  ).action((node: string, options: DrainOptions) => revive(node, options));
}

async function drain(node: string, options: DrainOptions): Promise<void> {
  const urls = parseUrls(options.url);
  await askAny(urls, (url) => callApi(url, 'PUT', pathOf(node), { body: {}, timeoutMs: 10_000 }));
  if (!options.wait) return void process.stdout.write(`${node} is being drained\n`);
  let led: number[] = [];
  const done = await untilTrue(options, async () => {
    led = ledBy(node, await askAny(urls, fetchCluster));
    return led.length === 0;
  });
  if (!done)
    throw new CommandError(
      `${node} still leads ${led.length} groups after ${options.timeout} s: no other node is in sync with them and may lead; ` +
        `see 'understudy status', then wait, or 'understudy revive ${node}'`,
    );
  const { groups } = await askAny(urls, fetchCluster);
  const alone = groups.filter((group) => group.primary === node && group.size === 1).length;
  const rest =
    alone === 0
      ? ''
      : ` but ${alone} group${alone === 1 ? '' : 's'} on no other node, whose queues wait while it is down`;
  process.stdout.write(`${node} leads nothing${rest}\n`);
}

async function revive(node: string, options: DrainOptions): Promise<void> {
  await askAny(parseUrls(options.url), (url) => callApi(url, 'DELETE', pathOf(node), { timeoutMs: 10_000 }));
  process.stdout.write(`${node} may lead again\n`);
}

function pathOf(node: string): string {
  return `/api/cluster/nodes/${encodeURIComponent(node)}/drain`;
}

/** Of those that another could lead. */
function ledBy(node: string, view: ClusterView): number[] {
  return view.groups.filter((group) => group.primary === node && group.size !== 1).map((group) => group.id);
}
