/**
 * The tests of RabbitMQ's Go client (github.com/rabbitmq/amqp091-go 1.5, as Debian packages it) that talk to a broker, and those beside
 * them, against a broker of ours. tools/test/go-client.mjs builds them.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Outcome {
  name: string;
  isPassed: boolean;
  /** What it said. */
  text: string;
}

/** A test that cannot pass here, and why. docs/protocols/amqp091.md lists the same ones. */
export interface Uncovered {
  name: string;
  reason: string;
  /** It would end the others with it. */
  endsAll?: boolean;
  /** It passes sometimes. */
  isRace?: boolean;
}

export const uncovered: readonly Uncovered[] = [
  {
    name: 'TestIntegrationConsumeFlow',
    reason: 'it takes for granted that channel.flow is refused; here it works, and the test ends in a panic',
    endsAll: true,
  },
  {
    name: 'TestDeclareArgsRejectToDeadLetterQueue',
    reason: 'it asks ten times without a pause for a dead letter, which takes some milliseconds: it passes sometimes',
    isRace: true,
  },
];

const binary: string = fileURLToPath(
  new URL('../../../node_modules/.cache/understudy/amqp091-go-tests/suite.test', import.meta.url),
);
const timeoutMs = 300_000;

/** Runs them against the broker on 127.0.0.1:port, which must take guest/guest. */
export async function runSuite(port: number): Promise<Outcome[]> {
  if (!existsSync(binary)) throw new Error(`there is no ${binary}: run node tools/test/go-client.mjs`);
  const listed = await run(port, ['-test.list', '^Test']);
  const names = listed.split('\n').filter((line) => /^Test\w+$/.test(line));
  const skipped = uncovered.filter(({ endsAll }) => endsAll).map(({ name }) => name);
  return runSome(
    port,
    names.filter((name) => !skipped.includes(name)),
  );
}

/** Those of that name. */
export async function runSome(port: number, names: readonly string[]): Promise<Outcome[]> {
  const text = await run(port, ['-test.v', '-test.run', `^(?:${names.join('|')})$`]);
  return names.map((name) => {
    const [, body = ''] = text.split(`=== RUN   ${name}\n`);
    return {
      name,
      isPassed: text.includes(`--- PASS: ${name} `),
      text: body.split('=== RUN')[0]!.trim(),
    };
  });
}

/** What it prints, whatever comes of it. */
function run(port: number, args: readonly string[]): Promise<string> {
  const env = { ...process.env, AMQP_URL: `amqp://guest:guest@127.0.0.1:${port}/` };
  return new Promise((resolve) => {
    execFile(binary, args, { env, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    );
  });
}
