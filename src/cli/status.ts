import { Command } from 'commander';
import { parseDuration } from '../config/quantities.js';
import { type ApiError, type ClusterView, fetchCluster, isComplete } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { renderStatus, renderSummary } from './status/render.js';

interface StatusOptions {
  url: string;
  json?: boolean;
  wait?: boolean;
  timeout: string;
}

const pollMs = 100;

/** `understudy status`: what a node says of its cluster. */
export function statusCommand(): Command {
  return addUrlOption(new Command('status').description('show members and groups of a cluster'))
    .option('--json', 'as the HTTP API gives it')
    .option('--wait', 'return when every member is ready and every group has its replicas')
    .option('--timeout <time>', 'with --wait: give up after this; 0: never', '0')
    .action((options: StatusOptions) => status(options));
}

async function status(options: StatusOptions): Promise<void> {
  const urls = parseUrls(options.url);
  const timeoutMs = duration(options.timeout);
  const view = options.wait === true ? await untilComplete(urls, timeoutMs) : await askAny(urls, fetchCluster);
  process.stdout.write(`${options.json === true ? JSON.stringify(view, undefined, 2) : renderStatus(view)}\n`);
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new CommandError(`--timeout: ${(error as Error).message}`, ExitCode.usage);
  }
}

async function untilComplete(urls: readonly URL[], timeoutMs: number): Promise<ClusterView> {
  const deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (;;) {
    let lacking: string;
    try {
      const view = await askAny(urls, fetchCluster);
      if (isComplete(view)) return view;
      lacking = renderSummary(view);
    } catch (error) {
      if (!(error as ApiError).passing) throw error;
      lacking = (error as Error).message;
    }
    if (performance.now() > deadline) throw new CommandError(`not complete after ${timeoutMs} ms: ${lacking}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
