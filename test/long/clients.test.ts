/**
 * Other clients, from npm and from Debian: each publishes, confirms, consumes and acknowledges against one broker, which is killed and
 * started again, and against a cluster of three, where the node that leads its queue, and to which it is connected, is killed. Nothing that was
 * confirmed may be lost, and what comes twice comes flagged or was sent twice. Some minutes, a part of it for fetching them.
 */
import { describe, it } from 'node:test';
import { type Client, runThrough, startClient } from '../support/client-run.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { withCluster } from '../support/with-cluster.js';

const clients: readonly Client[] = [
  { name: 'rabbitmq-client', interpreter: 'npm-clients', file: 'rabbitmq-client.mjs' },
  { name: 'amqp-connection-manager', interpreter: 'npm-clients', file: 'amqp-connection-manager.mjs', resends: true },
  { name: '@cloudamqp/amqp-client', interpreter: 'npm-clients', file: 'cloudamqp-client.mjs' },
  { name: 'rascal', interpreter: 'npm-clients', file: 'rascal.mjs' },
  { name: 'rhea-promise', interpreter: 'npm-clients', file: 'rhea-promise.mjs' },
  { name: 'rhea-promise over WebSocket', interpreter: 'npm-clients', file: 'rhea-promise-web.mjs' },
  { name: 'Java', interpreter: 'java', file: 'Numbers.java' },
  { name: 'Bunny', interpreter: 'ruby', file: 'bunny.rb' },
  { name: 'php-amqplib', interpreter: 'php', file: 'php-amqplib.php' },
  { name: 'php-amqp', interpreter: 'php', file: 'php-amqp.php' },
  { name: 'aio-pika', interpreter: 'python-clients', file: 'aio_pika_client.py' },
  { name: 'amqp-tools', interpreter: 'amqp-tools', file: 'amqp-tools.sh' },
];

describe('other clients, with one broker that is killed and started again', () => {
  for (const client of clients)
    it(client.name, async () => {
      await using broker = await LoneBroker.start();
      const program = startClient(client, [broker.url], 'numbers');
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
          const program = startClient(
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
