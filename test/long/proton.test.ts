/** Qpid Proton for Python, another implementation of AMQP 1.0, against one broker and through a node of a cluster that leads nothing. Seconds. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { startCluster } from '../conformance/targets/cluster.js';
import { startOne } from '../conformance/targets/one-broker.js';

const home = join('node_modules', '.cache', 'understudy', 'proton', 'usr', 'lib');
const queue = 'proton';

/** What the client printed, its complaints, and its exit code. Some of the complaints come from its own end. */
function runClient(program: string, port: number): Promise<{ said: string; errors: string; code: number | null }> {
  const env = {
    ...process.env,
    PYTHONPATH: join(home, 'python3', 'dist-packages'),
    LD_LIBRARY_PATH: join(home, 'x86_64-linux-gnu'),
  };
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const child = spawn('python3', [`tools/proton/${program}`, url, queue], { env, timeout: 120_000 });
  let said = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ said, errors, code }));
  });
}

describe('Qpid Proton', { timeout: 240_000 }, () => {
  for (const [name, start] of [
    ['one broker', startOne],
    ['a cluster', startCluster],
  ] as const)
    it(`does with ${name} what its programs do`, async () => {
      await using target = await start();
      const connection = await amqp.connect(`amqp://127.0.0.1:${target.port}`);
      const channel = await connection.createChannel();
      for (const name of [queue, `${queue}-out`]) await channel.assertQueue(name, { durable: true });
      await connection.close();
      for (const program of ['client.py', 'transactions.py']) {
        const { said, errors, code } = await runClient(program, target.port);
        assert.deepEqual({ said, code }, { said: 'ok\n', code: 0 }, `${program}: ${errors}`);
      }
    });
});
