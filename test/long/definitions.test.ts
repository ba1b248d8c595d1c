/**
 * UNDERSTUDY_QUEUES queues (default 100,000) with a binding each are imported into a broker that has clients: how long it takes, how long a
 * publish waits for its confirm meanwhile, and while they are exported and listed. A minute or two.
 */
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfirmChannel, connect } from 'amqplib';
import { Run } from '../integration/support/command.js';
import { request } from '../integration/support/http.js';
import { sleep } from '../support/cluster-processes.js';
import { LoneBroker } from '../support/lone-broker.js';

const count = Number(process.env['UNDERSTUDY_QUEUES'] ?? 100_000);
/** Wanted: 10 ms for a turn of ours, and what the machine and garbage collections add. */
const wantedMs = 100;

interface Gaps {
  longest: number;
  stop(): Promise<void>;
}

/** Publishes all the time, one after the other. */
function watch(channel: ConfirmChannel): Gaps {
  const gaps: Gaps = { longest: 0, stop: async () => {} };
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      const from = performance.now();
      await new Promise<void>((resolve) => void channel.publish('', 'watched', Buffer.from('x'), {}, () => resolve()));
      gaps.longest = Math.max(gaps.longest, performance.now() - from);
      await sleep(5);
    }
  };
  const running = run();
  gaps.stop = async () => {
    isOver = true;
    await running;
  };
  return gaps;
}

test(`${count} queues are imported, exported and listed while clients publish`, async (t) => {
  await using broker = await LoneBroker.start();
  const file = join(broker.folder, 'definitions.json');
  const url = `http://127.0.0.1:${broker.httpPort}`;
  const names = Array.from({ length: count }, (_, i) => `customer.${i}.orders`);
  const queues = names.map((name, i) => {
    const table = i % 10 === 0 ? { 'x-max-length': 1000 } : {};
    return { name, vhost: '/', durable: true, auto_delete: false, arguments: table };
  });
  const bindings = names.map((destination, i) => ({
    source: 'amq.topic',
    vhost: '/',
    destination,
    destination_type: 'queue',
    routing_key: `customer.${i}.#`,
    arguments: {},
  }));
  await writeFile(file, JSON.stringify({ queues, bindings }));
  const connection = await connect(broker.url);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue('watched', { maxLength: 10 });
  const measured = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    const gaps = watch(channel);
    const from = performance.now();
    await run();
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    await gaps.stop();
    t.diagnostic(
      `${what}: ${seconds} s; longest wait for a confirm ${gaps.longest.toFixed(0)} ms (wanted: ${wantedMs})`,
    );
    assert.ok(gaps.longest < 10 * wantedMs, `${what}: ${gaps.longest} ms`);
  };
  const command = async (...args: string[]): Promise<void> => {
    await using run = new Run(['definitions', ...args, '--url', url]);
    assert.equal(await run.exited, 0, run.stderr);
  };
  await measured(`import of ${((await stat(file)).size / 1e6).toFixed(0)} MB`, () => command('import', file));
  await measured('the same again', () => command('import', file));
  const out = join(broker.folder, 'out.json');
  await measured('export', () => command('export', out));
  const exported = JSON.parse(await readFile(out, 'utf8')) as { queues: object[]; bindings: object[] };
  assert.deepEqual([exported.queues.length, exported.bindings.length], [count + 1, count]);
  const page = 'page=2&page_size=100';
  for (const query of [page, `${page}&name=7.orders`, `${page}&sort=messages&sort_reverse=true`, 'columns=name', ''])
    await measured(`queues?${query}`, async () => {
      assert.equal((await request(`${url}/api/queues/%2F?${query}`)).status, 200);
    });
  await connection.close();
});
