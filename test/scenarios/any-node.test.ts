/** One queue, used through all nodes at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ConsumeMessage } from 'amqplib';
import { watchFailures } from '../support/all-passed.js';
import { type ClusterProcesses, sleep } from '../support/cluster-processes.js';
import { type EtcdCluster, startEtcdCluster } from '../support/etcd-cluster.js';
import type { NodeProcess } from '../support/node-process.js';
import { numbered, QueueClient, textOf } from '../support/queue-client.js';
import { Witness } from '../support/witness/witness.js';
import { within } from '../support/within.js';

const waitMsMax = 20_000;
/** What a message may take, from publish to confirm and delivery, while another node is killed; on a busy machine. */
const interruptionMsMax = 3000;

describe('any node', { timeout: 150_000 }, () => {
  let setup: EtcdCluster;
  let cluster: ClusterProcesses;
  const isWell = watchFailures();

  before(async () => {
    setup = await startEtcdCluster();
    ({ cluster } = setup);
  });

  after(async () => await setup?.close(isWell()));

  const open = (node: NodeProcess): Promise<QueueClient> => QueueClient.open(node.amqpUrl);
  const [first, second, third] = [0, 1, 2].map((i) => () => cluster.nodes[i]!) as [
    () => NodeProcess,
    () => NodeProcess,
    () => NodeProcess,
  ];

  /** What comes to a consumer with that prefetch, as it comes; nothing is acknowledged by itself. */
  async function consume(client: QueueClient, queue: string, prefetch: number): Promise<ConsumeMessage[]> {
    const came: ConsumeMessage[] = [];
    await client.channel.prefetch(prefetch);
    await client.channel.consume(queue, (message) => {
      if (message !== null) came.push(message);
    });
    return came;
  }

  async function until(what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + waitMsMax;
    while (!holds()) {
      if (performance.now() > deadline) throw new Error(`not within ${waitMsMax} ms: ${what}`);
      await sleep(5);
    }
  }

  const flags = (messages: readonly ConsumeMessage[]): string[] =>
    messages.map((message) => `${textOf(message)}${message.fields.redelivered ? ' again' : ''}`);

  it('S59: four publishers and four consumers on different nodes: each message once, in the order of its publisher', async () => {
    const each = 250;
    const clients = await Promise.all([0, 1, 2, 0].map((i) => open(cluster.nodes[i]!)));
    await clients[0]!.declare('s59');
    const received = await Promise.all(clients.map((client) => consume(client, 's59', 20)));
    const acked = clients.map(() => 0);
    const acking = setInterval(() => {
      for (const [i, client] of clients.entries()) {
        const messages = received[i]!;
        for (; acked[i]! < messages.length; acked[i]!++) client.channel.ack(messages[acked[i]!]!);
      }
    }, 2);
    await Promise.all(clients.map((client, i) => client.send('s59', numbered(`${i}-`, 1, each))));
    const count = (): number => received.reduce((sum, messages) => sum + messages.length, 0);
    await until('all messages', () => count() >= clients.length * each);
    await sleep(50);
    clearInterval(acking);
    const texts = received.map((messages) => messages.map(textOf));
    const sent = clients.flatMap((_, i) => numbered(`${i}-`, 1, each));
    assert.deepEqual(texts.flat().sort(), sent.sort());
    for (const own of texts) {
      for (const [i] of clients.entries()) {
        const numbers = own.filter((text) => text.startsWith(`${i}-`)).map((text) => Number(text.slice(2)));
        assert.deepEqual(
          numbers,
          [...numbers].sort((a, b) => a - b),
        );
      }
    }
    assert.equal(received.flat().filter(({ fields }) => fields.redelivered).length, 0);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('S60: taken on one node, given back, taken on another: in its place, flagged', async () => {
    const holder = await open(first());
    await holder.send('s60', numbered('', 1, 5));
    const held = await consume(holder, 's60', 3);
    await until('three are held', () => held.length === 3);
    await using other = await open(second());
    assert.deepEqual((await other.browse('s60')).map(textOf), ['4', '5']);
    await holder[Symbol.asyncDispose]();
    await using last = await open(third());
    const came = await consume(last, 's60', 5);
    await until('all five', () => came.length === 5);
    assert.deepEqual(flags(came), ['1 again', '2 again', '3 again', '4 again', '5 again']);
    last.channel.ackAll();
  });

  it('S61: taken, then the node that holds it is killed: others get it once more, flagged', async () => {
    {
      await using client = await open(second());
      await client.send('s61', numbered('', 1, 5));
    }
    const holder = await open(first());
    const held = await consume(holder, 's61', 3);
    await until('three are held', () => held.length === 3);
    await first().kill();
    await using other = await open(third());
    const came = await consume(other, 's61', 10);
    await until('all five', () => came.length === 5);
    assert.deepEqual(came.map(textOf).sort(), numbered('', 1, 5));
    for (const message of came.filter((one) => Number(textOf(one)) <= 3)) assert.ok(message.fields.redelivered);
    other.channel.ackAll();
    await first().start();
    await cluster.untilComplete();
    await using again = await open(first());
    assert.deepEqual(await again.browse('s61'), []);
  });

  it('S63: what was acknowledged, and the broker has said so, is never delivered again, whoever dies', async () => {
    {
      await using client = await open(first());
      await client.send('s63', numbered('', 1, 30));
    }
    for (const [i, node] of cluster.nodes.entries()) {
      {
        await using client = await open(node);
        assert.deepEqual(await client.take('s63', 10), numbered('', 10 * i + 1, 10 * i + 10));
      }
      const leader = (await cluster.leaderOf('s63'))!;
      await leader.kill();
      await cluster.untilReplaced('s63', leader);
      const successor = (await cluster.leaderOf('s63'))!;
      await using client = await open(successor);
      assert.deepEqual((await client.browse('s63')).map(textOf), numbered('', 10 * i + 11, 30));
      await leader.start();
      await cluster.untilComplete();
    }
  });

  it('S65: one name declared on all nodes at once is one queue; of different ones, one is', async () => {
    const clients = await Promise.all(cluster.nodes.map(open));
    for (let round = 0; round < 10; round++) {
      const queue = `s65.same.${round}`;
      await Promise.all(clients.map((client, i) => client.send(queue, [String(i)])));
      assert.deepEqual((await clients[round % 3]!.browse(queue)).map(textOf).sort(), ['0', '1', '2']);
      const name = `s65.different.${round}`;
      const refusals = await Promise.all(
        clients.map((client, i) =>
          client.refusal((channel) => channel.assertQueue(name, { durable: true, maxPriority: i + 1 })),
        ),
      );
      assert.equal(refusals.filter((text) => text === '').length, 1, refusals.join('; '));
      for (const text of refusals.filter((one) => one !== '')) assert.match(text, /PRECONDITION[-_]FAILED/);
    }
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('S66: a node joins while messages are held and consumers are exclusive; then the primary dies', async () => {
    await third().kill();
    {
      await using client = await open(second());
      await client.send('s66', numbered('', 1, 6));
      await client.declare('s66.alone');
    }
    await using holder = await open(first());
    const held = await consume(holder, 's66', 3);
    await until('three are held', () => held.length === 3);
    await holder.channel.consume('s66.alone', () => {}, { exclusive: true });
    await holder.channel.assertQueue('s66.own', { exclusive: true });
    holder.channel.sendToQueue('s66.own', Buffer.from('own'));
    await holder.confirmed();

    await third().start();
    await cluster.untilComplete();
    await second().kill();
    await cluster.untilInSync([first(), third()]);
    await using joined = await open(third());
    assert.deepEqual((await joined.browse('s66')).map(textOf), ['4', '5', '6']);
    assert.match(await joined.refusal((channel) => channel.consume('s66.alone', () => {})), /ACCESS[-_]REFUSED/);
    assert.match(await joined.refusal((channel) => channel.checkQueue('s66.own')), /RESOURCE[-_]LOCKED/);
    for (const message of held) holder.channel.ack(message);
    await until('three more', () => held.length === 6);
    assert.deepEqual(held.map(textOf), numbered('', 1, 6));
    holder.channel.ackAll();
    const own = await within(waitMsMax, 'a get', Promise.resolve(holder.channel.get('s66.own', { noAck: true })));
    assert.ok(own !== false && textOf(own) === 'own');
    await second().start();
    await cluster.untilComplete();
    assert.deepEqual(await joined.browse('s66'), []);
  });

  it('S67: a node is killed, and stopped: clients of the others go on', async (t) => {
    const witness = await Witness.start(first().amqpUrl);
    for (const [end, node] of [
      ['kill', second()],
      ['stop', third()],
    ] as const) {
      await witness.report();
      await node[end]();
      await sleep(500);
      await node.start();
      await cluster.untilComplete();
      const { count, worstMs, failure } = await witness.report();
      t.diagnostic(`${end}: ${count} messages, the slowest took ${worstMs.toFixed()} ms`);
      assert.equal(failure, '');
      assert.ok(count > 10 && worstMs < interruptionMsMax);
    }
    await witness.stop();
  });
});
