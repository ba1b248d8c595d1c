/** Large messages: against the memory that a broker may use for messages, beside other traffic, and through failovers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { callApi } from '../../src/cli/api-client.js';
import { sleep } from '../support/cluster-processes.js';
import { GapProbe } from '../support/gap-probe.js';
import { LargeConsumer, LargePublisher } from '../support/large-client.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { RateProbe } from '../support/rate-probe.js';
import { withCluster } from '../support/with-cluster.js';
import { within } from '../support/within.js';

const mebibyte = 1024 * 1024;

describe('messages larger than the memory for messages', () => {
  it('go to disk when nothing follows them: publishers go on, and they come back whole', async () => {
    await using broker = await LoneBroker.start({ options: ['--memory', '16MiB'] });
    const bodies = [1, 2, 3].map((filler) => Buffer.alloc(40 * mebibyte, filler));
    await using large = await QueueClient.open(broker.url);
    for (const [i, body] of bodies.entries()) await within(20_000, 'a confirm', large.send(`large-${i}`, [body]));
    await using small = await QueueClient.open(broker.url);
    await within(20_000, 'a confirm', small.send('small', ['a', 'b']));
    const health = await callApi(new URL(`http://127.0.0.1:${broker.httpPort}`), 'GET', '/api/health');
    assert.deepEqual((health as { status: string }).status, 'ok');
    for (const [i, body] of bodies.entries()) {
      const [message] = await large.browse(`large-${i}`);
      assert.ok(message!.content.equals(body));
    }
  });
});

const largeClient = fileURLToPath(new URL('../support/large-client.js', import.meta.url));

describe('large messages through a cluster', () => {
  /** The limits are those of `test/long/large-messages.test.ts`, times ten: other tests run on the same two cores. */
  it('do not keep others waiting', { timeout: 120_000 }, () =>
    withCluster(['--memory', '64MiB'], async (cluster) => {
      const [first, second, third] = cluster.amqpUrls as [string, string, string];
      await using client = await QueueClient.open(first);
      await client.declare('durable');
      await using rate = await RateProbe.start('fast', 1000, first, second);
      await using gap = await GapProbe.start('durable', second, third);
      await sleep(500);
      const before = cluster.nodes.map(({ rssBytes }) => rssBytes);
      rate.begin();
      gap.begin();
      const child = spawn(process.execPath, [largeClient, second, third, 'large', String(64 * mebibyte)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [code] = await within(60_000, 'the large message', once(child, 'exit'));
      assert.equal(code, 0);
      const { p99 } = rate.summary!;
      assert.ok(p99 < 500, `p99 of the transient client: ${p99} ms`);
      assert.ok(gap.longestMs < 5000, `longest gap of the durable client: ${gap.longestMs} ms`);
      for (const [i, node] of cluster.nodes.entries()) {
        const grown = Math.round((node.rssBytes - before[i]!) / mebibyte);
        assert.ok(grown < 160, `${node.name} has grown by ${grown} MiB, with 64 MiB for messages`);
      }
    }),
  );

  it('go on when their primary is killed while they come, and while they are delivered', { timeout: 120_000 }, () =>
    withCluster([], async (cluster) => {
      const bytes = 24 * mebibyte;
      for (const when of ['publish', 'delivery']) {
        const queue = `killed at ${when}`;
        await using client = await QueueClient.open(cluster.awake[0]!.amqpUrl);
        await client.declare(queue);
        const primary = (await cluster.leaderOf(queue))!;
        const [to, from] = cluster.nodes.filter((node) => node !== primary).map((node) => node.amqpUrl);
        const consumer = await LargeConsumer.open(from!, queue);
        const publisher = await LargePublisher.open(to!);
        const kill = (): Promise<void> => primary.kill();
        const taken = consumer.take(bytes, () => void (when === 'delivery' && kill()));
        const sent = publisher.publish(queue, bytes, async () => void (when === 'publish' && (await kill())));
        await within(60_000, 'a confirm', sent);
        await within(60_000, 'the message', taken);
        await Promise.all([consumer.close(), publisher.close()]);
        assert.notEqual(await cluster.leaderOf(queue), primary);
        await primary.start();
        await cluster.untilComplete();
      }
    }),
  );
});
