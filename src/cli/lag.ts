import { Command } from 'commander';
import { parseBytes } from '../config/quantities.js';
import type { LatencySummary } from './bench/measures.js';
import { amqpUrl, reading, whole } from './bench-flags.js';
import { formatTable } from './table.js';

interface LagFlags {
  url: string;
  rounds: string;
  size: string;
  transient?: boolean;
  queueType: string;
  json?: boolean;
}

/** `understudy lag`: publish once, and see when each member has it. */
export function lagCommand(): Command {
  return new Command('lag')
    .description(
      'publish a message through the first of several AMQP 0-9-1 brokers, and time when each of them shows it',
    )
    .option(
      '--url <url[,url]>',
      'brokers of one cluster',
      'amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674',
    )
    .option('--rounds <n>', 'messages, one after the other', '200')
    .option('--size <bytes>', 'body of a message', '100')
    .option('--transient', 'a queue and messages that are not durable')
    .option('--queue-type <type>', 'x-queue-type, such as quorum')
    .option('--json', 'the summary as JSON, nothing else')
    .action((flags: LagFlags) => lag(flags));
}

async function lag(flags: LagFlags): Promise<void> {
  const { measureLag } = await import('./bench/lag.js');
  const { confirm, visible } = await measureLag({
    urls: flags.url.split(',').map(amqpUrl),
    rounds: whole('rounds', flags.rounds, 1, 1_000_000),
    size: whole('size', String(reading('size', () => parseBytes(flags.size))), 1, 128 * 1024 * 1024),
    durable: flags.transient !== true,
    queueType: flags.queueType ?? '',
  });
  if (flags.json === true) return void process.stdout.write(`${JSON.stringify({ confirm, visible })}\n`);
  const rows = [row('confirm', confirm), ...visible.map((member) => row(`seen through ${member.url}`, member.lag))];
  process.stdout.write(`${formatTable([['ms', 'P50', 'P90', 'P99', 'MAX'], ...rows])}\n`);
}

function row(name: string, { p50, p90, p99, max }: LatencySummary): string[] {
  return [name, ...[p50, p90, p99, max].map((value) => value.toFixed(2))];
}
