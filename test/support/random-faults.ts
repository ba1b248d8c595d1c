/** Rounds of faults by chance: one node or several at once, killed or frozen, back after a while that is theirs alone. */
import { type ClusterProcesses, sleep } from './cluster-processes.js';
import type { NodeProcess } from './node-process.js';
import type { Seeded } from './seeded.js';

/** What happens to one node in a round. Times in milliseconds. */
interface Fault {
  node: NodeProcess;
  /** From the round's begin. */
  afterMs: number;
  kind: 'kill' | 'freeze' | 'freeze and kill';
  /** Until it is started, or goes on. */
  forMs: number;
}

export interface Round {
  faults: readonly Fault[];
  /** Whether the cluster is whole again before the next round begins. */
  calm: boolean;
}

export function drawRound(cluster: ClusterProcesses, random: Seeded): Round {
  const size = random.int(100);
  const victims = random.some(cluster.nodes, size < 55 ? 1 : size < 85 ? 2 : 3);
  const faults = victims.map((node): Fault => {
    const kinds = ['kill', 'kill', 'freeze', 'freeze', 'freeze and kill'] as const;
    const kind = kinds[random.int(kinds.length)]!;
    return { node, kind, afterMs: random.int(1000), forMs: random.int(random.chance(30) ? 5000 : 1500) };
  });
  return { faults, calm: random.chance(60) };
}

export function describeRound({ faults, calm }: Round): string {
  const parts = faults.map(({ node, kind, afterMs, forMs }) => `${kind} ${node.name} at ${afterMs} for ${forMs}`);
  return `${parts.join(', ')}${calm ? '' : ', no pause'}`;
}

/** Resolves when every node runs again. */
export async function runRound(round: Round): Promise<void> {
  await Promise.all(round.faults.map(runFault));
}

async function runFault({ node, kind, afterMs, forMs }: Fault): Promise<void> {
  await sleep(afterMs);
  if (kind === 'kill') await node.kill();
  else node.freeze();
  await sleep(forMs);
  if (kind === 'freeze') {
    node.thaw();
    return;
  }
  await node.kill();
  await node.start();
}
