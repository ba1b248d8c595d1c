import { Command } from 'commander';
import { parseDuration } from '../config/quantities.js';
import { type ApiError, type ClusterView, fetchCluster, isComplete } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
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
  return new Command('status')
    .description('show members and groups of a cluster')
    .option('--url <url[,url]>', 'HTTP addresses of nodes: the first that answers is asked', 'http://127.0.0.1:15672')
    .option('--json', 'as the HTTP API gives it')
    .option('--wait', 'return when every member is ready and every group has its replicas')
    .option('--timeout <time>', 'with --wait: give up after this; 0: never', '0')
    .action((options: StatusOptions) => status(options));
}

async function status(options: StatusOptions): Promise<void> {
  const urls = options.url.split(',').map(parseUrl);
  const timeoutMs = duration(options.timeout);
  const view = options.wait === true ? await untilComplete(urls, timeoutMs) : await askAny(urls);
  process.stdout.write(`${options.json === true ? JSON.stringify(view, undefined, 2) : renderStatus(view)}\n`);
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new CommandError(`--timeout: ${(error as Error).message}`, ExitCode.usage);
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CommandError(`--url: "${text}" is no URL such as http://127.0.0.1:15672`, ExitCode.usage);
}

/** The first answer; else the first refusal. */
async function askAny(urls: readonly URL[]): Promise<ClusterView> {
  let failure: unknown;
  for (const url of urls) {
    try {
      return await fetchCluster(url);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

async function untilComplete(urls: readonly URL[], timeoutMs: number): Promise<ClusterView> {
  const deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (;;) {
    let lacking: string;
    try {
      const view = await askAny(urls);
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
