/**
 * Faults by chance, one after the other: whatever may happen to brokers, their links, their disks and their etcd, and what operators
 * do. What is chosen follows from the seed; when it hits does not.
 */
import { sleep } from '../cluster-processes.js';
import type { NodeProcess } from '../node-process.js';
import type { Seeded } from '../seeded.js';
import { drawCut, drawFlapping } from './cuts.js';
import { drawTime, type Fault } from './fault.js';
import {
  drawBackupTransfer,
  drawDrain,
  drawDrainAndKill,
  drawForget,
  drawMinInSync,
  drawTransfer,
} from './operators.js';
import type { SoakWorld } from './world.js';

type Draw = (world: SoakWorld, random: Seeded) => Fault;

const mebibyte = 1024 * 1024;

/** Whom it hits. A fault of brokers may come together with one of links or of etcd. */
type Part = 'brokers' | 'links' | 'etcd' | 'operators';

const draws: Record<string, { part: Part; weight: number; draw: Draw }> = {
  kill: { part: 'brokers', weight: 4, draw: drawKill },
  'kill several': { part: 'brokers', weight: 2, draw: drawKillSeveral },
  freeze: { part: 'brokers', weight: 4, draw: drawFreeze },
  'freeze and kill': { part: 'brokers', weight: 2, draw: drawFreezeAndKill },
  restart: { part: 'brokers', weight: 3, draw: drawRestart },
  'empty disk': { part: 'brokers', weight: 3, draw: drawEmptyDisk },
  'full disk': { part: 'brokers', weight: 3, draw: drawFullDisk },
  cut: { part: 'links', weight: 7, draw: drawCut },
  flapping: { part: 'links', weight: 1, draw: drawFlapping },
  'etcd kill': { part: 'etcd', weight: 2, draw: drawEtcdKill },
  'etcd freeze': { part: 'etcd', weight: 2, draw: drawEtcdFreeze },
  'etcd away': { part: 'etcd', weight: 2, draw: drawEtcdAway },
  drain: { part: 'operators', weight: 2, draw: drawDrain },
  'drain and kill': { part: 'operators', weight: 1, draw: drawDrainAndKill },
  transfer: { part: 'operators', weight: 3, draw: drawTransfer },
  'transfer of a backup': { part: 'operators', weight: 2, draw: drawBackupTransfer },
  forget: { part: 'operators', weight: 2, draw: drawForget },
  'min-in-sync': { part: 'operators', weight: 2, draw: drawMinInSync },
};

/** In per cent: of faults of brokers, those with which another comes. */
const pairs = 35;
const pairMsMax = 500;

/** One fault, or two at once. @param kinds among which is drawn; default: all */
export function drawFault(world: SoakWorld, random: Seeded, kinds: readonly string[] = Object.keys(draws)): Fault {
  const unknown = kinds.find((kind) => draws[kind] === undefined);
  if (unknown !== undefined) throw new Error(`there is no fault "${unknown}": ${Object.keys(draws).join(', ')}`);
  const first = drawKind(random, kinds);
  const fault = draws[first]!.draw(world, random);
  const others = kinds.filter((kind) => ['links', 'etcd'].includes(draws[kind]!.part));
  if (draws[first]!.part !== 'brokers' || fault.needsAll || others.length === 0 || !random.chance(pairs)) return fault;
  const other = draws[drawKind(random, others)]!.draw(world, random);
  const afterMs = random.int(pairMsMax);
  return {
    what: `${fault.what}; ${afterMs} later ${other.what}`,
    run: async () => {
      await Promise.all([fault.run(), sleep(afterMs).then(() => other.run())]);
    },
  };
}

/** By weight. */
function drawKind(random: Seeded, kinds: readonly string[]): string {
  let at = random.int(kinds.reduce((sum, kind) => sum + draws[kind]!.weight, 0));
  return kinds.find((kind) => (at -= draws[kind]!.weight) < 0)!;
}

const nameAll = (nodes: readonly NodeProcess[]): string => nodes.map(({ name }) => name).join(' and ');

// ---- processes ----

