/** One run of the load: connections, queues, publishers and consumers, a line every second, and the summary. */
import { QueueDeclare, QueueDelete } from '../../amqp091/codec/index.js';
import { LoadConnection } from './connection.js';
import { Consumer } from './consumer.js';
import { type LatencySummary, Measures } from './measures.js';
import { Publisher } from './publisher.js';
import { type RoutingOptions, setUpRouting } from './routing.js';

export interface BenchOptions {
  urls: readonly URL[];
  publishers: number;
  consumers: number;
  queues: number;
  size: number;
  window: number;
  prefetch: number;
  durable: boolean;
  /** `x-queue-type`; '' = none. */
  queueType: string;
  routing: RoutingOptions;
  /** Messages a second of all publishers; 0: no limit. */
  rate: number;
  lagMax: number;
  timeMs: number;
  /** Told once a second. */
  progress(line: Progress): void;
}

export interface Progress {
  seconds: number;
  published: number;
  confirmed: number;
  consumed: number;
}

export interface BenchSummary {
  seconds: number;
  published: number;
  confirmed: number;
  rejected: number;
  consumed: number;
  /** Messages a second. */
  publishRate: number;
  confirmRate: number;
  consumeRate: number;
  /** Milliseconds: publish to confirm, per batch; publish to receipt. */
  confirmTimes: LatencySummary | undefined;
  deliveryTimes: LatencySummary | undefined;
}

const settleMsMax = 5000;
const settlePollMs = 10;

export async function runBench(options: BenchOptions): Promise<BenchSummary> {
  const measures = new Measures();
  const connections: LoadConnection[] = [];
  const open = async (index: number): Promise<LoadConnection> => {
    const connection = await LoadConnection.open(options.urls[index % options.urls.length]!);
    connections.push(connection);
    return connection;
  };
  try {
    const control = await open(0);
    const names = await declareQueues(control, options);
    const routing = await setUpRouting(control, names, options.durable, options.routing);
    const publishers: Publisher[] = [];
    const perPublisher = options.rate / Math.max(1, options.publishers);
    // Consumers first, and one node further than the publishers of their queue.
    for (let i = 0; i < options.consumers; i++) {
      const queue = names[i % names.length]!;
      await Consumer.open(await open(i + 1), { queue, prefetch: options.prefetch }, measures);
    }
    for (let i = 0; i < options.publishers; i++) {
      const { size, durable, window, lagMax } = options;
      const publisher = {
        exchange: routing.exchange,
        keys: routing.keysOf(i % names.length),
        delayMs: options.routing.delayMs,
        size,
        persistent: durable,
        window,
        rate: perPublisher,
        lagMax,
      };
      publishers.push(await Publisher.open(await open(i), publisher, measures));
    }
    const lost = Promise.race(connections.map((connection) => connection.lost));
    const summary = await Promise.race([measure(publishers, measures, options), lost]);
    await routing.close();
    for (const name of names) await control.ask(new QueueDelete(name, false, false, false));
    return summary;
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

/** Queues of a name of their own, deleted at the end. */
async function declareQueues(control: LoadConnection, options: BenchOptions): Promise<string[]> {
  const run = `bench-${process.pid}-${Math.round(performance.timeOrigin)}`;
  const names = Array.from({ length: options.queues }, (_, index) => `${run}-${index + 1}`);
  const args = options.queueType === '' ? {} : { 'x-queue-type': options.queueType };
  for (const name of names) {
    await control.ask(new QueueDeclare(name, false, options.durable, false, false, false, args));
  }
  return names;
}

async function measure(publishers: Publisher[], measures: Measures, options: BenchOptions): Promise<BenchSummary> {
  const startedAt = performance.now();
  const before = { published: 0, confirmed: 0, consumed: 0 };
  const ticker = setInterval(() => {
    const { published, confirmed, consumed } = measures;
    options.progress({
      seconds: Math.round((performance.now() - startedAt) / 1000),
      published: published - before.published,
      confirmed: confirmed - before.confirmed,
      consumed: consumed - before.consumed,
    });
    Object.assign(before, { published, confirmed, consumed });
  }, 1000);
  for (const publisher of publishers) publisher.start();
  await new Promise((resolve) => setTimeout(resolve, options.timeMs));
  clearInterval(ticker);
  const seconds = (performance.now() - startedAt) / 1000;
  const { published, confirmed, consumed } = measures;
  for (const publisher of publishers) publisher.stop();
  await settled(publishers, measures, options);
  return {
    seconds,
    published: measures.published,
    confirmed: measures.confirmed,
    rejected: measures.rejected,
    consumed: measures.consumed,
    publishRate: published / seconds,
    confirmRate: confirmed / seconds,
    consumeRate: consumed / seconds,
    confirmTimes: measures.confirmTimes.summary(),
    deliveryTimes: measures.deliveryTimes.summary(),
  };
}

/** Waits for what is still out, for a while. */
async function settled(publishers: Publisher[], measures: Measures, options: BenchOptions): Promise<void> {
  const deadline = performance.now() + settleMsMax;
  const isSettled = (): boolean =>
    publishers.every((publisher) => publisher.unconfirmed === 0) &&
    (options.consumers === 0 || measures.consumed >= measures.published);
  while (!isSettled() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, settlePollMs));
  }
}
