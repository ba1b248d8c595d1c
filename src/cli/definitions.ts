import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Command } from 'commander';
import { type ApiOptions, withUrl } from './access-api.js';
import { streamApi } from './api-client.js';
import { CommandError } from './fail.js';
import { askAny, parseUrls } from './node-urls.js';

type Options = ApiOptions & { vhost?: string };

/** `understudy definitions export|import`: everything that is declared, in RabbitMQ's JSON. */
export function definitionsCommand(): Command {
  const definitions = new Command('definitions').description(
    'users, vhosts, permissions, policies, exchanges, queues and bindings, in the JSON that RabbitMQ has for them',
  );
  withUrl(definitions.command('export [file]'))
    .description('write all that is declared into a file, or to standard output; it has the hashes of passwords in it')
    .option('--vhost <vhost>', 'only what is in this vhost')
    .action((file: string | undefined, options: Options) => exportTo(file, options));
  withUrl(definitions.command('import <file>'))
    .description('declare what a file says, and is not there yet; nothing is changed if something is wrong with it')
    .option('--vhost <vhost>', 'into this vhost: the file is of one vhost, and names none')
    .action((file: string, options: Options) => importFrom(file, options));
  return definitions;
}

function pathOf({ vhost }: Options): string {
  return vhost === undefined ? '/api/definitions' : `/api/definitions/${encodeURIComponent(vhost)}`;
}

async function exportTo(file: string | undefined, options: Options): Promise<void> {
  await askAny(parseUrls(options.url), async (url) => {
    const response = await streamApi(url, 'GET', pathOf(options));
    if (file === undefined) await print(response);
    else await save(response, file);
  });
}

async function print(response: Response): Promise<void> {
  for await (const part of partsOf(response))
    if (!process.stdout.write(part)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}

/** There all of it, or not at all; for nobody else to read. */
async function save(response: Response, file: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    for await (const part of partsOf(response)) await handle.write(part);
    await handle.sync();
    await handle.close();
    await rename(unfinished, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function* partsOf(response: Response): AsyncGenerator<Uint8Array, void> {
  if (response.body === null) return;
  try {
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) yield part;
  } catch (error) {
    throw new CommandError(`the definitions were cut off: ${(error as Error).message}`);
  }
}

async function importFrom(file: string, options: Options): Promise<void> {
  // Before anybody is asked.
  const handle = await open(file);
  await handle.close();
  await askAny(parseUrls(options.url), (url) => streamApi(url, 'POST', pathOf(options), createReadStream(file)));
}
