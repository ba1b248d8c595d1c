import { Command } from 'commander';
import { parseBytes, parseDuration } from '../config/quantities.js';
import type { BenchOptions, BenchSummary, Progress } from './bench/run.js';
import type { LatencySummary } from './bench/measures.js';
import { amqpUrl, reading, whole } from './bench-flags.js';
import { formatTable } from './table.js';

interface BenchFlags {
  url: string;
  publishers: string;
  consumers: string;
  queues: string;
  size: string;
  confirm: string;
  prefetch: string;
  transient?: boolean;
  queueType: string;
  exchange: string;
  bindings: string;
  keys: string;
  delay: string;
  rate: string;
  maxLag: string;
  time: string;
  json?: boolean;
}

const connectionsMax = 10_000;
const bindingsMax = 5_000_000;
/** Each is a message that is ready to be sent. */
const keysMax = 100_000;

/** `understudy bench`: load for any AMQP 0-9-1 broker. */
export function benchCommand(): Command {
  return new Command('bench')
    .description('publish and consume as fast as an AMQP 0-9-1 broker takes it; rates and percentiles')
    .option('--url <url[,url]>', 'brokers; publishers and consumers are spread over them', 'amqp://127.0.0.1:5672')
    .option('--publishers <n>', 'connections that publish', '1')
    .option('--consumers <n>', 'connections that consume', '1')
    .option('--queues <n>', 'queues, each with its share of them', '1')
    .option('--size <bytes>', 'body of a message, at least 8', '100')
    .option('--confirm <n>', 'unconfirmed publishes of a publisher, at most; 0: no confirms', '1000')
    .option('--prefetch <n>', 'unacknowledged deliveries of a consumer, at most; 0: auto-ack', '1000')
    .option('--transient', 'queues and messages that are not durable')
    .option('--queue-type <type>', 'x-queue-type, such as quorum')
    .option('--exchange <type>', 'an exchange of that type before the queues, such as topic', '')
    .option('--bindings <n>', 'its bindings, spread over the queues', '1')
    .option('--keys <n>', 'different routing keys, one of them for each message by chance', '1')
    .option('--delay <time>', 'x-delay of every message, for --exchange x-delayed-message', '0s')
    .option('--rate <n>', 'messages a second of all publishers; 0: no limit', '0')
    .option('--max-lag <n>', 'publish only while no more than this are waiting to be consumed; 0: no matter', '5000')
    .option('--time <time>', 'length of the run', '10s')
    .option('--json', 'the summary as JSON, nothing else')
    .action((flags: BenchFlags) => bench(flags));
}

async function bench(flags: BenchFlags): Promise<void> {
  const json = flags.json === true;
  const options = readFlags(flags, json ? () => {} : (progress) => process.stdout.write(`${line(progress)}\n`));
  const { runBench } = await import('./bench/run.js');
  const summary = await runBench(options);
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : `\n${report(summary)}\n`);
}

function readFlags(flags: BenchFlags, progress: (line: Progress) => void): BenchOptions {
  const consumers = whole('consumers', flags.consumers, 0, connectionsMax);
  return {
    urls: flags.url.split(',').map(amqpUrl),
    publishers: whole('publishers', flags.publishers, 0, connectionsMax),
    consumers,
    queues: whole('queues', flags.queues, 1, connectionsMax),
    size: whole('size', String(reading('size', () => parseBytes(flags.size))), 8, 128 * 1024 * 1024),
    window: whole('confirm', flags.confirm, 0, 1_000_000),
    prefetch: whole('prefetch', flags.prefetch, 0, 65_535),
    durable: flags.transient !== true,
    queueType: flags.queueType ?? '',
    routing: readRouting(flags),
    rate: whole('rate', flags.rate, 0, 100_000_000),
    lagMax: consumers === 0 ? 0 : whole('max-lag', flags.maxLag, 0, 1_000_000_000),
    timeMs: reading('time', () => parseDuration(flags.time)),
    progress,
  };
}

/** @throws CommandError for keys that no binding has. */
function readRouting(flags: BenchFlags): BenchOptions['routing'] {
  const bindings = whole('bindings', flags.bindings, 1, bindingsMax);
  return {
    exchange: flags.exchange,
    bindings: Math.max(bindings, Number(flags.queues)),
    keys: whole('keys', flags.keys, 1, Math.min(keysMax, bindings)),
    delayMs: reading('delay', () => parseDuration(flags.delay)),
  };
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US');

function line({ seconds, published, confirmed, consumed }: Progress): string {
  return `${String(seconds).padStart(3)} s  published ${count(published)}/s  confirmed ${count(confirmed)}/s  consumed ${count(consumed)}/s`;
}

function report(summary: BenchSummary): string {
  const { seconds, published, confirmed, consumed, rejected } = summary;
  const rows = [
    ['', 'MESSAGES', 'PER SECOND'],
    ['published', count(published), count(summary.publishRate)],
    ['confirmed', count(confirmed), count(summary.confirmRate)],
    ['consumed', count(consumed), count(summary.consumeRate)],
  ];
  if (rejected > 0) rows.push(['refused', count(rejected), '']);
  const times = [
    ['ms', 'p50', 'p90', 'p99', 'p99.9', 'max'],
    ['publish to confirm', ...percentiles(summary.confirmTimes)],
    ['publish to receipt', ...percentiles(summary.deliveryTimes)],
  ];
  return `${formatTable(rows)}\n\n${formatTable(times)}\n\n${seconds.toFixed(1)} s`;
}

function percentiles(times: LatencySummary | undefined): string[] {
  if (times === undefined) return ['-', '-', '-', '-', '-'];
  return [times.p50, times.p90, times.p99, times.p999, times.max].map((ms) => ms.toFixed(2));
}
