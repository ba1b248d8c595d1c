/**
 * A soak: numbered messages go through all brokers while faults come one after the other, drawn from a seed, and clients misbehave. At the end nothing that was
 * confirmed is missing, nothing came twice unflagged, everything is in order, memory is flat (memory.ts), and every error that the brokers
 * logged is explained (log-lines.ts). Of the verdict one thing is excused: packets of frozen brokers that come late (verdict.ts).
 *
 * UNDERSTUDY_SEED repeats what is chosen (not the moments at which it hits); UNDERSTUDY_FAULTS=kill,cut,... draws among these kinds only.
 */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { misbehave } from '../attacks/misbehave.js';
import { sleep } from '../cluster-processes.js';
import type { NodeProcess } from '../node-process.js';
import { NumberedRun } from '../numbered-run.js';
import { Seeded } from '../seeded.js';
import { assertFaultless, figures, latePackets } from '../verdict.js';
import { drawFault } from './faults.js';
import { readLogs } from './log-lines.js';
import { MemoryWatch } from './memory.js';
import { SoakWorld } from './world.js';

export interface SoakOptions {
  brokers: number;
  /** Faults begin for so long. */
  forMs: number;
  /** Messages a second. */
  rate: number;
}

/** Little, so that it is reached early: then what grows is something else. */
const memoryBytes = 32 * 1024 * 1024;
const publishers = 10;
const queues = 8;
/** That misbehave, with each fault. */
const badClients = 8;
const wholeMsMax = 120_000;
/** Until all that was sent is confirmed and received, once no faults come any more. */
const patienceSeconds = 120;

export async function soak(t: TestContext, { brokers, forMs, rate }: SoakOptions): Promise<void> {
  const random = Seeded.fromEnvironment();
  t.diagnostic(`UNDERSTUDY_SEED=${random.seed}`);
  const world = await SoakWorld.start(random, brokers, ['--memory', String(memoryBytes)]);
  const { cluster, nodes } = world;
  const run = new NumberedRun(cluster.amqpUrls, [
    ...['--prefix', 'soak', '--queues', String(queues), '--patience', String(patienceSeconds)],
    ...['--publishers', String(publishers), '--rate', String(rate / publishers), '--window', '500'],
    // So that a slow machine does not gather more and more.
    ...['--waiting', '20000'],
    ...['--consumers', String(2 * queues)],
  ]);
  const memory = new MemoryWatch(world, forMs);
  let well = false;
  try {
    await run.more(rate / 10);
    await inflict(t, world, random, run, forMs);
    await cluster.untilComplete(wholeMsMax);
    const result = await run.finish();
    memory.stop();
    const { unexplained, counts } = readLogs(nodes);
    const rateMade = Math.round((1000 * result.confirmed) / forMs);
    t.diagnostic(`${figures(result)}, late packets ${latePackets(result, cluster)}, about ${rateMade}/s confirmed`);
    t.diagnostic(memory.describe());
    for (const [message, count] of counts) t.diagnostic(`logged ${count} times: ${message}`);
    assertFaultless(result, cluster);
    memory.assertFlat(memoryBytes);
    assert.deepEqual(unexplained, [], 'errors that nothing explains');
    well = true;
  } finally {
    memory.stop();
    run.kill();
    await world.close(well);
  }
}

/** Faults, one after the other, each with clients that misbehave at some broker. With the logs there will be `faults.log`: what was when. */
async function inflict(
  t: TestContext,
  world: SoakWorld,
  random: Seeded,
  run: NumberedRun,
  forMs: number,
): Promise<void> {
  const kinds = process.env['UNDERSTUDY_FAULTS']?.split(',');
  const deadline = performance.now() + forMs;
  for (let number = 1; performance.now() < deadline; number++) {
    const fault = drawFault(world, random, kinds);
    const isCalm = random.chance(60);
    const pauseMs = random.int(500);
    const [bad] = random.some(world.nodes, 1) as [NodeProcess];
    const badSeed = random.int(2 ** 30);
    const title = `fault ${number}: ${fault.what}${isCalm ? '' : ', no pause'}`;
    if (fault.needsAll) await world.cluster.untilComplete(wholeMsMax);
    const from = Date.now();
    const note = (text: string): void =>
      appendFileSync(join(world.cluster.folder, 'faults.log'), `${new Date().toISOString()} ${text}\n`);
    note(title);
    try {
      await Promise.all([fault.run(), misbehave(bad.amqpAddress, badClients, badSeed)]);
      note('healed');
      if (isCalm) {
        await world.cluster.untilComplete(wholeMsMax);
        await run.more(100);
      } else await sleep(pauseMs);
      world.assertAllRun();
    } catch (error) {
      throw new Error(`${title}: ${(error as Error).message}`, { cause: error });
    }
    const told = `${title}; over after ${Date.now() - from} ms, longest gap ${run.longestGap(from)} ms`;
    note(told);
    t.diagnostic(told);
  }
}
