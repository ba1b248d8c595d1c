/**
 * `npm run conformance -- [--target one|cluster|rabbitmq|PORT] [--verbose] [WORD...]`: the cases whose title or source has all words, against a target;
 * default: one broker. PORT: a RabbitMQ that listens there, and whose HTTP API is at the port `--http`. Exit code 0: all as expected.
 */
import { parseArgs } from 'node:util';
import type { Case } from './case.js';
import { cases } from './cases.js';
import { check } from './run-case.js';
import { startCluster } from './targets/cluster.js';
import { startOne } from './targets/one-broker.js';
import { startRabbitmq } from './targets/rabbitmq.js';
import type { Target } from './targets/target.js';

const atOnce = 12;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', default: 'one' },
    http: { type: 'string', default: '15672' },
    verbose: { type: 'boolean', default: false },
  },
});

function start(name: string): Promise<Target> {
  if (name === 'one') return startOne();
  if (name === 'cluster') return startCluster();
  if (name === 'rabbitmq') return startRabbitmq();
  const port = Number(name);
  if (!Number.isInteger(port)) throw new Error(`there is no target "${name}": one, cluster, rabbitmq, or a port`);
  return Promise.resolve({
    name: 'RabbitMQ',
    port,
    httpPort: Number(values.http),
    isOurs: false,
    async [Symbol.asyncDispose]() {},
  });
}

/** Runs them, some at once. Returns how many were not as expected. */
async function runAll(wanted: readonly Case[], target: Target): Promise<number> {
  let failures = 0;
  const left = [...wanted];
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const from = performance.now();
      try {
        await check(one, target);
        const ms = Math.round(performance.now() - from);
        if (values.verbose) console.log(`ok ${String(ms).padStart(6)} ms  ${one.title} (${one.source})`);
      } catch (error) {
        failures++;
        console.log(`FAILED  ${one.title} (${one.source})\n${indented(shortened(error as Error))}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return failures;
}

/** The text, and the lines of the cases in which it happened. */
function shortened({ message, stack = '' }: Error): string {
  const lines = stack.split('\n').filter((line) => line.includes('/conformance/cases/'));
  return [message, ...lines].join('\n');
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '        ');
}

await using target = await start(values.target);
const wanted = cases.filter(
  ({ title, source, onlyOurs }) =>
    positionals.every((word) => `${title} ${source}`.includes(word)) && (target.isOurs || !onlyOurs),
);
const from = performance.now();
const failures = await runAll(wanted, target);
const seconds = ((performance.now() - from) / 1000).toFixed(1);
console.log(`${target.name}: ${wanted.length} cases, ${failures} not as expected, ${seconds} s`);
process.exitCode = failures === 0 ? 0 : 1;