function drawKill({ mortals }: SoakWorld, random: Seeded): Fault {
  return killOf(random.some(mortals, 1), drawTime(random));
}

function drawKillSeveral({ mortals }: SoakWorld, random: Seeded): Fault {
  return killOf(random.some(mortals, 2 + random.int(mortals.length - 1)), drawTime(random));
}

function killOf(victims: readonly NodeProcess[], forMs: number): Fault {
  return {
    what: `kill ${nameAll(victims)} for ${forMs}`,
    run: async () => {
      await Promise.all(victims.map((node) => node.kill()));
      await sleep(forMs);
      await Promise.all(victims.map((node) => node.start()));
    },
  };
}

function drawFreeze({ nodes }: SoakWorld, random: Seeded): Fault {
  const victims = random.some(nodes, random.chance(70) ? 1 : 2);
  const forMs = drawTime(random);
  return {
    what: `freeze ${nameAll(victims)} for ${forMs}`,
    run: async () => {
      for (const node of victims) node.freeze();
      await sleep(forMs);
      for (const node of victims) node.thaw();
    },
  };
}

function drawFreezeAndKill({ mortals }: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(mortals, 1) as [NodeProcess];
  const forMs = drawTime(random);
  return {
    what: `freeze ${node.name}, kill it after ${forMs}`,
    run: async () => {
      node.freeze();
      await sleep(forMs);
      await node.kill();
      await node.start();
    },
  };
}

function drawRestart({ mortals }: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(mortals, 1) as [NodeProcess];
  const forMs = drawTime(random);
  return {
    what: `SIGTERM to ${node.name}, away for ${forMs}`,
    run: async () => {
      await node.stop();
      await sleep(forMs);
      await node.start();
    },
  };
}

// ---- disks ----

function drawEmptyDisk(world: SoakWorld, random: Seeded): Fault {
  const [node] = random.some(world.mortals, 1) as [NodeProcess];
  const forMs = drawTime(random);
  return {
    what: `kill ${node.name}, it comes back after ${forMs} with an empty disk`,
    needsAll: true,
    run: async () => {
      await node.kill();
      await sleep(forMs);
      world.empty(node);
      await node.start();
    },
  };
}

function drawFullDisk({ disk, nodes }: SoakWorld, random: Seeded): Fault {
  const free = random.chance(50) ? mebibyte / 2 : 45 * mebibyte;
  const forMs = 1000 + drawTime(random);
  return {
    what: `${free / mebibyte} MiB left on the disk of ${nodes[0]!.name} for ${forMs}`,
    run: async () => {
      disk.fillUp(free);
      await sleep(forMs);
      disk.relieve();
    },
  };
}

// ---- etcd ----

/** Its leader, or one by chance. */
function drawMember({ etcd }: SoakWorld, random: Seeded): { name: string; find: () => Promise<number> } {
  const drawn = random.int(etcd.count);
  return random.chance(50)
    ? { name: 'the leader of etcd', find: () => etcd.leader() }
    : { name: `member ${drawn} of etcd`, find: () => Promise.resolve(drawn) };
}

function drawEtcdKill(world: SoakWorld, random: Seeded): Fault {
  const { name, find } = drawMember(world, random);
  const forMs = drawTime(random);
  return {
    what: `kill ${name} for ${forMs}`,
    run: async () => {
      const member = await find();
      await world.etcd.kill(member);
      await sleep(forMs);
      await world.etcd.start(member);
    },
  };
}

function drawEtcdFreeze(world: SoakWorld, random: Seeded): Fault {
  const { name, find } = drawMember(world, random);
  const forMs = drawTime(random);
  return {
    what: `freeze ${name} for ${forMs}`,
    run: async () => {
      const member = await find();
      world.etcd.freeze(member);
      await sleep(forMs);
      world.etcd.thaw(member);
    },
  };
}

function drawEtcdAway({ etcd }: SoakWorld, random: Seeded): Fault {
  const forMs = 1000 + drawTime(random);
  return {
    what: `all of etcd away for ${forMs}`,
    run: async () => {
      await etcd.killAll();
      await sleep(forMs);
      await etcd.startAll();
    },
  };
}
