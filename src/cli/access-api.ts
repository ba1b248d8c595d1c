/** What the commands for users, vhosts and permissions have in common. */
import type { Command } from 'commander';
import { callApi } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { formatTable } from './table.js';

export interface ApiOptions {
  url: string;
  json?: boolean;
}

/** A change waits for every node that is ready. */
const changeTimeoutMs = 35_000;

export function withUrl(command: Command): Command {
  return addUrlOption(command);
}

export function withJson(command: Command): Command {
  return command.option('--json', 'as the HTTP API gives them');
}

/** @param path its parts, encoded here */
export async function api(
  { url }: ApiOptions,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: readonly string[],
  body?: object,
): Promise<unknown> {
  const text = `/api/${path.map(encodeURIComponent).join('/')}`;
  const timeoutMs = changeTimeoutMs;
  return askAny(parseUrls(url), (each) =>
    callApi(each, method, text, body === undefined ? { timeoutMs } : { body, timeoutMs }),
  );
}

/** The same for whom the answer says nothing. */
export async function change(...request: Parameters<typeof api>): Promise<void> {
  await api(...request);
}

export function print(options: ApiOptions, found: unknown, rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${options.json === true ? JSON.stringify(found, undefined, 2) : formatTable(rows)}\n`);
}

/** `name=value ...`: limits, each a number or none. Throws CommandError. */
export function readLimits(written: readonly string[]): [name: string, value: number | undefined][] {
  return written.map((pair) => {
    const [name = '', value = ''] = pair.split('=', 2);
    if (value === 'none') return [name, undefined];
    if (name === '' || !/^\d+$/.test(value))
      throw new CommandError(`a limit is name=number, or name=none: "${pair}" is neither`, ExitCode.usage);
    return [name, Number(value)];
  });
}

/** Sets limits, or shows those that there are. */
export async function limits(
  of: 'vhost' | 'user',
  name: string,
  written: readonly string[],
  options: ApiOptions,
): Promise<void> {
  for (const [limit, value] of readLimits(written)) {
    const path = [`${of}-limits`, name, limit];
    if (value === undefined) await api(options, 'DELETE', path);
    else await api(options, 'PUT', path, { value });
  }
  if (written.length > 0) return;
  const found = (await api(options, 'GET', [`${of}-limits`, name])) as { value: Record<string, number> }[];
  const rows = found.flatMap(({ value }) => Object.entries(value).map(([limit, number]) => [limit, String(number)]));
  print(options, found, [['limit', 'value'], ...rows]);
}
