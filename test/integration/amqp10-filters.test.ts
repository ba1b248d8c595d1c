/** Filters, browsers and subscriptions of AMQP 1.0 over the loss of a primary, with real processes and rhea. The rules one by one: test/conformance. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import rhea from 'rhea';
import type { NodeProcess } from '../support/node-process.js';
import { bytes, type Message, RheaClient, textOf } from '../support/rhea-client.js';
import { withCluster } from '../support/with-cluster.js';
import { within } from '../support/within.js';

const patienceMs = 30_000;
const durable = { durable: 2, expiry_policy: 'never', distribution_mode: 'copy', capabilities: ['topic'] };

const clientOf = (node: NodeProcess): Promise<RheaClient> =>
  RheaClient.open({ port: node.ports.amqp, patienceMs, more: { container_id: 'subscriber' } });

/** One number in three is wanted. */
const numbers = (from: number, to: number): Message[] =>
  Array.from({ length: to - from }, (_, i) => ({
    durable: true,
    subject: 'news',
    application_properties: { third: (from + i) % 3 },
    body: bytes(String(from + i)),
  }));
const asNumbers = (messages: readonly Message[]): number[] => messages.map((message) => Number(textOf(message)));
const range = (to: number): number[] => Array.from({ length: to }, (_, i) => i);

describe('AMQP 1.0 that chooses', { timeout: 120_000 }, () => {
  it('goes on with a new primary: selectors, browsers, subscriptions', async () => {
    await withCluster([], async (cluster) => {
      const connection = await amqp.connect(cluster.nodes[0]!.amqpUrl);
      connection.on('error', () => {});
      await (await connection.createChannel()).assertQueue('chosen', { durable: true });
      const leader = (await cluster.leaderOf('chosen'))!;
      const [to, from] = cluster.nodes.filter((node) => node !== leader);
      const publisher = await clientOf(to!);
      const client = await clientOf(from!);
      const sender = await publisher.sender('/queues/chosen');
      const topics = await publisher.sender('/exchanges/amq.topic');

      const filter = rhea.filter.selector('third = 0');
      const chooser = await client.receiver('', 0, { source: { address: '/queues/chosen', filter } });
      const browser = await client.receiver('', 0, {
        source: { address: '/queues/chosen', distribution_mode: 'copy' },
      });
      const named = { name: 'news', source: { address: '/exchanges/amq.topic/news', ...durable, filter } };
      const subscriber = await client.receiver('', 0, named);
      await sender.sendAll(numbers(0, 300));
      await topics.sendAll(numbers(0, 300));
      const chosen = asNumbers(await chooser.take(50));
      const seen = asNumbers(await browser.take(50));
      const news = asNumbers(await subscriber.take(50));
      const detached = once(subscriber.link, 'receiver_close');
      subscriber.link.detach();
      await Promise.race([detached, once(subscriber.link, 'receiver_closed'), new Promise((r) => setTimeout(r, 200))]);

      await leader.kill();
      await sender.sendAll(numbers(300, 600));
      await topics.sendAll(numbers(300, 600));
      chosen.push(...asNumbers(await chooser.take(150)));
      // What was under way may come twice, flagged.
      assert.deepEqual(
        [...new Set(chosen)],
        range(200).map((n) => n * 3),
      );
      // All that is left in the queue at the end, each once and in order.
      while (seen.at(-1) !== 599 && seen.length < 600) seen.push(...asNumbers(await browser.take(1)));
      assert.deepEqual(
        seen,
        [...new Set(seen)].sort((a, b) => a - b),
      );
      assert.deepEqual(
        range(600).filter((n) => n % 3 !== 0 && !seen.includes(n)),
        [],
      );

      // Through another node, with what came while nobody was there.
      const later = await clientOf(to!);
      const again = await later.receiver('', 0, named);
      while (new Set(news).size < 200) news.push(...asNumbers(await again.take(1)));
      assert.deepEqual(
        [...new Set(news)].sort((a, b) => a - b),
        range(200).map((n) => n * 3),
      );
      const closed = once(again.link, 'receiver_close');
      again.link.close();
      await within(patienceMs, 'it is closed', closed);
      assert.deepEqual([...publisher.errors, ...client.errors, ...later.errors], []);
      await Promise.all([publisher.close(), client.close(), later.close()]);
    });
  });
});
