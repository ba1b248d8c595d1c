/** What operators do, over the command line, with whatever node answers. */
import assert from 'node:assert/strict';
import { fetchCluster } from '../../../src/cli/api-client.js';
import { finished } from '../../integration/support/command.js';
import { sleep } from '../cluster-processes.js';
import type { NodeProcess } from '../node-process.js';
import type { Seeded } from '../seeded.js';
import { drawTime, type Fault } from './fault.js';
import type { SoakWorld } from './world.js';

const moveSecondsMax = 50;

/** Returns what the command said; throws if it failed. */
async function understudy({ nodes }: SoakWorld, ...words: string[]): Promise<string> {
  const urls = nodes.map(({ httpUrl }) => httpUrl.origin).join(',');
  const { code, stdout, stderr } = await finished([...words, '--url', urls]);
  if (code !== 0) throw new Error(`understudy ${words.join(' ')}: ${stderr}`);
  return stdout;
}

const patience = ['--timeout', String(moveSecondsMax)];

export function drawDrain(world: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(world.nodes, 1) as [NodeProcess];
  const forMs = drawTime(random);
  return {
    what: `drain ${node.name} for ${forMs}`,
    run: async () => {
      await understudy(world, 'drain', node.name, ...patience);
      await sleep(forMs);
      await understudy(world, 'revive', node.name);
    },
  };
}

export function drawDrainAndKill(world: SoakWorld, random: Seeded): Fault {
  const [drained, other] = random.some(world.mortals, 2) as [NodeProcess, NodeProcess];
  const victim = random.chance(50) ? drained : other;
  const afterMs = random.int(300);
  return {
    what: `drain ${drained.name}, kill ${victim.name} ${afterMs} later`,
    run: async () => {
      await understudy(world, 'drain', drained.name, '--no-wait');
      await sleep(afterMs);
      await victim.kill();
      await victim.start();
      await understudy(world, 'revive', drained.name);
    },
  };
}

export function drawTransfer(world: SoakWorld, random: Seeded): Fault {
  const id = random.int(17);
  const which = random.int(world.nodes.length);
  const group = id === 0 ? 'system' : String(id);
  return {
    what: `transfer group ${group} and back`,
    run: async () => {
      const { primary, inSync } = await viewOf(world, id);
      const candidates = inSync.filter((name) => name !== primary);
      if (candidates.length === 0) return;
      await understudy(world, 'transfer', group, candidates[which % candidates.length]!, ...patience);
      await understudy(world, 'transfer', group, 'any');
    },
  };
}

/** To a node that has none; if all have one, nothing happens. */
export function drawBackupTransfer(world: SoakWorld, random: Seeded): Fault {
  const id = random.int(17);
  const which = random.int(world.nodes.length);
  const group = id === 0 ? 'system' : String(id);
  return {
    what: `transfer a replica of group ${group}`,
    run: async () => {
      const { inSync, replicas } = await viewOf(world, id);
      const to = world.nodes.find(({ name }) => !replicas.includes(name));
      if (to === undefined) return;
      await understudy(world, 'transfer', group, to.name, '--backup', inSync[which % inSync.length]!, ...patience);
    },
  };
}

interface GroupView {
  primary: string;
  inSync: readonly string[];
  replicas: readonly string[];
}

async function viewOf({ cluster }: SoakWorld, id: number): Promise<GroupView> {
  const { groups } = await fetchCluster(cluster.awake[0]!.httpUrl);
  return groups.find((group) => group.id === id)!;
}

/** A node that will not come back with its data: it comes back without. Perhaps it is tried with it before, and must end. */
export function drawForget(world: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(world.mortals, 1) as [NodeProcess];
  const forMs = drawTime(random);
  const isTried = random.chance(50);
  return {
    what: `kill ${node.name} and forget it; ${isTried ? 'it comes back as if it was not, and' : 'it comes back'} after ${forMs} as a new one`,
    needsAll: true,
    run: async () => {
      await node.kill();
      await understudy(world, 'forget', node.name);
      if (isTried) await assert.rejects(node.start(), /ended \(1\) before it was ready/);
      await sleep(forMs);
      world.empty(node);
      await node.start();
    },
  };
}

/** Confirms are held while two of a queue's replicas are gone. */
export function drawMinInSync(world: SoakWorld, random: Seeded): Fault {
  const victims = random.some(world.mortals, 1 + random.int(world.mortals.length));
  const forMs = drawTime(random);
  return {
    what: `min-in-sync 2, kill ${victims.map(({ name }) => name).join(' and ')} for ${forMs}`,
    run: async () => {
      await understudy(world, 'policy', 'set', 'soak', '.', 'min-in-sync=2');
      await Promise.all(victims.map((node) => node.kill()));
      await sleep(forMs);
      await Promise.all(victims.map((node) => node.start()));
      await understudy(world, 'policy', 'clear', 'soak');
    },
  };
}
