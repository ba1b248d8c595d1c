/**
 * What replicas have. Each scenario changes queues while nodes come and go, and notes what is to be there; in the end every node in turn
 * is the only one that runs, and must have exactly that.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchFailures } from '../support/all-passed.js';
import type { ClusterProcesses } from '../support/cluster-processes.js';
import { type EtcdCluster, startEtcdCluster } from '../support/etcd-cluster.js';
import { HalfPublish } from '../support/half-publish.js';
import { digestOf, numbered, QueueClient, textOf } from '../support/queue-client.js';

/** Bodies around the sizes of frames, of chunks, and of a segment's part. */
const smallSizes = [0, 1, 65_535, 65_536, 65_537];
const sizes = [...smallSizes, 1_048_576, 16_777_216];
const bodyOf = (bytes: number): Buffer => Buffer.alloc(bytes, bytes % 251);
const textOfSize = (bytes: number): string => textOf({ content: bodyOf(bytes) });

const fullProperties = {
  contentType: 'text/plain',
  contentEncoding: 'identity',
  priority: 3,
  correlationId: 'c-1',
  replyTo: 'somewhere',
  expiration: '86400000',
  messageId: 'm-1',
  timestamp: 1_700_000_000,
  type: 'subject',
  userId: 'guest',
  appId: 'scenario',
  headers: { text: 'ü', whole: 7, part: 0.5, yes: true, list: [1, 'two'], inner: { deep: 'er' }, nothing: null },
};

