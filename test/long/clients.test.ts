/**
 * Other clients, from npm and from Debian: each publishes, confirms, consumes and acknowledges against one broker, which is killed and
 * started again, and against a cluster of three, where the node that leads its queue, and to which it is connected, is killed. Nothing that was
 * confirmed may be lost, and what comes twice comes flagged or was sent twice. Some minutes, a part of it for fetching them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExampleProgram } from '../support/example-program.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { withCluster } from '../support/with-cluster.js';

interface Client {
  name: string;
  /** Of tools/test/clients.mjs. */
  interpreter: string;
  file: string;
  /** It sends again by itself, without a word. */
  resends?: boolean;
}

const clients: readonly Client[] = [
  { name: 'rabbitmq-client', interpreter: 'npm-clients', file: 'rabbitmq-client.mjs' },
  { name: 'amqp-connection-manager', interpreter: 'npm-clients', file: 'amqp-connection-manager.mjs', resends: true },
  { name: '@cloudamqp/amqp-client', interpreter: 'npm-clients', file: 'cloudamqp-client.mjs' },
  { name: 'rascal', interpreter: 'npm-clients', file: 'rascal.mjs' },
  { name: 'Java', interpreter: 'java', file: 'Numbers.java' },
  { name: 'Bunny', interpreter: 'ruby', file: 'bunny.rb' },
  { name: 'php-amqplib', interpreter: 'php', file: 'php-amqplib.php' },
  { name: 'php-amqp', interpreter: 'php', file: 'php-amqp.php' },
  { name: 'aio-pika', interpreter: 'python-clients', file: 'aio_pika_client.py' },
  { name: 'amqp-tools', interpreter: 'amqp-tools', file: 'amqp-tools.sh' },
];

const count = 400;
/** Whatever a client makes of it. */
const doneMsMax = 120_000;

function start(client: Client, urls: readonly string[], queue: string): ExampleProgram {
  return ExampleProgram.client(client.interpreter, client.file, urls, [queue, String(count)]);
}

/** Runs it to its end; `failover` when a third has come. */
async function runThrough(client: Client, program: ExampleProgram, failover: () => Promise<void>): Promise<void> {
  const got = (): RegExpExecArray[] => program.matches(/^got (\d+)( redelivered)?$/);
  await program.until('a third has come', () => got().length > count / 3, doneMsMax);
  const from = performance.now();
  await failover();
  await program.done(doneMsMax);
  const numbers = Array.from({ length: count }, (_, i) => String(i + 1));
  assert.deepEqual(new Set(program.matches(/^confirmed (\d+)$/).map(([, number]) => number)), new Set(numbers));
  assert.deepEqual(new Set(got().map(([, number]) => number)), new Set(numbers));
  const again = new Set(program.matches(/^again (\d+)$/).map(([, number]) => number));
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const [, number, flag] of got()) {
    if (flag !== undefined) continue;
    if (seen.has(number!) && !again.has(number!)) twice.push(number!);
    seen.add(number!);
  }
  if (client.resends !== true) assert.deepEqual(twice, [], 'unflagged, and sent once');
  const flagged = got().filter(([, , flag]) => flag !== undefined).length;
  const gapMs = program.lines.reduce(
    ({ last, gap }, { at }) => ({ last: at, gap: at > from ? Math.max(gap, at - last) : gap }),
    { last: from, gap: 0 },
  ).gap;
  console.log(
    `${client.name}: ${got().length} deliveries of ${count}, ${flagged} flagged, ${again.size} sent again, ${twice.length} twice, ` +
      `longest gap ${gapMs.toFixed()} ms`,
  );
}

describe('other clients, with one broker that is killed and started again', () => {
  for (const client of clients)
    it(client.name, async () => {
      await using broker = await LoneBroker.start();
      const program = start(client, [broker.url], 'numbers');
      try {
        await runThrough(client, program, async () => {
          await broker.kill();
          await broker.start();
        });
      } finally {
        await program.kill();
      }
    });
});

describe('other clients, with a cluster whose primary is killed', () => {
  it('all of them, one after the other', async (t) => {
    await withCluster([], async (cluster) => {
      for (const client of clients)
        await t.test(client.name, async () => {
          const queue = `numbers-${client.name}`;
          {
            await using declarer = await QueueClient.open(cluster.amqpUrls[0]!);
            await declarer.declare(queue);
          }
          const primary = (await cluster.leaderOf(queue))!;
          const others = cluster.nodes.filter((node) => node !== primary);
          const program = start(
            client,
            [primary, ...others].map(({ amqpUrl }) => amqpUrl),
            queue,
          );
          try {
            await runThrough(client, program, () => primary.kill());
          } finally {
            await program.kill();
            if (primary.pid === 0) await primary.start();
            await cluster.untilComplete();
          }
        });
    });
  });
});
