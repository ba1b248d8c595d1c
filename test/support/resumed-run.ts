/** A sender and a receiver that resume their links, while the primary of their queue is killed again and again. */
import assert from 'node:assert/strict';
import * as amqp from 'amqplib';
import rhea, { type Message } from 'rhea';
import { type ResumeOptions, ResumingReceiver, ResumingSender, type RheaContainer } from '../../src/resume/index.js';
import { type ClusterProcesses, sleep } from './cluster-processes.js';

export interface ResumedRun {
  messages: number;
  kills: number;
  /** Messages without outcome at a time. */
  window?: number;
}

export interface ResumedResult {
  /** Messages that were worked on more than once, and not at all. */
  doubled: string[];
  missing: number[];
  outcomes: Record<string, number>;
  /** Times that a connection was lost, or a try failed. */
  troubles: string[];
  left: number;
}

const queue = 'resumed';

function containerOf(id: string): RheaContainer {
  return rhea.create_container({ id }) as unknown as RheaContainer;
}

/** Each kill waits for the node to be back: one of three replicas is lost at a time. */
export async function runResumed(
  cluster: ClusterProcesses,
  { messages, kills, window = 200 }: ResumedRun,
): Promise<ResumedResult> {
  const connection = await amqp.connect(cluster.amqpUrls[0]!);
  connection.on('error', () => {});
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: true });
  await connection.close();
  const result: ResumedResult = { doubled: [], missing: [], outcomes: {}, troubles: [], left: 0 };
  const options: ResumeOptions = {
    nodes: cluster.nodes.map(({ ports }) => ({ host: '127.0.0.1', port: ports.amqp })),
    connection: { username: 'guest', password: 'guest' },
    name: 'resumed',
    address: `/queues/${queue}`,
    retryMs: 20,
    onTrouble: (reason) => result.troubles.push(`${Math.round(performance.now())} ${reason}`),
  };
  const tags: string[][] = [];
  const worked = new Uint32Array(messages);
  let done = 0;
  const receiver = new ResumingReceiver(containerOf('worker'), options, ({ message, tag, accept }) => {
    const number = Number((message as Message).body);
    worked[number]!++;
    (tags[number] ??= []).push(`${tag}@${Math.round(performance.now())}`);
    accept().then(
      () => done++,
      (error: Error) => result.troubles.push(error.message),
    );
  });
  // Each kill has its share of the messages: the second half of it is under way then.
  const share = messages / (kills + 1);
  let allowed = share;
  const [first, ...others] = options.nodes;
  const sender = new ResumingSender(containerOf('source'), { ...options, nodes: [...others, first!] });
  const sending = (async () => {
    const open = new Set<Promise<void>>();
    for (let number = 0; number < messages; number++) {
      while (number >= allowed) await sleep(5);
      const sent: Promise<void> = sender.send({ body: String(number) }).then((outcome) => {
        result.outcomes[outcome] = (result.outcomes[outcome] ?? 0) + 1;
        open.delete(sent);
      });
      open.add(sent);
      if (open.size >= window) await Promise.race(open);
    }
    await sender.close();
  })();
  for (let kill = 1; kill <= kills; kill++) {
    await until(() => done >= share * (kill - 0.5), `${done} of ${messages} messages are worked on`);
    const victim = await cluster.leaderOf(queue);
    assert.ok(victim !== undefined, 'the queue has a primary');
    if (process.env['UNDERSTUDY_KEEP'] !== undefined)
      console.log(Math.round(performance.now()), 'kill', victim.name, done);
    await victim.kill();
    await cluster.untilReplaced(queue, victim);
    await victim.start();
    await cluster.untilOnline(queue, cluster.nodes);
    allowed = share * (kill + 1);
  }
  allowed = messages;
  await sending;
  await until(() => done === messages && receiver.unsettled === 0, 'all are worked on').catch(() => {});
  for (const [number, times] of worked.entries()) {
    if (times === 0) result.missing.push(number);
    if (times > 1) result.doubled.push(`${number}: ${tags[number]!.join(' ')}`);
  }
  receiver.close();
  if (process.env['UNDERSTUDY_KEEP'] !== undefined) console.log(result.troubles.join('\n'));
  result.left = await messagesLeft(cluster);
  return result;
}

async function messagesLeft(cluster: ClusterProcesses): Promise<number> {
  const connection = await amqp.connect(cluster.amqpUrls[0]!);
  const channel = await connection.createChannel();
  const { messageCount } = await channel.checkQueue(queue);
  await connection.close();
  return messageCount;
}

async function until(holds: () => boolean, what: string, timeoutMs = 60_000): Promise<void> {
  for (const deadline = performance.now() + timeoutMs; !holds(); await sleep(5))
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
}