describe('what replicas have', { timeout: 150_000 }, () => {
  let setup: EtcdCluster;
  let cluster: ClusterProcesses;
  const isWell = watchFailures();
  /** Bodies in each queue, in order. */
  const contents = new Map<string, string[]>();
  /** Names of queues that must not be there. */
  const gone: string[] = [];

  before(async () => {
    setup = await startEtcdCluster();
    ({ cluster } = setup);
  });

  after(async () => await setup.close(isWell()));

  const use = async (body: (client: QueueClient) => Promise<void>, node = cluster.awake[0]!): Promise<void> => {
    await using client = await QueueClient.open(node.amqpUrl);
    await body(client);
    assert.equal(client.failure, '');
  };

  /** What S01 does: objects that stay and that go, in every way in which messages come to a queue and leave it. */
  async function change(prefix: string): Promise<void> {
    await use(async (client) => {
      const { channel } = client;
      await client.send(`${prefix}.direct`, ['a', 'b', 'c']);
      assert.deepEqual(await client.take(`${prefix}.direct`, 1), ['a']);
      contents.set(`${prefix}.direct`, ['b', 'c']);

      await channel.assertExchange(`${prefix}.topic`, 'topic');
      for (const queue of [`${prefix}.bound`, `${prefix}.unbound`]) {
        await client.declare(queue);
        await channel.bindQueue(queue, `${prefix}.topic`, 'both.*');
      }
      channel.publish(`${prefix}.topic`, 'both.1', Buffer.from('to both'), { persistent: true });
      await client.confirmed();
      await channel.unbindQueue(`${prefix}.unbound`, `${prefix}.topic`, 'both.*');
      channel.publish(`${prefix}.topic`, 'both.2', Buffer.from('to one'), { persistent: true });
      await client.confirmed();
      contents.set(`${prefix}.bound`, ['to both', 'to one']);
      contents.set(`${prefix}.unbound`, ['to both']);

      await client.send(`${prefix}.gone`, ['x']);
      await channel.assertExchange(`${prefix}.gone`, 'direct');
      await channel.deleteQueue(`${prefix}.gone`);
      await channel.deleteExchange(`${prefix}.gone`);
      gone.push(`${prefix}.gone`);
    });
  }

  /** That the bindings are those of `change`, and the exchange that it deleted is not there. */
  async function checkRoutes(client: QueueClient, prefix: string): Promise<void> {
    const { channel } = client;
    const boundBefore = (await channel.checkQueue(`${prefix}.bound`)).messageCount;
    channel.publish(`${prefix}.topic`, 'both.3', Buffer.from('probe'));
    await client.confirmed();
    assert.equal((await channel.checkQueue(`${prefix}.bound`)).messageCount, boundBefore + 1);
    assert.equal((await channel.checkQueue(`${prefix}.unbound`)).messageCount, 1);
    // It goes again, and what was there stays.
    await client.take(`${prefix}.bound`, boundBefore + 1);
    await client.send(`${prefix}.bound`, contents.get(`${prefix}.bound`)!);
    assert.match(await client.refusal((other) => other.checkExchange(`${prefix}.gone`)), /NOT[-_]FOUND/);
  }

  it('S06: backups join a queue in use, one after the other', async () => {
    const [first, second, third] = cluster.nodes;
    await second!.kill();
    await third!.kill();
    await use((client) => client.send('s06', numbered('', 0, 9)), first);
    await second!.start();
    await cluster.untilInSync([first!, second!]);
    await use((client) => client.send('s06', numbered('', 10, 19)), first);
    await third!.start();
    await cluster.untilComplete();
    await use((client) => client.send('s06', numbered('', 20, 29)), second);
    contents.set('s06', numbered('', 0, 29));
  });

  it('S07, S08: of 1,000 messages 990 are taken, and of queues of ten more and more', async () => {
    await use(async (client) => {
      await client.send('s07', numbered('', 1, 1000));
      for (let taken = 0; taken < 990; taken += 90) await client.take('s07', 90);
      contents.set('s07', numbered('', 991, 1000));
      for (let taken = 0; taken <= 10; taken++) {
        const queue = `s08.${taken}`;
        await client.send(queue, numbered('', 1, 10));
        for (let i = 1; i <= taken; i++) assert.deepEqual(await client.take(queue, 1), [String(i)]);
        contents.set(queue, numbered('', taken + 1, 10));
      }
    });
  });

  it('S01, S09, S10, S31, S32, S33: changes while a backup is down, while it joins, and while it is up', async () => {
    const [first, , backup] = cluster.nodes;
    await use(async (client) => {
      await client.send('s31', ['old']);
      await client.send('s32', ['old 1', 'old 2']);
      await client.channel.assertExchange('s32', 'direct');
      await client.channel.bindQueue('s32', 's32', 'old');
    });
    await backup!.kill();

    await change('s01.down');
    await use(async (client) => {
      const { channel } = client;
      // What the backup has is deleted, and for one there is another of the same name.
      await channel.deleteQueue('s31');
      gone.push('s31');
      await channel.deleteQueue('s32');
      await client.send('s32', ['new']);
      contents.set('s32', ['new']);
      await client.send('s10', ['plain']);
      channel.sendToQueue('s10', bodyOf(10_000), { ...fullProperties, persistent: true });
      await client.confirmed();
      for (const bytes of smallSizes) channel.sendToQueue('s10', bodyOf(bytes), { persistent: true });
      await client.confirmed();
    });
    const half = await HalfPublish.begin(first!.ports.amqp, 's09', bodyOf(1_048_576));
    const joins = backup!.start();
    await half.go(0.5);
    // Queues that come and go, every second for good.
    await use(async (client) => {
      for (let i = 0; i < 50; i++) {
        await client.send(`s33.${i}`, [`${i}`]);
        if (i % 2 === 0) await client.channel.deleteQueue(`s33.${i}`);
        if (i % 2 === 0) gone.push(`s33.${i}`);
        else contents.set(`s33.${i}`, [`${i}`]);
      }
    });
    await joins;
    await cluster.untilComplete();
    await half.finish();

    await change('s01.up');
    await use(async (client) => {
      const { channel } = client;
      for (const bytes of sizes) channel.sendToQueue('s09', bodyOf(bytes), { persistent: true });
      channel.sendToQueue('s10', bodyOf(10_000), { ...fullProperties, persistent: true });
      await client.confirmed();
      contents.set('s09', [1_048_576, ...sizes].map(textOfSize));
      const full = textOfSize(10_000);
      contents.set('s10', ['plain', full, ...smallSizes.map(textOfSize), full]);
    });
  });

  it('S34: a queue that is deleted at a new primary is not there, for clients and for HTTP', async () => {
    await use((client) => client.send('s34', ['a']));
    const primary = (await cluster.leaderOf('s34'))!;
    await primary.kill();
    await cluster.untilReplaced('s34', primary);
    await use(async (client) => void (await client.channel.deleteQueue('s34')));
    gone.push('s34');
    await primary.start();
    await cluster.untilComplete();
    for (const node of cluster.nodes) {
      const headers = { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` };
      const { status } = await fetch(new URL('/api/queues/%2F/s34', node.httpUrl), {
        headers,
        signal: AbortSignal.timeout(5000),
      });
      assert.equal(status, 404, node.name);
    }
  });

  it('S01, S06, S07, S08, S09, S10: every replica, alone, has exactly what there is to be', async () => {
    await cluster.aloneInTurn(async (node) => {
      await using client = await QueueClient.open(node.amqpUrl);
      for (const [queue, expected] of contents)
        assert.deepEqual((await client.browse(queue)).map(textOf), expected, `${queue} at ${node.name}`);
      const rich = (await client.browse('s10')).filter(({ properties }) => properties.messageId === 'm-1');
      assert.equal(rich.length, 2);
      for (const { properties, content } of rich) {
        assert.deepEqual({ ...properties, deliveryMode: 2 }, { ...properties, ...fullProperties, deliveryMode: 2 });
        assert.equal(digestOf(content), digestOf(bodyOf(10_000)));
      }
      for (const queue of gone)
        assert.match(await client.refusal((channel) => channel.checkQueue(queue)), /NOT[-_]FOUND/, queue);
      await checkRoutes(client, 's01.down');
      await checkRoutes(client, 's01.up');
    });
  });
});
