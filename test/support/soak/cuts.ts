/** Links that are cut: packets are lost without a word, in one direction or both. */
import { sleep } from '../cluster-processes.js';
import type { Host } from '../hosts.js';
import type { NodeProcess } from '../node-process.js';
import type { Seeded } from '../seeded.js';
import { drawTime, type Fault } from './fault.js';
import type { SoakWorld } from './world.js';

interface Cut {
  what: string;
  make(): void;
}

const hostsOf = (nodes: readonly NodeProcess[]): Host[] => nodes.map(({ host }) => host);

export function drawCut(world: SoakWorld, random: Seeded): Fault {
  const { hosts, etcdHosts, nodes } = world;
  const [node, other] = random.some(nodes, 2) as [NodeProcess, NodeProcess];
  const self = [node.host];
  const rest = hostsOf(world.othersThan(node));
  const cuts: Cut[] = [
    { what: `${node.name} from all`, make: () => hosts.cut(self, [...rest, ...etcdHosts]) },
    { what: `${node.name} from the brokers`, make: () => hosts.cut(self, rest) },
    { what: `${node.name} from etcd`, make: () => hosts.cut(self, etcdHosts) },
    { what: `from ${node.name} to the brokers`, make: () => hosts.cutOneWay(self, rest) },
    { what: `from the brokers to ${node.name}`, make: () => hosts.cutOneWay(rest, self) },
    { what: `${node.name} from ${other.name}`, make: () => hosts.cut(self, [other.host]) },
    { what: 'all brokers from etcd', make: () => hosts.cut(hostsOf(nodes), etcdHosts) },
    {
      what: 'one member of etcd from all',
      make: () => hosts.cut(etcdHosts.slice(0, 1), [...etcdHosts, ...hostsOf(nodes)]),
    },
  ];
  const { what, make } = cuts[random.int(cuts.length)]!;
  const forMs = drawTime(random);
  return {
    what: `cut ${what} for ${forMs}`,
    run: async () => {
      make();
      await sleep(forMs);
      hosts.heal();
    },
  };
}

export function drawFlapping(world: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(world.nodes, 1) as [NodeProcess];
  const rest = hostsOf(world.othersThan(node));
  const times = Array.from({ length: 6 }, () => ({ cutMs: random.int(600), wholeMs: random.int(300) }));
  return {
    what: `the cable of ${node.name} comes and goes ${times.length} times`,
    run: async () => {
      for (const { cutMs, wholeMs } of times) {
        world.hosts.cut([node.host], rest);
        await sleep(cutMs);
        world.hosts.heal();
        await sleep(wholeMs);
      }
    },
  };
}
