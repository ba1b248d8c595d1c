/**
 * The programs of examples/ against a cluster of three processes, one of which leads nothing, while the node that leads their queue is killed:
 * nothing that was confirmed is lost, what was done twice came flagged or was sent twice, and all of them go on by themselves.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { watchFailures } from '../support/all-passed.js';
import { ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { ExampleProgram, type Urls } from '../support/example-program.js';
import type { NodeProcess } from '../support/node-process.js';
import { QueueClient } from '../support/queue-client.js';

type Make = (name: string, urls: Urls, args?: readonly string[]) => ExampleProgram;

const tasks = 200;
const messages = 500;
const orders = 40;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** Which numbers a pattern's first group has in what programs said, each with how often; of those with a second group none. */
function counted(programs: readonly ExampleProgram[], pattern: RegExp): Map<number, number> {
  const counts = new Map<number, number>();
  for (const program of programs)
    for (const [, number, mark] of program.matches(pattern))
      if (mark === undefined) counts.set(Number(number), (counts.get(Number(number)) ?? 0) + 1);
  return counts;
}

describe('the examples', () => {
  const allPassed = watchFailures();
  let cluster: ClusterProcesses;
  let idle: NodeProcess;
  const programs: ExampleProgram[] = [];

  before(async () => {
    cluster = await ClusterProcesses.prepare(3);
    idle = cluster.node('n3');
    await Promise.all(cluster.nodes.map((node) => node.start(node === idle ? { options: ['--lead', 'false'] } : {})));
    await cluster.untilComplete();
  });
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.kill()));
    for (const node of cluster.nodes) if (node.pid === 0) await node.start();
    await cluster.untilComplete();
  });
  after(() => cluster.close(!allPassed()));

  function started(program: ExampleProgram): ExampleProgram {
    programs.push(program);
    return program;
  }

  /** This node first, then the others. */
  const from = (node: NodeProcess): string[] => [
    node.amqpUrl,
    ...cluster.nodes.filter((other) => other !== node).map((other) => other.amqpUrl),
  ];

  /** The primary of a queue, which is declared if need be, through the node that leads nothing. */
  async function leaderOf(queue: string, options: { maxPriority?: number } = {}): Promise<NodeProcess> {
    await using client = await QueueClient.open(idle.amqpUrl);
    await client.declare(queue, options);
    // While the cluster begins it may lead all the same.
    for (const deadline = performance.now() + 20_000; ; await sleep(50)) {
      const leader = await cluster.leaderOf(queue);
      if (leader !== undefined && leader !== idle) return leader;
      assert.ok(performance.now() < deadline, `${idle.name} leads nothing`);
    }
  }

  /** Tasks are done by a worker at each node, and confirms come to a publisher at the queues' primary, which is killed. */
  async function workThroughFailover(
    make: Make,
    [send, work, publish]: readonly [string, string, string],
  ): Promise<void> {
    const primary = await leaderOf('tasks');
    const run = (name: string, node: NodeProcess, ...args: string[]): ExampleProgram =>
      started(make(name, from(node), args));
    const workers = cluster.nodes.map((node) => run(work, node));
    for (const worker of workers) await worker.said('waiting for tasks; Ctrl-C ends');
    const sender = run(send, idle, String(tasks));
    const publisher = run(publish, primary, String(messages));
    const done = (): Map<number, number> => counted(workers, /^done: (\d+)/);
    await eventually('a quarter of the tasks are done', () => done().size > tasks / 4);
    const killedAt = performance.now();
    await primary.kill();
    await eventually('all tasks are done', () => done().size === tasks);
    await Promise.all([sender.done(), publisher.done()]);

    assert.deepEqual(
      [...done().keys()].sort((a, b) => a - b),
      numbers(tasks),
    );
    const sentTwice = counted([sender], /^again: (\d+)/);
    for (const [number, times] of counted(workers, /^done: (\d+)( redelivered)?/))
      assert.ok(times === 1 || sentTwice.has(number), `${number} was done ${times} times, unflagged, and sent once`);
    for (const worker of workers) {
      const isOfPrimary = worker === workers[cluster.nodes.indexOf(primary)];
      const losses = worker.complaints.filter(({ text }) => text.startsWith('connection lost'));
      assert.equal(losses.length > 0, isOfPrimary, JSON.stringify(worker.complaints));
      assert.ok(
        worker.lines.some(({ text, at }) => text.startsWith('done') && at > (losses[0]?.at ?? killedAt)),
        'it goes on',
      );
      await worker.interrupt();
    }
    await assertConfirmed(publisher);
  }

  /** The queue `confirmed` has what the publisher sent, and only what it sent twice twice; it is empty then. */
  async function assertConfirmed(publisher: ExampleProgram): Promise<void> {
    assert.ok(publisher.complaints.some(({ text }) => text.startsWith('connection lost')));
    await using client = await QueueClient.open(idle.amqpUrl);
    const { messageCount } = await client.channel.checkQueue('confirmed');
    const there = (await client.take('confirmed', messageCount)).map(Number);
    assert.deepEqual(
      [...new Set(there)].sort((a, b) => a - b),
      numbers(messages),
    );
    const sentTwice = counted([publisher], /^again: (\d+)/);
    assert.deepEqual(
      there.filter((number, index) => there.indexOf(number) !== index && !sentTwice.has(number)),
      [],
    );
  }

  it('amqplib: hello, news, logs, readings and remote calls go on at another node', async () => {
    const [first] = cluster.nodes as [NodeProcess];
    const start = async (name: string, greeting: string, ...args: string[]): Promise<ExampleProgram> => {
      const program = started(ExampleProgram.amqplib(name, from(first), args));
      await program.said(`${greeting}; Ctrl-C ends`);
      return program;
    };
    const [hello, news, logs, readings] = await Promise.all([
      start('hello-receive', 'waiting for messages'),
      start('news-subscribe', 'subscribed'),
      start('logs-store', 'keeping error, warning', 'error', 'warning'),
      start('readings-watch', 'watching berlin.#, *.*.humidity', 'berlin.#', '*.*.humidity'),
      start('rpc-serve', 'serving'),
    ]);
    const send = (name: string, ...args: string[]): Promise<void> =>
      started(ExampleProgram.amqplib(name, from(idle), args)).done();
    const call = started(ExampleProgram.amqplib('rpc-call', from(idle), ['100', '1000']));
    const round = async (word: string): Promise<void> => {
      const begin = performance.now();
      await Promise.all([
        send('hello-send', word),
        send('news-publish', word),
        send('logs-send', 'error', word),
        send('logs-send', 'info', word),
        send('readings-send', 'berlin.cellar.temperature', '12'),
        send('readings-send', 'paris.roof.temperature', '13'),
        send('readings-send', 'paris.roof.humidity', '14'),
      ]);
      await hello.said(`received: ${word}`);
      await news.said(`news: ${word}`);
      await logs.said(`error: ${word}`);
      await readings.said('berlin.cellar.temperature = 12', begin);
      await readings.said('paris.roof.humidity = 14', begin);
    };
    await round('before');
    await call.done();
    assert.deepEqual(
      call.lines.map(({ text }) => text),
      ['100: 25', '1000: 168'],
    );

    await first.kill();
    const callAgain = started(ExampleProgram.amqplib('rpc-call', from(first), ['100', '10000']));
    const again = ({ lines }: ExampleProgram): boolean =>
      lines.filter(({ text }) => text.endsWith('ends')).length === 2;
    await Promise.all([news, readings].map((program) => program.until('it is there again', again)));
    await round('after');
    await callAgain.done();
    assert.deepEqual(
      callAgain.lines.map(({ text }) => text),
      ['100: 25', '10000: 1229'],
    );
    for (const program of [logs, readings])
      assert.deepEqual(program.matches(/info|paris.roof.temperature/), [], 'nothing else came');
  });

  it('amqplib: a work queue and confirms', async () => {
    await workThroughFailover(ExampleProgram.amqplib, ['task-send', 'task-work', 'confirms-publish']);
  });

  it('pika: hello, a work queue and confirms', async () => {
    const hello = started(ExampleProgram.pika('hello_receive', from(idle)));
    await started(ExampleProgram.pika('hello_send', from(cluster.node('n1')), ['pika'])).done();
    await hello.said('received: pika');
    await workThroughFailover(ExampleProgram.pika, ['task_send', 'task_work', 'confirms_publish']);
    assert.deepEqual(hello.complaints, []);
    await started(ExampleProgram.pika('hello_send', from(idle), ['again'])).done();
    await hello.said('received: again');
  });

  it('Celery: retries, tasks with a time, results, remote control', async () => {
    // More than the workers' limits: they must be able to raise them, or nothing else would be done.
    const primary = await leaderOf('orders', { maxPriority: 10 });
    await using client = await QueueClient.open(idle.amqpUrl);
    for (let id = 0; id < 8; id++) {
      const { body, headers } = shipMuchLater(id);
      const options = { persistent: true, contentType: 'application/json', contentEncoding: 'utf-8', headers };
      client.channel.sendToQueue('orders', Buffer.from(body), options);
    }
    await client.confirmed();
    const nodes = [primary, idle];
    const workers = nodes.map(({ name }, i) =>
      started(
        ExampleProgram.celery(from(nodes[i]!), [
          ...['worker', '--concurrency', '2', '--loglevel', 'INFO', '--hostname', `${name}@shop`],
        ]),
      ),
    );
    const log = (worker: ExampleProgram, pattern: RegExp): number =>
      worker.complaints.filter(({ text }) => pattern.test(text)).length;
    await eventually('the workers are ready', () => workers.every((worker) => log(worker, /@shop ready/) === 1));
    const shop = started(ExampleProgram.python('order', from(idle), [String(orders)]));
    const shipped = (): string[] =>
      workers.flatMap(({ complaints }) => complaints.flatMap(({ text }) => /shipped: (\d+.*)$/.exec(text)?.[1] ?? []));
    // Whichever takes them: one may have its hands full of tasks of later, until it has raised its limit.
    const paid = (): number => workers.reduce((sum, worker) => sum + log(worker, /shop.charge\S+ succeeded/), 0);
    await eventually('some have paid', () => paid() > orders / 8);
    await primary.kill();
    await shop.done();
    assert.deepEqual(
      shop.lines.map(({ text }) => text),
      [
        `ordered: ${orders}`,
        ...numbers(orders).map((order) => `receipt: ${order}: ${order}.00 paid in ${order % 3 === 0 ? 2 : 1} tries`),
        ...numbers(orders).map((order) => `arrived: ${order}`),
      ],
    );
    assert.deepEqual(new Set(shipped().map((text) => Number.parseInt(text, 10))), new Set(numbers(orders)));
    const unflagged = shipped().filter((text) => !text.endsWith('redelivered'));
    assert.equal(new Set(unflagged).size, unflagged.length, 'what was shipped twice was redelivered');
    await eventually('the worker is at another node', () => log(workers[0]!, /Connected to/) === 2);
    // A ping goes to all workers by a fanout exchange, and each answers into a queue that goes with the connection.
    const isAnswered = async (): Promise<boolean> => {
      const ping = started(ExampleProgram.celery(from(idle), ['inspect', 'ping', '--timeout', '2']));
      await ping.ended;
      return nodes.every(({ name }) => ping.matches(new RegExp(`${name}@shop: OK`)).length === 1);
    };
    for (let attempt = 1; !(await isAnswered()); attempt++) assert.ok(attempt < 5, 'all workers answer');
    for (const worker of workers) assert.equal(await worker.interrupt('SIGTERM'), 0);
  });
});

/** What Celery sends for `ship.apply_async((0,), countdown=...)`. */
function shipMuchLater(id: number): { body: string; headers: Record<string, unknown> } {
  const eta = new Date(Date.now() + 3_600_000).toISOString();
  return { body: JSON.stringify([[0], {}, {}]), headers: { lang: 'py', task: 'shop.ship', id: `later-${id}`, eta } };
}

async function eventually(what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> {
  for (const deadline = performance.now() + timeoutMs; !holds(); await sleep(20))
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
}
