/**
 * A cluster on this machine: how many nodes, where each listens, what all are told. It is kept in DIR/cluster.json, so that
 * `cluster --start nI --data DIR` needs no more.
 *
 *   DIR/cluster.json     this plan
 *   DIR/coordinator/     the coordinator's map
 *   DIR/nI/              node I: its journal; `pid`: its process; `log`: what it says (`log.1`: before that)
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatEndpoint, parseEndpoint, shiftEndpoint } from '../../config/endpoint.js';
import { type RawSettings, readSettings } from '../../config/settings.js';
import { CommandError, ExitCode } from '../fail.js';

const nodesMax = 31;

export interface ClusterPlan {
  nodes: number;
  /** Of n1; nI listens I-1 ports further. HTTP may be `off`. */
  amqp: string;
  http: string;
  cluster: string;
  /** Over TLS, likewise; left out: not at all. */
  amqps?: string | undefined;
  https?: string | undefined;
  /** Names of nodes that are to be primary of nothing. */
  followers: string[];
  /** Settings that all nodes share. */
  settings: RawSettings;
}

/** One node of the plan. */
export interface NodePlan {
  name: string;
  folder: string;
  amqp: string;
  http: string;
  /** False: a follower. */
  leads: boolean;
  /** Arguments of `understudy serve`. */
  arguments: string[];
}

/** Checks the plan as a whole, before any node is started. Throws CommandError or ConfigError. */
export function planNodes(plan: ClusterPlan, data: string): NodePlan[] {
  if (!(Number.isInteger(plan.nodes) && plan.nodes >= 1 && plan.nodes <= nodesMax))
    throw new CommandError(`--nodes: a whole number from 1 to ${nodesMax} is needed`, ExitCode.usage);
  const nodes = Array.from({ length: plan.nodes }, (_, index) => planNode(plan, data, index));
  const stranger = plan.followers.find((name) => !nodes.some((node) => node.name === name));
  if (stranger !== undefined) throw new CommandError(`--followers: there is no node "${stranger}"`, ExitCode.usage);
  const inSyncMin = Number(plan.settings['min-in-sync'] ?? 1);
  if (inSyncMin > plan.nodes)
    throw new CommandError(`--min-in-sync: ${inSyncMin} is more than the ${plan.nodes} nodes`, ExitCode.usage);
  return nodes;
}

function planNode(plan: ClusterPlan, data: string, index: number): NodePlan {
  const name = `n${index + 1}`;
  const folder = join(data, name);
  const leads = !plan.followers.includes(name);
  const settings: Record<string, unknown> = {
    ...plan.settings,
    node: name,
    data: folder,
    amqp: shifted('amqp', plan.amqp, index),
    http: shifted('http', plan.http, index),
    cluster: shifted('cluster', plan.cluster, index),
    ...(plan.amqps === undefined ? {} : { amqps: shifted('amqps', plan.amqps, index) }),
    ...(plan.https === undefined ? {} : { https: shifted('https', plan.https, index) }),
    lead: leads,
    coordinator: `local:${join(data, 'coordinator')}`,
  };
  readSettings(settings);
  return {
    name,
    folder,
    amqp: settings['amqp'] as string,
    http: settings['http'] as string,
    leads,
    arguments: Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, String(value)]),
  };
}

function shifted(option: string, text: string, index: number): string {
  if (option !== 'cluster' && text === 'off') return text;
  try {
    return formatEndpoint(shiftEndpoint(parseEndpoint(text), index));
  } catch (error) {
    throw new CommandError(`--${option}: ${(error as Error).message}`, ExitCode.usage);
  }
}

export async function savePlan(plan: ClusterPlan, data: string): Promise<void> {
  await mkdir(data, { recursive: true });
  const path = join(data, 'cluster.json');
  await writeFile(`${path}.part`, `${JSON.stringify(plan, undefined, 2)}\n`);
  await rename(`${path}.part`, path);
}

/** The plan of an earlier `understudy cluster` in this folder. Throws CommandError if there is none. */
export async function loadPlan(data: string): Promise<ClusterPlan> {
  const path = join(data, 'cluster.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ClusterPlan;
  } catch (error) {
    throw new CommandError(
      `${data} holds no cluster that was started by "understudy cluster": ${(error as Error).message}`,
    );
  }
}
