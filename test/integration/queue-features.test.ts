/**
 * What queues do by their arguments goes on when their primary is killed: each case sets something up, the primary of its queue is
 * killed, and the case looks at what the next one does. One cluster and one kill for all, since the queues are of one group.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as amqp from 'amqplib';
import { sleep } from '../support/cluster-processes.js';
import { type Check, clientOf, type FeatureClient } from '../support/feature-client.js';
import { withCluster } from '../support/with-cluster.js';

const cases: [title: string, setUp: (client: FeatureClient) => Promise<Check>][] = [
  [
    'priorities',
    async (client) => {
      await client.declare('priorities', { 'x-max-priority': 5 });
      for (const [body, priority] of [
        ['a', 0],
        ['b', 3],
        ['c', 9],
        ['d', 5],
      ] as const)
        await client.send('priorities', body, { priority });
      return async () => {
        await client.send('priorities', 'e', { priority: 4 });
        assert.deepEqual(await client.drain('priorities'), ['c', 'd', 'e', 'b', 'a']);
      };
    },
  ],
  [
    'lengths, in messages and bytes',
    async (client) => {
      await client.declare('length', { 'x-max-length': 2 });
      await client.declare('bytes', { 'x-max-length-bytes': 6 });
      for (const queue of ['length', 'bytes']) await client.sendAll(queue, 'aa', 'bb', 'cc');
      return async () => {
        for (const queue of ['length', 'bytes']) await client.sendAll(queue, 'dd', 'ee');
        await client.countBecomes('length', 2);
        await client.countBecomes('bytes', 3);
        assert.deepEqual(await client.drain('length'), ['dd', 'ee']);
        assert.deepEqual(await client.drain('bytes'), ['cc', 'dd', 'ee']);
      };
    },
  ],
  [
    'refusals of what is too much',
    async (client) => {
      await client.declare('refusing', { 'x-max-length': 2, 'x-overflow': 'reject-publish' });
      assert.deepEqual(await client.sendAll('refusing', 'a', 'b', 'c'), ['ack', 'ack', 'nack']);
      return async () => {
        assert.deepEqual(await client.sendAll('refusing', 'd'), ['nack']);
        assert.deepEqual(await client.drain('refusing'), ['a', 'b']);
        assert.deepEqual(await client.sendAll('refusing', 'e'), ['ack']);
      };
    },
  ],
  [
    'counts of deliveries',
    async (client) => {
      await client.declare('counting', {
        'x-queue-type': 'quorum',
        'x-delivery-limit': 2,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'counted',
      });
      await client.declare('counted');
      await client.send('counting', 'a');
      client.channel.nack(await client.get('counting'));
      const again = await client.get('counting');
      assert.equal(again.properties.headers!['x-delivery-count'], 1);
      client.channel.nack(again);
      // The next answer comes when that is in the log.
      await client.count('counting');
      return async () => {
        const last = await client.get('counting');
        assert.equal(last.properties.headers!['x-delivery-count'], 2);
        client.channel.nack(last);
        const dead = await client.get('counted');
        assert.equal(dead.properties.headers!['x-first-death-reason'], 'delivery_limit');
      };
    },
  ],
  [
    'times of messages, and where they go then',
    async (client) => {
      await client.declare('dying', {
        'x-message-ttl': 2500,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'died',
      });
      await client.declare('died');
      await client.sendAll('dying', 'a', 'b');
      return async () => {
        await client.countBecomes('died', 2);
        const message = await client.get('died');
        const [death] = message.properties.headers!['x-death'] as unknown as { count: number; reason: string }[];
        assert.deepEqual([death!.reason, death!.count], ['expired', 1]);
      };
    },
  ],
  [
    'one active consumer',
    async (client) => {
      await client.declare('single', { 'x-single-active-consumer': true });
      const taken: string[] = [];
      const note = (name: string) => (message: amqp.ConsumeMessage | null) => {
        taken.push(`${name} ${message!.content.toString()}`);
        client.channel.ack(message!);
      };
      const first = await client.channel.consume('single', note('first'));
      await client.channel.consume('single', note('second'));
      await client.sendAll('single', 'a', 'b');
      return async () => {
        await client.sendAll('single', 'c');
        await client.countBecomes('single', 0);
        await client.channel.cancel(first.consumerTag);
        await client.sendAll('single', 'd');
        for (let tries = 0; tries < 200 && taken.length < 4; tries++) await sleep(25);
        assert.deepEqual(taken, ['first a', 'first b', 'first c', 'second d']);
      };
    },
  ],
  [
    'consumers with priorities',
    async (client) => {
      await client.declare('preferring');
      const taken: string[] = [];
      const note = (name: string) => (message: amqp.ConsumeMessage | null) => {
        taken.push(name);
        client.channel.ack(message!);
      };
      await client.channel.consume('preferring', note('low'));
      await client.channel.consume('preferring', note('high'), { priority: 10 });
      return async () => {
        for (const body of ['a', 'b', 'c']) await client.send('preferring', body);
        for (let tries = 0; tries < 200 && taken.length < 3; tries++) await sleep(25);
        assert.deepEqual(taken, ['high', 'high', 'high']);
      };
    },
  ],
  [
    'last values',
    async (client) => {
      await client.declare('latest', { 'x-last-value-key': 'key' });
      const send = (body: string): Promise<string> => client.send('latest', body, { headers: { key: body[0] } });
      for (const body of ['a1', 'b1', 'a2']) await send(body);
      return async () => {
        for (const body of ['b2', 'c1']) await send(body);
        await client.countBecomes('latest', 3);
        assert.deepEqual(await client.drain('latest'), ['a2', 'b2', 'c1']);
      };
    },
  ],
  [
    'message groups',
    async (client) => {
      await client.declare('grouped', { 'x-group-key': 'key' });
      for (const body of ['a1', 'a2', 'b1', 'a3']) await client.send('grouped', body, { headers: { key: body[0] } });
      const first = await client.get('grouped');
      return async () => {
        const taken: string[] = [];
        await client.channel.consume('grouped', (message) => void taken.push(message!.content.toString()));
        for (let tries = 0; tries < 200 && taken.length < 1; tries++) await sleep(25);
        assert.deepEqual(taken, ['b1'], 'somebody holds a1');
        client.channel.ack(first);
        for (let tries = 0; tries < 200 && taken.length < 3; tries++) await sleep(25);
        assert.deepEqual(taken, ['b1', 'a2', 'a3']);
      };
    },
  ],
  [
    'queues that go when nobody uses them',
    async (client) => {
      await client.declare('unused', { 'x-expires': 4000 });
      return async () => {
        assert.ok(await client.isThere('unused'), 'the take-over is a use');
        for (let tries = 0; tries < 80 && (await client.isThere('unused')); tries++) await sleep(100);
        assert.ok(!(await client.isThere('unused')));
      };
    },
  ],
];

describe('what queues do by their arguments', () => {
  it('goes on when their primary is killed', async (t) => {
    await withCluster(['--groups', '1'], async (cluster) => {
      await (await clientOf(cluster, 0)).declare('probe');
      const primary = (await cluster.leaderOf('probe'))!;
      const client = await clientOf(
        cluster,
        cluster.nodes.findIndex((node) => node !== primary),
      );
      const checks: [string, Check][] = [];
      for (const [title, setUp] of cases) checks.push([title, await setUp(client)]);
      await primary.kill();
      await cluster.untilReplaced('probe', primary);
      for (const [title, check] of checks) await t.test(title, check);
    });
  });
});
