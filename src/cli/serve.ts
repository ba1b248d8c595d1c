import { Command } from 'commander';
import type { Logger } from '../base/logger.js';
import { formatEndpoint } from '../config/endpoint.js';
import { type NodeSettings, type RawSettings, readSettings } from '../config/settings.js';
import type { Node } from '../node.js';
import { ExitCode } from './fail.js';
import { inlineMore } from '../process/optimizer.js';
import { addNodeOptions, rawSettings } from './node-options.js';

/** `understudy serve`: one node, in the foreground. */
export function serveCommand(): Command {
  const command = new Command('serve').description('run one broker, alone or as a node of a cluster');
  addNodeOptions(command).option('--config <file>', 'settings in YAML, under the names of the options');
  return command.action(async ({ config, ...options }: { config?: string } & RawSettings) => {
    let file: RawSettings = {};
    if (config !== undefined) {
      const { readSettingsFile } = await import('../config/file.js');
      file = await readSettingsFile(config);
    }
    await serve(readSettings(rawSettings(options), file));
  });
}

/** Resolves when the node serves; the process ends by a signal or a failure. Rejects if it cannot start. */
async function serve(settings: NodeSettings): Promise<void> {
  inlineMore();
  const { processLogger } = await import('../process/logger.js');
  const logger = processLogger(settings.logLevel, { broker: settings.node });
  // Nobody may read our "ready" line any more.
  process.stdout.on('error', () => {});
  const started: { node?: Node } = {};
  const stop = (signal: string): void => {
    process.once(signal, () => process.exit(ExitCode.failed));
    logger.info('stopping', { signal });
    // Nothing was promised to anybody yet.
    if (started.node === undefined) process.exit(0);
    started.node.stop().then(
      () => process.exit(0),
      (error: unknown) => die(logger, 'the stop was not clean', error),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  // Certificates were replaced. Where there are none the signal ends the process, as ever: its terminal is gone.
  if (settings.tls !== null || settings.links?.tls) process.on('SIGHUP', () => void started.node?.reloadCertificates());
  process.on('uncaughtException', (error) => die(logger, 'a fault in the broker', error));
  const node = await startNode(settings, logger);
  started.node = node;
  process.stdout.write(`ready node=${node.name}${endpointsOf(node)} pid=${process.pid}\n`);
}

function endpointsOf({ amqp, http, amqps, https }: Node): string {
  return Object.entries({ amqp, http, amqps, https })
    .map(([name, endpoint]) => (endpoint === null ? '' : ` ${name}=${formatEndpoint(endpoint)}`))
    .join('');
}

async function startNode(settings: NodeSettings, logger: Logger): Promise<Node> {
  const [{ Node: Started }, { nodeOptions }] = await Promise.all([import('../node.js'), import('./node-settings.js')]);
  // Ended at once, by exit: after this nothing may be acknowledged, and the others take over when the process is gone.
  return Started.start(await nodeOptions(settings, logger), (reason) => die(logger, reason));
}

function die(logger: Logger, what: string, error?: unknown): void {
  const fields =
    error === undefined ? {} : { error: error instanceof Error ? (error.stack ?? String(error)) : String(error) };
  logger.error(`${what}: the node ends`, fields);
  process.exit(ExitCode.failed);
}
