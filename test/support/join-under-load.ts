/** A node whose disk is empty joins while others publish and consume. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchCluster } from '../../src/cli/api-client.js';
import { type ClusterProcesses, sleep } from './cluster-processes.js';
import { NumberedRun } from './numbered-run.js';
import { QueueClient } from './queue-client.js';
import { assertFaultless } from './verdict.js';

const queues = 10;
const bodyBytes = 1024;
const publishers = 4;
const atOnce = 5000;
const pollMs = 20;
const calmMs = 3000;

export interface JoinFigures {
  /** Messages that waited when it began. */
  depth: number;
  /** Messages that the joiner was sent, of those and of others that were published meanwhile. */
  sent: number;
  joinedMs: number;
  /** Confirms a second, and the longest time without one, before the join and during it. */
  before: { rate: number; gapMs: number };
  during: { rate: number; gapMs: number };
}

/**
 * @param messages that wait in ten queues when the last node begins to join @param rate of publishing and consuming beside that, over
 * the two others. Consumers take some of what waits, too.
 */
export async function joinUnderLoad(cluster: ClusterProcesses, messages: number, rate: number): Promise<JoinFigures> {
  const [first, second, joiner] = cluster.nodes as [
    (typeof cluster.nodes)[0],
    (typeof cluster.nodes)[0],
    (typeof cluster.nodes)[0],
  ];
  const names = Array.from({ length: queues }, (_, i) => `waits.${i}`);
  await using client = await QueueClient.open(first.amqpUrl);
  const each = Math.ceil(messages / queues);
  for (const name of names)
    for (let left = each; left > 0; left -= atOnce)
      await client.send(name, Array<Buffer>(Math.min(left, atOnce)).fill(Buffer.alloc(bodyBytes, 1)));
  await joiner.kill();
  await rm(join(cluster.folder, joiner.name), { recursive: true });
  const run = new NumberedRun(
    [first.amqpUrl, second.amqpUrl],
    [
      '--prefix',
      'load',
      '--queues',
      '10',
      '--publishers',
      String(publishers),
      '--consumers',
      '10',
      '--rate',
      String(Math.ceil(rate / publishers)),
      '--window',
      '1000',
      '--size',
      '1024',
    ],
  );
  try {
    await run.more(rate);
    const before = await measure(run, sleep(calmMs));
    const from = performance.now();
    let sent = 0;
    const during = await measure(
      run,
      (async () => {
        const isReady = joiner.start();
        // Consumers make the work less.
        const takes = client.take(names[0]!, Math.min(each, 100));
        sent = await watchJoins(cluster, isReady);
        await takes;
      })(),
    );
    const joinedMs = performance.now() - from;
    assertFaultless(await run.finish(), cluster);
    return { depth: queues * each, sent, joinedMs, before, during };
  } finally {
    run.kill();
  }
}

/** Until the cluster is whole. Returns the messages that the joiner was sent, as far as it told. */
async function watchJoins(cluster: ClusterProcesses, isReady: Promise<void>): Promise<number> {
  const sent = new Map<number, number>();
  const whole = (async () => {
    await isReady;
    await cluster.untilComplete(10 * 60_000);
    return true;
  })();
  while (!(await Promise.race([whole, sleep(pollMs).then(() => false)]))) {
    const view = await fetchCluster(cluster.nodes[0]!.httpUrl, 1000).catch(() => undefined);
    for (const { id, joining } of view?.groups ?? [])
      for (const { messages = 0 } of joining) sent.set(id, Math.max(sent.get(id) ?? 0, messages));
  }
  return [...sent.values()].reduce((sum, messages) => sum + messages, 0);
}

async function measure(run: NumberedRun, during: Promise<unknown>): Promise<JoinFigures['before']> {
  const [from, confirmed] = [Date.now(), run.confirmed];
  await during;
  return { rate: ((run.confirmed - confirmed) * 1000) / (Date.now() - from), gapMs: run.longestGap(from) };
}

export function describeJoin({ depth, sent, joinedMs, before, during }: JoinFigures): string {
  const load = ({ rate, gapMs }: JoinFigures['before']): string => `${rate.toFixed()} msg/s, longest gap ${gapMs} ms`;
  return (
    `${depth} messages waited, ${sent} were seen to be sent, joined after ${(joinedMs / 1000).toFixed(1)} s; ` +
    `before: ${load(before)}; during the join: ${load(during)}`
  );
}

/** @param share of the rate, or of what was reached of it before, that is kept during the join */
export function assertJoin(
  figures: JoinFigures,
  { joinedMsMax, share, rate }: { joinedMsMax: number; share: number; rate: number },
): void {
  const { depth, sent, joinedMs, during } = figures;
  const text = describeJoin(figures);
  // What is published while it joins may be sent as a copy, too.
  assert.ok(sent <= depth + (rate * joinedMs) / 1000, text);
  assert.ok(joinedMs <= joinedMsMax, text);
  assert.ok(during.rate >= share * Math.min(rate, figures.before.rate), text);
}
