/**
 * UNDERSTUDY_MESSAGES messages (default 1 million) wait for their time on one broker: what they take of its memory, how a plain queue
 * beside them fares while they wait and while a tenth of them goes on at once, and how long a start with them takes. Two minutes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExchangeDeclare, QueueBind, QueueDeclare, type QueueDeclareOk } from '../../src/amqp091/codec/index.js';
import { LoadConnection } from '../../src/cli/bench/connection.js';
import { Measures } from '../../src/cli/bench/measures.js';
import { Publisher } from '../../src/cli/bench/publisher.js';
import { type BenchSummary, runBench } from '../../src/cli/bench/run.js';
import { sleep } from '../support/cluster-processes.js';
import { LoneBroker } from '../support/lone-broker.js';

const messages = Number(process.env['UNDERSTUDY_MESSAGES'] ?? 1_000_000);
const bodyBytes = 100;
const hourMs = 3_600_000;
/** Beyond it the machine is not what is slow. Wanted: 1, but for noise. */
const rateShareMin = 0.5;
/** Besides the bytes of messages, which are given up when they are too many. */
const memoryOfEachMax = 100;
const messageMemory = 64 * 1024 * 1024;

async function plain(url: string): Promise<BenchSummary> {
  return runBench({
    urls: [new URL(url)],
    publishers: 1,
    consumers: 1,
    queues: 1,
    size: bodyBytes,
    window: 1000,
    prefetch: 1000,
    durable: true,
    queueType: '',
    routing: { exchange: '', bindings: 1, keys: 1, delayMs: 0 },
    rate: 0,
    lagMax: 5000,
    timeMs: 4000,
    progress: () => {},
  });
}

/** Publishes so many, or a few more; resolves when they are confirmed, to how many a second it took. */
async function fill(url: string, exchange: string, count: number, delayMs: number): Promise<number> {
  const connection = await LoadConnection.open(new URL(url));
  const measures = new Measures();
  const keys = ['k'];
  const options = { exchange, keys, delayMs, size: bodyBytes, persistent: true, window: 1000, rate: 0, lagMax: 0 };
  const publisher = await Publisher.open(connection, options, measures);
  const from = performance.now();
  publisher.start();
  while (measures.published < count) await sleep(5);
  publisher.stop();
  while (publisher.unconfirmed > 0) await sleep(5);
  const seconds = (performance.now() - from) / 1000;
  await connection.close();
  return measures.published / seconds;
}

test(`${messages} messages wait for their time`, async (t) => {
  await using broker = await LoneBroker.start({ options: ['--memory', String(messageMemory)] });
  const control = await LoadConnection.open(new URL(broker.url));
  for (const exchange of ['soon', 'late'])
    await control.ask(
      new ExchangeDeclare(exchange, 'x-delayed-message', false, true, false, false, false, {
        'x-delayed-type': 'direct',
      }),
    );
  await control.ask(new QueueDeclare('due', false, true, false, false, false, {}));
  for (const exchange of ['soon', 'late']) await control.ask(new QueueBind('due', exchange, 'k', false, {}));
  await plain(broker.url);
  const before = await plain(broker.url);
  const memoryBefore = broker.rssBytes;

  const fillRate = await fill(broker.url, 'late', messages, hourMs);
  const beside = await plain(broker.url);
  const each = (broker.rssBytes - memoryBefore) / messages;

  const some = messages / 10;
  await fill(broker.url, 'soon', some, 3000);
  const firing = await plain(broker.url);
  let due = 0;
  for (const deadline = Date.now() + 60_000; due < some && Date.now() < deadline; await sleep(100))
    due = ((await control.ask(new QueueDeclare('due', true, false, false, false, false, {}))) as QueueDeclareOk)
      .messageCount;
  await control.close();

  await broker.kill();
  const startedAt = performance.now();
  await broker.start();
  const startMs = performance.now() - startedAt;
  const after = await plain(broker.url);

  const rates = [before, beside, firing, after].map(({ consumeRate }) => Math.round(consumeRate));
  const waits = [before, beside, firing, after].map(({ deliveryTimes }) => Math.round(deliveryTimes?.p99 ?? -1));
  t.diagnostic(`published to wait: ${Math.round(fillRate)} msg/s; ${Math.round(each)} bytes of memory each`);
  t.diagnostic(`a plain queue before, beside them, while ${some} go on, after a restart: ${rates.join(', ')} msg/s`);
  t.diagnostic(
    `its p99 from publish to receipt: ${waits.join(', ')} ms; serving again after ${Math.round(startMs)} ms`,
  );
  assert.ok(due >= some, `${due} of ${some} went on`);
  assert.ok(each < memoryOfEachMax + messageMemory / messages, `${each} bytes each`);
  assert.ok(rates[1]! > rates[0]! * rateShareMin, rates.join(', '));
  assert.deepEqual(broker.loggedErrors, []);
});
