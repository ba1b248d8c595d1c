#!/usr/bin/env node
/**
 * Numbered messages against a cluster whose nodes may be killed, frozen and restarted meanwhile: at the end it says whether
 * any confirmed message was lost, delivered twice without the redelivered flag, or out of order. See README.md here.
 *
 *   node examples/numbered.mjs --urls amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674 --seconds 30
 *
 * Exit code 0: the brokers kept their word; 1: they did not; 2: the program could not do its work.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Consumer } from './numbered/consumer.mjs';
import { Ledger } from './numbered/ledger.mjs';
import { Nodes } from './numbered/nodes.mjs';
import { Publisher } from './numbered/publisher.mjs';

const { options, phase } = readCommandLine();
const count = (name) => Number(options[name]);
const patienceMs = count('patience') * 1000;
const nodes = new Nodes(options.urls.split(','));
const queues = Array.from({ length: count('queues') }, (_, i) => `${options.prefix}.${i}`);
const say = (event) => options.json && process.stdout.write(`${JSON.stringify(event)}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Gaps between a publisher's confirms that are worth telling. */
const gapMs = 50;

async function main() {
  const ledger =
    phase === 'drain'
      ? Ledger.from(JSON.parse(await readFile(options.ledger, 'utf8')))
      : new Ledger(count('publishers'));
  if (phase !== 'drain') await declareQueues();
  const consumers = startConsumers(ledger);
  let longestGapMs = 0;
  if (phase !== 'drain') longestGapMs = await publish(ledger);
  if (phase !== 'publish') await drain(ledger);
  for (const consumer of consumers) await consumer.close();
  if (phase !== 'publish') {
    ledger.close();
    await deleteQueues();
  }
  if (options.ledger !== undefined) await writeFile(options.ledger, JSON.stringify(ledger));
  report(ledger, longestGapMs);
  process.exitCode = ledger.isFaultless ? 0 : 1;
}

/** Ends the program with exit code 2 if the command line makes no sense. */
function readCommandLine() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        urls: { type: 'string', default: 'amqp://127.0.0.1:5672,amqp://127.0.0.1:5673,amqp://127.0.0.1:5674' },
        publishers: { type: 'string', default: '4' },
        consumers: { type: 'string', default: '4' },
        queues: { type: 'string', default: '4' },
        prefix: { type: 'string', default: 'numbered' },
        seconds: { type: 'string', default: '0' },
        window: { type: 'string', default: '100' },
        rate: { type: 'string', default: '1000' },
        size: { type: 'string', default: '100' },
        waiting: { type: 'string', default: '0' },
        patience: { type: 'string', default: '60' },
        ledger: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    const [name = 'run', ...more] = positionals;
    if (!['run', 'publish', 'drain'].includes(name) || more.length > 0)
      throw new Error(`"${positionals.join(' ')}" is none of run, publish, drain`);
    if (name === 'drain' && values.ledger === undefined) throw new Error('drain needs --ledger, the file of a publish');
    for (const number of [
      'publishers',
      'consumers',
      'queues',
      'seconds',
      'window',
      'rate',
      'size',
      'waiting',
      'patience',
    ])
      if (!/^\d+$/.test(values[number])) throw new Error(`--${number}: "${values[number]}" is no whole number`);
    for (const url of values.urls.split(','))
      if (!/^amqps?:\/\/./.test(url)) throw new Error(`--urls: "${url}" is no URL such as amqp://127.0.0.1:5672`);
    return { options: values, phase: name };
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** To a node, the first that answers within the time that we have patience. */
async function connectSoon(first) {
  const deadline = performance.now() + patienceMs;
  const found = await nodes.connect(first, () => performance.now() < deadline);
  if (found === undefined) throw new Error(`no node lets us in: ${nodes.trouble}`);
  return found.connection;
}

/** Durable queues, each declared at another node, so that each node leads some. */
async function declareQueues() {
  for (const [i, queue] of queues.entries()) {
    const connection = await connectSoon(i);
    const channel = await connection.createChannel();
    // Understudy replicates every queue; RabbitMQ, to which this may be compared, those of this type.
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    await connection.close();
  }
}

async function deleteQueues() {
  const connection = await connectSoon(0);
  const channel = await connection.createChannel();
  for (const queue of queues) await channel.deleteQueue(queue);
  await connection.close();
}

function startConsumers(ledger) {
  const consumers = [];
  for (let id = 0; id < count('consumers'); id++)
    consumers.push(new Consumer({ id, nodes, ledger, queue: queues[id % queues.length] }));
  for (const consumer of consumers) consumer.start();
  return consumers;
}

/** Until the time is over or Ctrl-C; then until all is confirmed. Resolves to the longest time without a confirm, in ms. */
async function publish(ledger) {
  let longest = 0;
  const publishers = ledger.accounts.map((_, id) => {
    const gap = (ms) => {
      longest = Math.max(longest, ms);
      if (ms >= gapMs) say({ gap: Math.round(ms), publisher: id, at: Date.now() });
    };
    return new Publisher({
      id,
      nodes,
      ledger,
      queues,
      window: count('window'),
      rate: count('rate'),
      size: count('size'),
      waitingMax: count('waiting'),
      gap,
    });
  });
  const progress = setInterval(() => say({ progress: ledger.totals }), 200);
  for (const publisher of publishers) publisher.start();
  await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    if (count('seconds') > 0) setTimeout(resolve, count('seconds') * 1000);
  });
  say({ stopping: true });
  await Promise.all(publishers.map((publisher) => publisher.finish(patienceMs)));
  clearInterval(progress);
  return Math.round(longest);
}

/** Until all queues are empty and every confirmed message has come, or nothing new comes; and a little longer, for what must not come. */
async function drain(ledger) {
  let deadline = performance.now() + patienceMs;
  let missing = ledger.missing;
  while (performance.now() < deadline && (missing > 0 || !(await areEmpty()))) {
    await sleep(100);
    const before = missing;
    missing = ledger.missing;
    if (missing < before) deadline = performance.now() + patienceMs;
  }
  await sleep(1000);
}

/** False as well if they cannot be asked now. */
async function areEmpty() {
  const connection = await connectSoon(0);
  try {
    const channel = await connection.createChannel();
    let messages = 0;
    for (const queue of queues) messages += (await channel.checkQueue(queue)).messageCount;
    return messages === 0;
  } catch {
    return false;
  } finally {
    await connection.close().catch(() => {});
  }
}

function report(ledger, longestGapMs) {
  const { totals, faults, faultCounts } = ledger;
  const missing = ledger.missing;
  say({ result: { ...totals, missing, longestGapMs, faults, faultCounts } });
  if (options.json) return;
  const rows = {
    'messages sent': totals.sent,
    'sent again': totals.sentAgain,
    confirmed: totals.confirmed,
    deliveries: totals.delivered,
    'of these flagged': totals.flagged,
    'longest gap, ms': longestGapMs,
    ...(phase === 'publish' ? { 'still queued': missing } : { 'confirmed, LOST': faultCounts.lost }),
    'unflagged DUPLICATES': faultCounts.duplicates,
    'out of ORDER': faultCounts.disorder,
    'confirmed UNROUTABLE': faultCounts.unroutable,
    'in a WRONG queue': faultCounts.misplaced,
  };
  for (const [name, value] of Object.entries(rows)) console.log(`${name.padEnd(22)} ${String(value).padStart(10)}`);
  for (const [kind, list] of Object.entries(faults))
    for (const { what, at, consumer = '-' } of list.slice(0, 10))
      console.log(`${kind}: ${what}, consumer ${consumer}, ${new Date(at).toISOString()}`);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(2);
});
