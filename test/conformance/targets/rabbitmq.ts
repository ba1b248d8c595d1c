/**
 * RabbitMQ as Debian packages it (`apt-get install rabbitmq-server`; 3.10 in Debian 12), in the foreground on ports of 127.0.0.1 that are
 * free, with a folder of its own. Nothing of an installed service is used or touched.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithTest } from '../../support/children.js';
import { freePorts } from '../../support/free-ports.js';
import { within } from '../../support/within.js';
import type { Target } from './target.js';

const script = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const firstPort = 30_000;
const startMsMax = 120_000;
const endMsMax = 30_000;
const plugins = '[rabbitmq_management,rabbitmq_consistent_hash_exchange,rabbitmq_random_exchange].';

export async function startRabbitmq(): Promise<Target> {
  if (!existsSync(script)) throw new Error(`there is no ${script}: apt-get install rabbitmq-server`);
  const folder = await mkdtemp(join(tmpdir(), 'understudy-rabbitmq-'));
  const [amqp, names, nodes, http] = (await freePorts(firstPort, 4)) as [number, number, number, number];
  await writeFile(join(folder, 'plugins'), plugins);
  await writeFile(join(folder, 'rabbitmq.conf'), `management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = ${http}\n`);
  const env = environment(folder, { amqp, names, nodes });
  // Erlang's name service would outlive the broker that starts it, so it is started here.
  const epmd = run('epmd', ['-port', String(names), '-address', '127.0.0.1'], env);
  const server = run(script, [], env);
  const end = async (): Promise<void> => {
    for (const child of [server, epmd]) await terminate(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await within(startMsMax, `RabbitMQ is up, see ${folder}`, started(server, folder));
  } catch (error) {
    for (const child of [server, epmd]) await terminate(child);
    throw error;
  }
  return { name: 'RabbitMQ', port: amqp, httpPort: http, isOurs: false, [Symbol.asyncDispose]: end };
}

function environment(folder: string, ports: { amqp: number; names: number; nodes: number }): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: folder,
    ERL_EPMD_PORT: String(ports.names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
    RABBITMQ_NODENAME: 'conformance@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_DIST_PORT: String(ports.nodes),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
}

/** In a group of its own: the script's shell starts the broker's own process. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  endWithTest(child);
  return child;
}

/** Resolves when it has said so. */
function started(server: ChildProcess, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (bytes: Buffer): void => {
      said = (said + bytes.toString()).slice(-10_000);
      if (said.includes('Server startup complete')) resolve();
    };
    server.stdout!.on('data', hear);
    server.stderr!.on('data', hear);
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`RabbitMQ ended (${code}), see ${folder}: ${said}`)));
  });
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  process.kill(-child.pid, 'SIGTERM');
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), endMsMax / 2);
  await within(endMsMax, `process ${child.pid} ends`, ended).finally(() => clearTimeout(late));
}
