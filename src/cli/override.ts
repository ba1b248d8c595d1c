import { Command } from 'commander';
import type { OverrideResult } from '../cluster/waiting/override.js';
import { describeGroup } from '../cluster/waiting/texts.js';
import { ApiError, callApi, type ClusterView, fetchCluster } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';

interface OverrideOptions {
  url: string;
  node?: string;
  acceptLoss?: boolean;
}

/** An override waits for a lease, which may be long. */
const timeoutMs = 120_000;

/** `understudy override`: an operator does not wait for the nodes that have everything. */
export function overrideCommand(): Command {
  return addUrlOption(
    new Command('override')
      .description('make a node primary of a group that waits for members of its in-sync set; what it lacks is lost')
      .argument(
        '<group>',
        'its number, "system", or "all": every group that waits; "coordinator": do not wait for reports after it was put back',
      ),
  )
    .option('--node <name>', 'who is to lead it (default: the node that has most of it)')
    .option('--accept-loss', 'do it; without this it is only said what may be lost')
    .action((group: string, options: OverrideOptions) => override(group, options));
}

async function override(which: string, options: OverrideOptions): Promise<void> {
  const urls = parseUrls(options.url);
  if (which === 'coordinator') return await believeCoordinator(urls, options);
  const view = await askAny(urls, fetchCluster);
  const groups = chosen(which, view);
  const body = {
    acceptLoss: options.acceptLoss === true,
    ...(options.node === undefined ? {} : { node: options.node }),
  };
  const refused: string[] = [];
  await Promise.all(
    groups.map(async (group) => {
      try {
        const path = `/api/cluster/groups/${group}/override`;
        const result = (await askAny(urls, (url) => callApi(url, 'POST', path, { body, timeoutMs }))) as OverrideResult;
        process.stdout.write(`${describeGroup(group)}: ${result.primary} leads it from epoch ${result.epoch}\n`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refused.push(error.message);
      }
    }),
  );
  if (refused.length === 0) return;
  const hint = options.acceptLoss === true ? '' : ' (--accept-loss)';
  throw new CommandError(`${refused.length} of ${groups.length} groups: ${refused[0]}${hint}`);
}

/** Does not wait for the nodes that could say what the coordinator has forgotten. */
async function believeCoordinator(urls: readonly URL[], { acceptLoss = false }: OverrideOptions): Promise<void> {
  const path = '/api/cluster/coordinator/override';
  try {
    await askAny(urls, (url) => callApi(url, 'POST', path, { body: { acceptLoss } }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandError(`${error.message}${acceptLoss ? '' : ' (--accept-loss)'}`);
  }
  process.stdout.write('the coordinator is believed with what was reported\n');
}

function chosen(which: string, view: ClusterView): number[] {
  if (which === 'all') {
    const waiting = view.groups.filter((group) => group.waiting !== undefined).map((group) => group.id);
    if (waiting.length === 0) throw new CommandError('no group waits for anybody');
    return waiting;
  }
  if (which === 'system') return [0];
  if (!/^\d+$/.test(which))
    throw new CommandError(`"${which}" is no group: a number, "system" or "all"`, ExitCode.usage);
  return [Number(which)];
}
