/**
 * Kinds of queues, dead letters and lives of queues, when the primary of them all is killed: each case sets something up, and looks at it
 * at the next primary. One cluster and one kill for all, with the queues in one group. Clients are at nodes that lead nothing.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { type Check, clientOf, FeatureClient } from '../support/feature-client.js';
import { withCluster } from '../support/with-cluster.js';
import { within } from '../support/within.js';

const waitMsMax = 20_000;

interface World {
  readonly client: FeatureClient;
  /** Another one, at another node. */
  readonly far: FeatureClient;
  /** One at the node that is killed. */
  readonly doomed: FeatureClient;
  /** A new one, at the node of the first. */
  connect(path?: string): Promise<FeatureClient>;
}

async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${waitMsMax} ms: ${what}`);
    await sleep(20);
  }
}

/** A connection that publishes, and what it hears of its being blocked. */
async function publisherOf({ connect }: World): Promise<{ client: FeatureClient; heard: string[] }> {
  const client = await connect();
  const heard: string[] = [];
  client.connection.on('blocked', (reason) => heard.push(reason));
  client.connection.on('unblocked', () => heard.push(''));
  return { client, heard };
}

const priorities = [
  4, 5, 3, 7, 8, 8, 2, 8, 2, 8, 8, 16, 6, 6, 6, 6, 6, 6, 8, 3, 5, 8, 3, 5, 5, 3, 3, 8, 8, 3, 7, 3, 7, 7,
];
/** Of the levels 7 to 1; 0 has the default. */
const shares = [0, 4, 3, 2, 2, 2, 2];

/** The order in which fair shares let them out. */
function shared(): string[] {
  const waiting = Array.from({ length: 8 }, (_, level) =>
    priorities.flatMap((priority, i) => (Math.max(0, Math.min(priority - 1, 7)) === level ? [`${priority}:${i}`] : [])),
  );
  const out: string[] = [];
  for (let level = 7; out.length < priorities.length; level = (level + 7) % 8)
    out.push(...waiting[level]!.splice(0, [5, ...shares.toReversed()][level]! || priorities.length));
  return out;
}

/** Fails with the error's code if it does not fail with that one. */
async function refused(code: number, work: PromiseLike<unknown>): Promise<void> {
  await assert.rejects(
    async () => await work,
    (error: Error & { code?: number }) => error.code === code || error.message.includes(String(code)),
  );
}

/** On a channel of its own, which an error ends. */
async function onChannel<T>(client: FeatureClient, run: (channel: amqp.Channel) => PromiseLike<T>): Promise<T> {
  const channel = await client.connection.createChannel();
  channel.on('error', () => {});
  return await run(channel);
}

const cases: [title: string, setUp: (world: World) => Promise<Check>][] = [
  [
    'S15: fair shares of priorities are the same at the next primary',
    async ({ client }) => {
      const limits = Object.fromEntries(shares.map((share, i) => [`qpid.fairshare-${7 - i}`, share]));
      await client.declare('s15', { 'qpid.priorities': 8, 'qpid.fairshare': 5, ...limits });
      for (const [i, priority] of priorities.entries()) await client.send('s15', `${priority}:${i}`, { priority });
      return async () => assert.deepEqual(await client.drain('s15'), shared());
    },
  ],
  [
    'S16: a ring of priorities keeps the highest',
    async ({ client }) => {
      await client.declare('s16', { 'x-max-priority': 9, 'x-max-length': 5, 'x-overflow': 'drop-lowest' });
      await client.declare('s16 ring', { 'qpid.priorities': 10, 'qpid.max_count': 5, 'qpid.policy_type': 'ring' });
      const send = async (queue: string, ...all: number[]): Promise<void> => {
        for (const [i, priority] of all.entries()) await client.send(queue, `${priority}:${i}`, { priority });
      };
      for (const queue of ['s16', 's16 ring']) await send(queue, 8, 9, 5, 1, 2, 2, 3, 4, 9, 7, 8, 9, 9, 2);
      return async () => {
        for (const queue of ['s16', 's16 ring']) {
          await send(queue, 1, 8);
          await client.countBecomes(queue, 5);
          assert.deepEqual(await client.drain(queue), ['9:1', '9:8', '9:11', '9:12', '8:1']);
        }
      };
    },
  ],
  [
    'S18: what a client held that is gone with its node comes again, flagged, in its place; of all kinds of queues',
    async ({ client, doomed }) => {
      const kinds: [queue: string, args: Record<string, unknown>][] = [
        ['s18', {}],
        ['s18 ring', { 'x-max-length': 10 }],
        ['s18 priorities', { 'x-max-priority': 5 }],
        ['s18 shares', { 'x-max-priority': 5, 'x-fair-share': 3 }],
        ['s18 last values', { 'x-last-value-key': 'key' }],
        ['s18 groups', { 'x-group-key': 'key' }],
      ];
      for (const [queue, args] of kinds) {
        await client.declare(queue, args);
        for (let i = 0; i < 10; i++) await client.send(queue, `m${i}`, { headers: { key: `k${i}` } });
        assert.equal((await doomed.get(queue)).content.toString(), 'm0');
      }
      return async () => {
        for (const [queue] of kinds) {
          await client.countBecomes(queue, 10);
          const first = await client.get(queue);
          assert.deepEqual([first.content.toString(), first.fields.redelivered], ['m0', true], queue);
        }
      };
    },
  ],
  [
    'S19: one full queue of several refuses a message, the others have it',
    async ({ client, far }) => {
      const names = ['s19 a', 's19 b', 's19 c', 's19 full'];
      await client.channel.assertExchange('s19', 'fanout');
      for (const queue of names) {
        await client.declare(queue, queue === 's19 full' ? { 'x-max-length': 4, 'x-overflow': 'reject-publish' } : {});
        await client.channel.bindQueue(queue, 's19', '');
      }
      const publish = (body: string): Promise<boolean> =>
        new Promise((resolve) =>
          client.channel.publish('s19', '', Buffer.from(body), { persistent: true }, (error) =>
            resolve(error === null),
          ),
        );
      const outcomes = [];
      for (let i = 0; i < 5; i++) outcomes.push(await publish(`m${i}`));
      assert.deepEqual(outcomes, [true, true, true, true, false]);
      return async () => {
        const counts = [];
        for (const queue of names) counts.push(await far.count(queue));
        assert.deepEqual(counts, [5, 5, 5, 4]);
        assert.equal(await publish('more'), false);
      };
    },
  ],
  [
    'S22: publishers wait until consumers have made room, others go on',
    async (world) => {
      const { client: other, far } = world;
      await other.declare('s22', { 'x-flow-stop-count': 5, 'x-flow-resume-count': 3 });
      await other.declare('s22 other');
      const { client, heard } = await publisherOf(world);
      const confirmed: string[] = [];
      for (let i = 1; i <= 7; i++) await client.send('s22', `m${i}`);
      await until('the publisher is blocked', () => heard.length === 1);
      assert.deepEqual(heard, ["queue 's22' in vhost '/' is full"]);
      const late = ['m8', 'm9'].map(async (body) => {
        await client.send('s22', body);
        confirmed.push(body);
      });
      await other.sendAll('s22 other', 'x', 'y');
      return async () => {
        await other.sendAll('s22 other', 'z');
        assert.deepEqual([heard.length, confirmed], [1, []], 'it waits on');
        const taken = [];
        for (let i = 0; i < 5; i++) taken.push((await far.get('s22')).content.toString());
        await sleep(200);
        assert.equal(heard.length, 1, 'they are not acknowledged');
        far.channel.ackAll();
        await within(waitMsMax, 'the rest is confirmed', Promise.all(late));
        assert.equal(heard[1], '');
        assert.deepEqual(
          [...taken, ...(await far.drain('s22'))],
          ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9'],
        );
        assert.deepEqual(await far.drain('s22 other'), ['x', 'y', 'z']);
      };
    },
  ],
  [
    'S22: publishers to a queue that is deleted go on; whoever consumes on the same connection is heard',
    async (world) => {
      await world.client.declare('s22 gone', { 'qpid.flow_stop_size': 10 });
      await world.client.declare('s22 own', { 'x-flow-stop-count': 3 });
      const { client, heard } = await publisherOf(world);
      for (let i = 0; i < 2; i++) await client.send('s22 gone', 'more than ten');
      await until('the publisher is blocked', () => heard.length === 1);

      const own = await publisherOf(world);
      const consumer = await own.client.connection.createChannel();
      const came: string[] = [];
      await consumer.prefetch(1);
      let isSlow = true;
      const acknowledge: (() => void)[] = [];
      await consumer.consume('s22 own', (message) => {
        came.push(message!.content.toString());
        acknowledge.push(() => consumer.ack(message!));
        if (!isSlow) acknowledge.shift()!();
      });
      for (const body of ['first', 'second', 'third', 'fourth']) await own.client.send('s22 own', body);
      const sent = Promise.all(Array.from({ length: 30 }, (_, i) => own.client.send('s22 own', `m${i}`)));
      await until('the other is blocked', () => own.heard.length > 0);
      return async () => {
        await world.far.channel.deleteQueue('s22 gone');
        await until('it goes on', () => heard.at(-1) === '');
        await onChannel(client, (channel) => channel.checkQueue('s22 other'));
        isSlow = false;
        for (const run of acknowledge.splice(0)) run();
        await within(waitMsMax, 'all is confirmed', sent);
        await until('all has come', () => new Set(came).size === 34);
      };
    },
  ],
  [
    'S23: what is unroutable or rejected goes to the alternate exchange of every primary',
    async ({ client }) => {
      const { channel } = client;
      await channel.assertExchange('s23 alternate', 'fanout');
      await channel.assertExchange('s23', 'direct', { alternateExchange: 's23 alternate' });
      await client.declare('s23 lost');
      await channel.bindQueue('s23 lost', 's23 alternate', '');
      await client.declare('s23 work', { 'x-dead-letter-exchange': 's23 alternate' });
      const again = async (body: string): Promise<void> => {
        channel.publish('s23', 'nowhere', Buffer.from(body));
        await channel.waitForConfirms();
        await client.send('s23 work', body);
        channel.nack(await client.get('s23 work'), false, false);
        await client.countBecomes('s23 lost', 2);
        assert.deepEqual(await client.drain('s23 lost'), [body, body]);
      };
      await again('before');
      return async () => await again('after');
    },
  ],
  [
    'S24: an alternate exchange may be deleted while it is in use, as in RabbitMQ; what would go there comes back if it is mandatory',
    async ({ client }) => {
      const { channel } = client;
      await channel.assertExchange('s24 alternate', 'fanout');
      await channel.assertExchange('s24', 'direct', { alternateExchange: 's24 alternate' });
      await channel.deleteExchange('s24 alternate');
      return async () => {
        const returned = new Promise<string>((resolve) =>
          channel.once('return', ({ content }) => resolve(content.toString())),
        );
        channel.publish('s24', 'nowhere', Buffer.from('x'), { mandatory: true });
        assert.equal(await within(waitMsMax, 'it comes back', returned), 'x');
      };
    },
  ],
  [
    'S25: what is rejected while the primary dies is a dead letter once, and nowhere else',
    async ({ client, far, connect }) => {
      const total = 300;
      await client.declare('s25 dead');
      await client.declare('s25', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 's25 dead' });
      await client.sendAll('s25', ...Array.from({ length: total }, (_, i) => `m${i}`));
      const { channel } = await connect();
      await channel.prefetch(5);
      // Slow enough to be under way when the primary is killed.
      await channel.consume('s25', (message) => {
        setTimeout(() => channel.nack(message!, false, false), 50);
      });
      return async () => {
        await client.countBecomes('s25 dead', total);
        const bodies = await far.drain('s25 dead');
        assert.deepEqual([bodies.length, new Set(bodies).size], [total, total]);
        assert.equal(await client.count('s25'), 0);
      };
    },
  ],
  [
    'S26: what is in a queue when it is deleted, or ends with its last consumer, is nobody’s dead letter, as in RabbitMQ',
    async ({ client, connect }) => {
      const dead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 's26 dead' };
      await client.declare('s26 dead');
      await client.declare('s26', dead);
      await client.channel.assertQueue('s26 auto', { durable: true, autoDelete: true, arguments: dead });
      for (const queue of ['s26', 's26 auto']) await client.sendAll(queue, 'a', 'b', 'c');
      await client.channel.deleteQueue('s26');
      return async () => {
        const other = await connect();
        await other.channel.consume('s26 auto', () => {});
        await other.connection.close();
        await until('it is gone', async () => !(await client.isThere('s26 auto')));
        await client.declare('s26', dead);
        assert.deepEqual([await client.count('s26'), await client.count('s26 dead')], [0, 0]);
      };
    },
  ],
  [
    'S27: a queue that dead-letters to itself gives out what it rejected again, each once, by priority',
    async ({ client }) => {
      const own = { 'x-max-priority': 9, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 's27' };
      await client.declare('s27', own);
      for (const priority of [1, 9, 3, 9, 5]) await client.send('s27', `${priority}`, { priority });
      const rejectAll = async (): Promise<void> => {
        for (let i = 0; i < 5; i++) await client.get('s27');
        client.channel.nackAll(false);
        await client.countBecomes('s27', 5);
      };
      await rejectAll();
      return async () => {
        await rejectAll();
        const messages = [];
        for (let i = 0; i < 5; i++) messages.push(await client.get('s27'));
        assert.deepEqual(
          messages.map(({ content }) => content.toString()),
          ['9', '9', '5', '3', '1'],
        );
        for (const { properties } of messages) {
          const [death] = properties.headers!['x-death'] as unknown as { count: number; reason: string }[];
          assert.deepEqual([death!.count, death!.reason], [2, 'rejected']);
        }
        client.channel.ackAll();
        await client.countBecomes('s27', 0);
      };
    },
  ],
  [
    'S27: a queue that is rerouted into itself, or elsewhere, by whichever node, has each message once, by priority',
    async ({ client, far }) => {
      const own = { 'x-max-priority': 9, 'x-dead-letter-exchange': 's27', 'x-dead-letter-routing-key': 'own' };
      await client.channel.assertExchange('s27', 'direct');
      await client.declare('s27 rerouted', own);
      await client.channel.bindQueue('s27 rerouted', 's27', 'own');
      for (const priority of [1, 9, 3, 9, 5]) await client.send('s27 rerouted', `${priority}`, { priority });
      const reroute = async (who: FeatureClient, body: unknown): Promise<unknown> =>
        await (await who.ask('POST', '/api/queues/%2F/s27%20rerouted/reroute', body)).json();
      assert.deepEqual(await reroute(client, {}), { messages: 5 });
      await client.countBecomes('s27 rerouted', 5);
      return async () => {
        assert.deepEqual(await reroute(far, {}), { messages: 5 });
        await client.countBecomes('s27 rerouted', 5);
        assert.deepEqual(await client.drain('s27 rerouted'), ['9', '9', '5', '3', '1']);
        await client.sendAll('s27 rerouted', 'a', 'b');
        await client.declare('s27 elsewhere');
        assert.equal(
          (await far.ask('POST', '/api/queues/%2F/s27%20rerouted/reroute', { exchange: 'none' })).status,
          404,
        );
        const elsewhere = { exchange: '', routing_key: 's27 elsewhere' };
        assert.deepEqual(await reroute(far, elsewhere), { messages: 2 });
        await client.countBecomes('s27 elsewhere', 2);
        const first = await client.get('s27 elsewhere');
        const [death] = first.properties.headers!['x-death'] as unknown as { queue: string; reason: string }[];
        assert.deepEqual([death!.queue, death!.reason], ['s27 rerouted', 'rerouted']);
        client.channel.ack(first);
        assert.deepEqual(await client.drain('s27 elsewhere'), ['b']);
      };
    },
  ],
  [
    'S28: an auto-delete queue is on the next primary, an exclusive one with its connection',
    async ({ client, connect }) => {
      const owner = await connect();
      await owner.channel.assertQueue('s28 exclusive', { exclusive: true, durable: false });
      await client.channel.assertQueue('s28 auto', { autoDelete: true, durable: true });
      await client.channel.consume('s28 auto', () => {});
      await owner.send('s28 exclusive', 'x');
      return async () => {
        assert.ok(await client.isThere('s28 auto'));
        assert.deepEqual(await owner.drain('s28 exclusive'), ['x']);
        await owner.connection.close();
        await until('it goes with its connection', async () => !(await client.isThere('s28 exclusive')));
      };
    },
  ],
  [
    'S29: exclusive stays exclusive',
    async ({ client, far }) => {
      await client.channel.assertQueue('s29 own', { exclusive: true, durable: false });
      await client.declare('s29');
      await client.channel.consume('s29', () => {}, { exclusive: true });
      const refusals = async (): Promise<void> => {
        await refused(
          405,
          onChannel(far, (channel) => channel.assertQueue('s29 own', { exclusive: true, durable: false })),
        );
        await refused(
          403,
          onChannel(far, (channel) => channel.consume('s29', () => {})),
        );
      };
      await refusals();
      return refusals;
    },
  ],
  [
    'S30: auto-delete queues over a failover: used ones stay, never used ones too, those that are left go',
    async ({ client, connect }) => {
      const declare = (queue: string, args = {}): PromiseLike<unknown> =>
        client.channel.assertQueue(queue, { autoDelete: true, durable: true, arguments: args });
      for (const queue of ['s30 used', 's30 left', 's30 never', 's30 gone']) await declare(queue);
      await declare('s30 timed', { 'x-expires': 6000 });
      const [stays, leaves, goes] = [await connect(), await connect(), await connect()];
      await stays.channel.consume('s30 used', () => {});
      await leaves.channel.consume('s30 left', () => {});
      await goes.channel.consume('s30 gone', () => {});
      await goes.connection.close();
      await until('it is gone', async () => !(await client.isThere('s30 gone')));
      return async () => {
        for (const queue of ['s30 used', 's30 left', 's30 never']) assert.ok(await client.isThere(queue), queue);
        await leaves.connection.close();
        for (const queue of ['s30 left', 's30 timed'])
          await until(`${queue} is gone`, async () => !(await client.isThere(queue)));
        for (const queue of ['s30 used', 's30 never']) assert.ok(await client.isThere(queue), queue);
        assert.ok(!(await client.isThere('s30 gone')));
      };
    },
  ],
  [
    'S35: a declaration said again changes nothing',
    async ({ client, far }) => {
      const declare = async (who: FeatureClient): Promise<void> => {
        await who.declare('s35', { 'x-max-priority': 3, 'x-fair-share': 2, 'x-flow-stop-count': 9 });
        await who.channel.assertExchange('s35', 'topic', { alternateExchange: 'amq.fanout' });
        await who.channel.bindQueue('s35', 's35', 'a.*');
      };
      await declare(client);
      await client.send('s35', 'x');
      await declare(far);
      return async () => {
        for (const who of [client, far]) await declare(who);
        await refused(
          406,
          onChannel(far, (channel) => channel.assertQueue('s35', { durable: true })),
        );
        assert.deepEqual(await far.drain('s35'), ['x']);
      };
    },
  ],
  [
    'S85: no more queues than their vhost may have, counted by the next primary too',
    async ({ client, connect }) => {
      await client.request('PUT', '/api/vhosts/s85', {});
      await client.request('PUT', '/api/permissions/s85/guest', { configure: '.*', write: '.*', read: '.*' });
      assert.equal(await client.request('PUT', '/api/vhost-limits/s85/max-queues', { value: 2 }), 204);
      const one = await connect('/s85');
      for (const queue of ['a', 'b']) await one.declare(queue);
      const tooMany = async (): Promise<void> => {
        await refused(
          406,
          onChannel(one, (channel) => channel.assertQueue('c', { durable: true })),
        );
        assert.equal(await client.request('GET', '/api/queues/s85/c'), 404);
      };
      await tooMany();
      return async () => {
        await tooMany();
        await one.channel.deleteQueue('a');
        await one.declare('c');
        await refused(
          406,
          onChannel(one, (channel) => channel.assertQueue('d', { durable: true })),
        );
      };
    },
  ],
];

describe('queues whose primary is killed', { timeout: 150_000 }, () => {
  it('are the same at the next one', async (t) => {
    await withCluster(['--groups', '1'], async (cluster: ClusterProcesses) => {
      await (await clientOf(cluster, 0)).declare('probe');
      const primary = (await cluster.leaderOf('probe'))!;
      const [near, distant] = [0, 1, 2].filter((node) => cluster.nodes[node] !== primary) as [number, number];
      const connect = (path = ''): Promise<FeatureClient> => clientOf(cluster, near, path);
      const doomed = await clientOf(cluster, cluster.nodes.indexOf(primary));
      const world: World = { client: await connect(), far: await clientOf(cluster, distant), doomed, connect };
      const checks: [string, Check][] = [];
      for (const [title, setUp] of cases) checks.push([title, await setUp(world)]);
      await primary.kill();
      await cluster.untilReplaced('probe', primary);
      for (const [title, check] of checks) await t.test(title, check);
    });
  });
});
