import { resolve } from 'node:path';
import { Command } from 'commander';
import type { RawSettings } from '../config/settings.js';
import type { ClusterPlan, NodePlan } from './cluster/plan.js';
import { CommandError, ExitCode } from './fail.js';
import { addSharedOptions, rawSettings, sharedSettings } from './node-options.js';

interface ClusterOptions {
  nodes: string;
  amqp: string;
  http: string;
  cluster: string;
  amqps?: string;
  https?: string;
  data: string;
  followers: string;
  restart?: boolean;
  start?: string;
  stop?: boolean;
}

/** `understudy cluster`: several brokers on this machine. */
export function clusterCommand(): Command {
  const command = new Command('cluster')
    .description('run a cluster of brokers on this machine, each in a process of its own')
    .option('--nodes <n>', 'brokers n1, n2, ...', '3')
    .option('--amqp <host:port>', 'AMQP address of n1; nI listens I-1 ports further', '127.0.0.1:5672')
    .option('--http <host:port>', 'HTTP address of n1, likewise, or off', '127.0.0.1:15672')
    .option('--amqps <host:port>', 'address of n1 for AMQP over TLS, likewise (default: none)')
    .option('--https <host:port>', 'address of n1 for HTTP over TLS, likewise (default: none)')
    .option('--cluster <host:port>', 'address of n1 for the other brokers, likewise', '127.0.0.1:25672')
    .option('--data <dir>', 'folder for all of them', './understudy-data/cluster')
    .option('--followers <node,..>', 'nodes that are primary of nothing', '')
    .option('--restart', 'start a node again that has ended and was not stopped')
    .option('--start <node>', 'bring back one node of the cluster in --data, and return when it serves')
    .option('--stop', 'stop all nodes of the cluster in --data');
  return addSharedOptions(command).action(async (options: ClusterOptions & RawSettings) => {
    const data = resolve(options.data);
    if (options.start !== undefined) await startOne(options.start, data);
    else if (options.stop === true) await stopAll(data);
    else await runAll(options, data);
  });
}

async function runAll(options: ClusterOptions & RawSettings, data: string): Promise<void> {
  const [{ planNodes, loadPlan, savePlan }, { refuseRunning }] = await Promise.all([
    import('./cluster/plan.js'),
    import('./cluster/supervisor.js'),
  ]);
  const { amqp, http, cluster, amqps, https } = options;
  const settings = withWholePaths(sharedSettings(rawSettings(options)));
  const followers = options.followers.split(',').filter((name) => name !== '');
  const plan: ClusterPlan = {
    nodes: Number(options.nodes),
    amqp,
    http,
    cluster,
    amqps,
    https,
    followers,
    settings,
  };
  const plans = planNodes(plan, data);
  if (plans.some((node) => node.amqp.endsWith(':0')) && plans.length > 1)
    throw new CommandError('--amqp: a port other than 0 is needed', ExitCode.usage);
  // Those of the plan that is about to be replaced as well: without it nobody could stop them.
  const earlier = await loadPlan(data).then(
    (known) => planNodes(known, data),
    () => [],
  );
  await refuseRunning([...earlier, ...plans]);
  await savePlan(plan, data);
  await supervise(plans, data, options.restart === true);
}

/** Nodes may be brought back from another folder. */
function withWholePaths(settings: RawSettings): RawSettings {
  const files = ['tls-certificate', 'tls-key', 'tls-ca'].filter((name) => settings[name] !== undefined);
  return { ...settings, ...Object.fromEntries(files.map((name) => [name, resolve(String(settings[name]))])) };
}

async function supervise(plans: readonly NodePlan[], data: string, restart: boolean): Promise<void> {
  const [{ Supervisor }, { LiveTable }] = await Promise.all([
    import('./cluster/supervisor.js'),
    import('./cluster/live-table.js'),
  ]);
  const urls = plans.filter((plan) => plan.http !== 'off').map((plan) => new URL(`http://${plan.http}`));
  const table = new LiveTable(urls, process.stdout);
  const supervisor = new Supervisor({
    plans,
    restart,
    report: (node, what) => table.note(`${node} ${what}`),
    stopped: () => {
      table.note('all nodes were stopped');
      table.close();
      process.exit(0);
    },
  });
  const stop = (): void => {
    process.once('SIGINT', () => process.exit(ExitCode.failed));
    table.close();
    supervisor.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`understudy: ${String(error)}\n`);
        process.exit(ExitCode.failed);
      },
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.once('SIGHUP', stop);
  process.stdout.on('error', () => {});
  await supervisor.start();
  process.stdout.write(`ready nodes=${plans.length} amqp=${plans.map((plan) => plan.amqp).join(',')} data=${data}\n`);
  await table.open();
}

async function startOne(name: string, data: string): Promise<void> {
  const [{ loadPlan, planNodes }, { NodeProcess }] = await Promise.all([
    import('./cluster/plan.js'),
    import('./cluster/node-process.js'),
  ]);
  const plans = planNodes(await loadPlan(data), data);
  const plan = plans.find((candidate) => candidate.name === name);
  if (plan === undefined)
    throw new CommandError(`there is no node ${name} in ${data}: n1 to n${plans.length}`, ExitCode.usage);
  const node = await NodeProcess.start(plan);
  await node.ready;
  process.stdout.write(`ready node=${name} amqp=${plan.amqp} pid=${node.pid}\n`);
  node.release();
}

async function stopAll(data: string): Promise<void> {
  const [{ loadPlan, planNodes }, { stopNodes }] = await Promise.all([
    import('./cluster/plan.js'),
    import('./cluster/supervisor.js'),
  ]);
  const count = await stopNodes(planNodes(await loadPlan(data), data));
  process.stdout.write(`stopped ${count} nodes\n`);
}
