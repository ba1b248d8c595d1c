/**
 * Faults by chance, one after the other, for as long as is wanted: nodes and members of etcd that are killed and frozen, cables that are
 * cut, planned moves, clients that misbehave; while numbered messages go through all nodes. After each, everything is well again.
 */
import { callApi } from '../../src/cli/api-client.js';
import { misbehave } from './attacks/misbehave.js';
import { sleep } from './cluster-processes.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { Hosts } from './hosts.js';
import type { NodeProcess } from './node-process.js';
import type { NumberedRun } from './numbered-run.js';
import type { Seeded } from './seeded.js';

const wholeMsMax = 60_000;
/** Confirms that every round must bring, by which all go on. */
const confirmsEach = 100;

interface Stage extends EtcdCluster {
  hosts: Hosts;
  random: Seeded;
}

/** What was done, in words; resolves when it is over and mended, but the cluster need not be whole yet. */
type Fault = (stage: Stage) => Promise<string>;

const oneOf = <T>(random: Seeded, list: readonly T[]): T => list[random.int(list.length)]!;
const anyNode = ({ cluster, random }: Stage): NodeProcess => oneOf(random, cluster.nodes);

const faults: readonly Fault[] = [
  async (stage) => {
    const nodes = stage.random.some(stage.cluster.nodes, stage.random.chance(25) ? 2 : 1);
    await Promise.all(nodes.map((node) => node.kill()));
    await sleep(stage.random.int(1500));
    await Promise.all(nodes.map((node) => node.start()));
    return `killed ${nodes.map(({ name }) => name).join(', ')}`;
  },
  async (stage) => {
    const node = anyNode(stage);
    const ms = stage.random.int(3000);
    node.freeze();
    await sleep(ms);
    node.thaw();
    return `froze ${node.name} for ${ms} ms`;
  },
  async (stage) => {
    const node = anyNode(stage);
    const others = stage.cluster.nodes.filter((other) => other !== node).map(({ host }) => host);
    const etcdHosts = [0, 1, 2].map((member) => stage.etcd.hostOf(member));
    const kind = oneOf(stage.random, ['from the others', 'from all', 'not heard', 'deaf', 'from etcd'] as const);
    if (kind === 'not heard') stage.hosts.cutOneWay([node.host], others);
    else if (kind === 'deaf') stage.hosts.cutOneWay(others, [node.host]);
    else if (kind === 'from etcd') stage.hosts.cut([node.host], etcdHosts);
    else stage.hosts.cut([node.host], kind === 'from all' ? [...others, ...etcdHosts] : others);
    const ms = stage.random.int(4000);
    await sleep(ms);
    stage.hosts.heal();
    return `cut ${node.name} off (${kind}) for ${ms} ms`;
  },
  async (stage) => {
    const member = stage.random.int(stage.etcd.count);
    const ms = stage.random.int(3000);
    if (stage.random.chance(50)) {
      await stage.etcd.kill(member);
      await sleep(ms);
      await stage.etcd.start(member);
      return `killed member ${member} of etcd for ${ms} ms`;
    }
    stage.etcd.freeze(member);
    await sleep(ms);
    stage.etcd.thaw(member);
    return `froze member ${member} of etcd for ${ms} ms`;
  },
  async (stage) => {
    const node = anyNode(stage);
    const path = `/api/cluster/nodes/${node.name}/drain`;
    await callApi(node.httpUrl, 'PUT', path, { body: {} });
    await sleep(stage.random.int(1000));
    await callApi(node.httpUrl, 'DELETE', path);
    return `drained ${node.name}`;
  },
];

/** Misbehaving clients come all the time. @param rounds before each, to go on or not @param told of each round, in words */
export async function soak(
  stage: Stage,
  run: NumberedRun,
  goesOn: (round: number) => boolean,
  told: (text: string) => void,
): Promise<void> {
  for (let round = 0; goesOn(round); round++) {
    const from = Date.now();
    // Each kind in turn, so that a short run has all.
    const fault = faults[round % faults.length]!;
    const bad = anyNode(stage);
    const [what] = await Promise.all([fault(stage), misbehave(bad.amqpAddress, 8, stage.random.int(2 ** 30))]);
    await stage.cluster.untilComplete(wholeMsMax);
    await run.more(confirmsEach);
    told(`${what}; over after ${Date.now() - from} ms, longest gap ${run.longestGap(from)} ms`);
  }
}
