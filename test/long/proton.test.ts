/**
 * Qpid Proton for Python and C++, another implementation of AMQP 1.0: what its programs do, with one broker and through a node of a cluster that leads nothing;
 * and its programs while one broker is killed and started again, and while the node is killed that leads their queue. A minute.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { startCluster } from '../conformance/targets/cluster.js';
import { startOne } from '../conformance/targets/one-broker.js';
import { type Client, runThrough, startClient } from '../support/client-run.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { withCluster } from '../support/with-cluster.js';

const python = resolve('node_modules/.cache/understudy/proton/run');
const clients: readonly Client[] = [
  { name: 'Proton for Python', interpreter: 'proton', file: 'proton_client.py' },
  { name: 'Proton for C++', interpreter: 'proton', file: 'proton.cpp', script: 'run-cpp' },
];

/** What the client printed, its complaints, and its exit code. Some of the complaints come from its own end. */
function runClient(
  name: string,
  port: number,
  queue: string,
): Promise<{ said: string; errors: string; code: number | null }> {
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const child = spawn(python, [`tools/proton/${name}`, url, queue], { timeout: 120_000 });
  let said = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('close', (code) => done({ said, errors, code }));
  });
}

async function declare(url: string, queue: string): Promise<void> {
  await using declarer = await QueueClient.open(url);
  await declarer.declare(queue);
}

describe('Qpid Proton', { timeout: 600_000 }, () => {
  before(() => {
    // Whoever runs this file by itself has it fetched, too.
    const { status, stderr } = spawnSync(process.execPath, ['tools/test/proton.mjs'], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });

  for (const [name, start] of [
    ['one broker', startOne],
    ['a cluster', startCluster],
  ] as const)
    it(`does with ${name} what its programs do`, async () => {
      await using target = await start();
      for (const queue of ['proton', 'proton-out']) await declare(`amqp://127.0.0.1:${target.port}`, queue);
      for (const program of ['client.py', 'transactions.py']) {
        const { said, errors, code } = await runClient(program, target.port, 'proton');
        assert.deepEqual({ said, code }, { said: 'ok\n', code: 0 }, `${program}: ${errors}`);
      }
    });

  for (const client of clients) {
    it(`${client.name}: one broker that is killed and started again`, async () => {
      await using broker = await LoneBroker.start();
      await declare(broker.url, 'numbers');
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

    it(`${client.name}: a cluster whose primary is killed`, async () => {
      await withCluster([], async (cluster) => {
        await declare(cluster.amqpUrls[0]!, 'numbers');
        const primary = (await cluster.leaderOf('numbers'))!;
        const others = cluster.nodes.filter((node) => node !== primary);
        const urls = [primary, ...others].map(({ amqpUrl }) => amqpUrl);
        const program = startClient(client, urls, 'numbers');
        try {
          await runThrough(client, program, () => primary.kill());
        } finally {
          await program.kill();
        }
      });
    });
  }
});
