/**
 * amqplib's own integration tests, as its npm package brings them, against a broker of ours.
 *
 * Those are the files that talk to a broker, and that of connecting again, which plays one. The others test the client alone, with
 * servers of their own (channel, connection, uri_spec, mux) or with generators from a package that amqplib does not bring (bitset, codec, data, frame).
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Outcome {
  /** File, suites and test, joined by ' > '. */
  name: string;
  /** '' = passed. */
  error: string;
}

/** A test that cannot pass here, and why. docs/protocols/amqp091.md lists the same ones. */
export interface Uncovered {
  name: string;
  reason: string;
}

export const files: readonly string[] = [
  'channel_api.test.js',
  'callback_api.test.js',
  'connect.test.js',
  'recovery.test.js',
];

export const uncovered: readonly Uncovered[] = [
  {
    name: 'connect.test.js > Connect > Connect API > serverProperties',
    reason:
      "it wants the server's product to be 'RabbitMQ'; ours says 'Understudy', unless it is told `product: rabbitmq`",
  },
];

/** amqplib's own limit is 1 s; here other tests run at the same time. */
const fileTimeoutMs = 120_000;
const here = fileURLToPath(new URL('../../../tools/amqplib/', import.meta.url));
const packageFolder = dirname(createRequire(import.meta.url).resolve('amqplib'));

/** Runs the tests against the broker on 127.0.0.1:port, which must be reachable for guest/guest. Rejects if they do not end. */
export async function runSuite(port: number): Promise<Outcome[]> {
  // Their queues and exchanges have different names.
  return (await Promise.all(files.map((file) => runFile(file, port)))).flat();
}

async function runFile(file: string, port: number): Promise<Outcome[]> {
  const args = [
    `--import=${join(here, 'redirect.mjs')}`,
    `--test-reporter=${join(here, 'reporter.mjs')}`,
    '--test-reporter-destination=stdout',
    join('test', file),
  ];
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: packageFolder,
    env: { ...environment, URL: `amqp://127.0.0.1:${port}`, AMQPLIB_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), fileTimeoutMs);
  const outcomes: Outcome[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const { name, error } = JSON.parse(line) as { name: string[]; error: string };
    outcomes.push({ name: [file, ...name].join(' > '), error });
  }
  clearTimeout(timer);
  if (child.signalCode !== null) throw new Error(`${file} did not end within ${fileTimeoutMs} ms`);
  return outcomes;
}
