import { Command } from 'commander';
import { callApi } from './api-client.js';
import { CommandError, ExitCode } from './fail.js';
import { addUrlOption, askAny, parseUrls } from './node-urls.js';
import { formatTable } from './table.js';

interface CommonOptions {
  url: string;
  vhost: string;
}

interface SetOptions extends CommonOptions {
  priority: string;
  applyTo: string;
}

interface PolicyView {
  name: string;
  pattern: string;
  priority: number;
  'apply-to': string;
  definition: Record<string, unknown>;
}

/** A change waits for every node that is ready. */
const changeTimeoutMs = 35_000;

/** `understudy policy set|list|clear`: settings for queues and exchanges by name. */
export function policyCommand(): Command {
  return commandOf('policies', 'policy', 'settings for queues and exchanges whose names match a pattern', 'all');
}

/** `understudy operator-policy set|list|clear`: limits for queues that policies and queues' own arguments can only make lower. */
export function operatorPolicyCommand(): Command {
  const what = 'limits of queues whose names match a pattern, whatever policies and their arguments say';
  return commandOf('operator-policies', 'operator-policy', what, 'queues');
}

function commandOf(collection: string, name: string, description: string, applyTo: string): Command {
  const policy = new Command(name).description(description);
  common(policy.command('set <name> <pattern> <definition...>'))
    .description('set a policy: definition is key=value ..., or one JSON object')
    .option('--priority <number>', 'the highest of those that match applies', '0')
    .option('--apply-to <kind>', 'queues, exchanges or all', applyTo)
    .action((name: string, pattern: string, definition: string[], options: SetOptions) =>
      setPolicy(pathOf(collection, options, name), pattern, definition, options),
    );
  common(policy.command('list'))
    .description('show the policies of a vhost')
    .option('--json', 'as the HTTP API gives them')
    .action((options: CommonOptions & { json?: boolean }) => listPolicies(pathOf(collection, options), options));
  common(policy.command('clear <name>'))
    .description('remove a policy')
    .action((name: string, options: CommonOptions) => clearPolicy(pathOf(collection, options, name), options));
  return policy;
}

function common(command: Command): Command {
  return addUrlOption(command.option('--vhost <vhost>', 'the vhost', '/'));
}

function ask(options: CommonOptions, request: (url: URL) => Promise<unknown>): Promise<unknown> {
  return askAny(parseUrls(options.url), request);
}

function pathOf(collection: string, { vhost }: CommonOptions, name?: string): string {
  const path = `/api/${collection}/${encodeURIComponent(vhost)}`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

async function setPolicy(
  path: string,
  pattern: string,
  written: readonly string[],
  options: SetOptions,
): Promise<void> {
  const priority = Number(options.priority);
  if (!Number.isInteger(priority))
    throw new CommandError(`--priority: "${options.priority}" is no integer`, ExitCode.usage);
  const body = { pattern, priority, 'apply-to': options.applyTo, definition: readDefinition(written) };
  await ask(options, (url) => callApi(url, 'PUT', path, { body, timeoutMs: changeTimeoutMs }));
}

async function listPolicies(path: string, options: CommonOptions & { json?: boolean }): Promise<void> {
  const policies = (await ask(options, (url) => callApi(url, 'GET', path))) as PolicyView[];
  process.stdout.write(`${options.json === true ? JSON.stringify(policies, undefined, 2) : render(policies)}\n`);
}

async function clearPolicy(path: string, options: CommonOptions): Promise<void> {
  await ask(options, (url) => callApi(url, 'DELETE', path, { timeoutMs: changeTimeoutMs }));
}

function render(policies: readonly PolicyView[]): string {
  const rows = policies.map(({ name, pattern, priority, 'apply-to': applyTo, definition }) => [
    name,
    pattern,
    String(priority),
    applyTo,
    Object.entries(definition)
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(' '),
  ]);
  return formatTable([['name', 'pattern', 'priority', 'apply-to', 'definition'], ...rows]);
}

/** `key=value ...`, in which numbers, true and false are what they look like; or a JSON object. */
function readDefinition(written: readonly string[]): Record<string, unknown> {
  if (written.length === 1 && written[0]!.trimStart().startsWith('{')) return readObject(written[0]!);
  const definition: Record<string, unknown> = {};
  for (const pair of written) {
    const equals = pair.indexOf('=');
    if (equals < 1)
      throw new CommandError(`the definition is key=value ..., or a JSON object: "${pair}" is neither`, ExitCode.usage);
    definition[pair.slice(0, equals)] = readValue(pair.slice(equals + 1));
  }
  return definition;
}

function readObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new CommandError(`the definition is no JSON: ${(error as Error).message}`, ExitCode.usage);
  }
}

function readValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
