/** The option `--url` of commands that ask a node over HTTP. */
import type { Command } from 'commander';
import { ApiError } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';

export function addUrlOption(command: Command): Command {
  return command.option(
    '--url <url[,url]>',
    'HTTP addresses of nodes: the first that answers is asked',
    'http://127.0.0.1:15672',
  );
}

/** Throws CommandError. */
export function parseUrls(list: string): URL[] {
  return list.split(',').map((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
    throw new CommandError(`--url: "${text}" is no URL such as http://127.0.0.1:15672`, ExitCode.usage);
  });
}

/** The answer of the first node that answers, be it a refusal; else why the first did not. */
export async function askAny<T>(urls: readonly URL[], ask: (url: URL) => Promise<T>): Promise<T> {
  let failure: unknown;
  for (const url of urls) {
    try {
      return await ask(url);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.passing) throw error;
      failure ??= error;
    }
  }
  throw failure;
}
