/**
 * A node with an empty disk joins while messages of 1 KiB wait in ten queues, and as many are published to them as are consumed; then it
 * is killed, and comes back after a while. Clients are with the two other nodes. Prints what is wanted of a machine with nothing else to
 * do, and what was seen; fails at ten times that. What does not depend on the machine must hold as it is: how much the node is sent.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type ClusterProcesses, sleep } from './cluster-processes.js';
import { startEtcdCluster } from './etcd-cluster.js';
import type { NodeProcess } from './node-process.js';
import { PacedLoad, type Stretch } from './paced-load.js';

export interface JoinOptions {
  /** That wait. */
  messages: number;
  /** Messages a second. */
  rate: number;
  /** How long the load is looked at before. */
  quietMs: number;
  /** From the kill to the start. */
  awayMs: number;
}

const size = 1024;
const queues = Array.from({ length: 10 }, (_, i) => `join-${i}`);

/** What is wanted; the test fails at `slack` times it. */
const wanted = { ratePart: 0.95, p99Times: 3, joinSeconds: 120, rejoinSeconds: 10 };
const slack = 10;

export async function joinUnderLoad(t: TestContext, options: JoinOptions): Promise<void> {
  const { messages, rate, quietMs, awayMs } = options;
  const { cluster, close } = await startEtcdCluster({ start: false });
  const [first, second, joiner] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const survivors = [first, second];
  let well = false;
  let load: PacedLoad | undefined;
  try {
    await Promise.all(survivors.map((node) => node.start()));
    await cluster.untilInSync(survivors);
    const urls = survivors.map(({ amqpUrl }) => amqpUrl);
    load = await PacedLoad.declare(urls, queues);
    await load.fill(messages, size);
    await load.start(rate, size);
    await load.pause(quietMs / 3);
    load.mark();
    await load.pause(quietMs);
    const before = load.stretch();
    t.diagnostic(`before: ${describe(before)}`);
    await joinEmpty(t, cluster, load, joiner, before, rate);
    load.mark();
    await load.pause(quietMs);
    t.diagnostic(`after, with all three: ${describe(load.stretch())}`);
    await comeBack(t, cluster, load, joiner, awayMs);
    well = true;
  } finally {
    await load?.close();
    await close(well);
  }
}

async function joinEmpty(
  t: TestContext,
  cluster: ClusterProcesses,
  load: PacedLoad,
  joiner: NodeProcess,
  before: Stretch,
  rate: number,
): Promise<void> {
  const depth = await load.depth();
  load.mark();
  await load.during(untilInSync(cluster, joiner, wanted.joinSeconds));
  const during = load.stretch();
  const { messages: sent, bytes } = received(joiner);
  t.diagnostic(`join: ${describe(during)}`);
  t.diagnostic(
    `join: in sync after ${during.seconds.toFixed(1)} s (wanted ${wanted.joinSeconds}); sent ${sent} messages, ` +
      `${Math.round(bytes / 1e6)} MB, of ${depth} at the start`,
  );
  assert.ok(sent <= depth, `${sent} messages sent, ${depth} were there`);
  for (const made of [during.publishRate, during.consumeRate])
    assert.ok(made >= (rate * wanted.ratePart) / slack, `${Math.round(made)}/s of ${rate}/s`);
  for (const kind of ['confirm', 'delivery'] as const) {
    const times = during[kind].p99 / before[kind].p99;
    t.diagnostic(`join: p99 of ${kind} is ${times.toFixed(1)} times what it was (wanted ${wanted.p99Times})`);
    assert.ok(times <= wanted.p99Times * slack, `p99 of ${kind}: ${times.toFixed(1)} times what it was`);
  }
}

async function comeBack(
  t: TestContext,
  cluster: ClusterProcesses,
  load: PacedLoad,
  joiner: NodeProcess,
  awayMs: number,
): Promise<void> {
  const depth = await load.depth();
  const earlier = received(joiner);
  load.mark();
  await joiner.kill();
  await load.during(sleep(awayMs));
  const from = performance.now();
  await load.during(untilInSync(cluster, joiner, wanted.rejoinSeconds));
  const seconds = (performance.now() - from) / 1000;
  const { published } = load.stretch();
  const { messages: all, bytes } = received(joiner);
  const sent = all - earlier.messages;
  t.diagnostic(
    `back after ${awayMs / 1000} s: in sync after ${seconds.toFixed(1)} s (wanted ${wanted.rejoinSeconds}); sent ${sent} messages, ` +
      `${Math.round((bytes - earlier.bytes) / 1e6)} MB; ${published} were published since it was killed, ${depth} were there then`,
  );
  assert.ok(sent <= published, `${sent} messages sent, ${published} published since it was killed`);
}

/** Starts it; resolves when it is in all sets. Rejects after `slack` times the seconds. */
async function untilInSync(cluster: ClusterProcesses, joiner: NodeProcess, seconds: number): Promise<void> {
  await joiner.start();
  await cluster.untilComplete(seconds * slack * 1000);
}

/** What its joins have brought so far, as its log says. */
function received({ log }: NodeProcess): { messages: number; bytes: number } {
  const sum = { messages: 0, bytes: 0 };
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (!line.includes('"joined"')) continue;
    const { messages: more, bytes } = JSON.parse(line) as { messages: number; bytes: number };
    sum.messages += more;
    sum.bytes += bytes;
  }
  return sum;
}

function describe({ publishRate, consumeRate, confirm, delivery }: Stretch): string {
  const rates = `published ${Math.round(publishRate)}/s, consumed ${Math.round(consumeRate)}/s`;
  const times = [confirm, delivery].map(({ p50, p99, max }) => [p50, p99, max].map((ms) => ms.toFixed(1)).join(', '));
  return `${rates}; p50, p99, longest, ms: confirm ${times[0]}; delivery ${times[1]}`;
}
