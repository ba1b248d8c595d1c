/** Transactions while the primaries of their queues are killed: each message taken comes out twice, neither more nor less. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BasicAck,
  BasicConsume,
  BasicQos,
  ConfirmSelect,
  MethodId,
  QueueDeclare,
  TxCommit,
  TxRollback,
  TxSelect,
} from '../../src/amqp091/codec/index.js';
import { RawClient, type Received } from '../support/raw-client.js';
import type { NodeProcess } from '../support/node-process.js';
import { withCluster } from '../support/with-cluster.js';

const messages = 1500;
const persistent = { deliveryMode: 2 };

async function clientOf(node: NodeProcess): Promise<RawClient> {
  const client = await RawClient.open(Number(node.amqpAddress.split(':')[1]));
  await client.openChannel(1);
  return client;
}

async function declare(client: RawClient, queue: string): Promise<void> {
  client.send(1, new QueueDeclare(queue, false, true, false, false, false, {}));
  await client.expect(MethodId.queueDeclareOk, 1);
}

/** Publishes the numbers from 0 on with confirms. */
async function fill(client: RawClient, queue: string): Promise<void> {
  client.send(1, new ConfirmSelect(false));
  await client.expect(MethodId.confirmSelectOk, 1);
  for (let i = 0; i < messages; i++) client.publish(1, '', queue, String(i), persistent);
  for (let confirmed = 0; confirmed < messages; ) {
    const { method } = await client.expect(MethodId.basicAck, 1);
    confirmed = method.deliveryTag;
  }
}

/** Takes some messages at a time and publishes two for each, in a transaction; every seventh is rolled back first. */
class Mover {
  moved = 0;
  private readonly client: RawClient;
  private readonly deliveries: Received[] = [];

  constructor(client: RawClient) {
    this.client = client;
  }

  async run(): Promise<void> {
    const { client } = this;
    client.send(1, new TxSelect());
    await client.expect(MethodId.txSelectOk, 1);
    client.send(1, new BasicQos(0, 20, false));
    await client.expect(MethodId.basicQosOk, 1);
    client.send(1, new BasicConsume('in', 'c', false, false, false, false, {}));
    await client.expect(MethodId.basicConsumeOk, 1);
    for (let round = 0; this.moved < messages; round++) {
      if (this.deliveries.length === 0) this.deliveries.push(await client.next());
      const some = this.deliveries.splice(0, 1 + (round % 5));
      this.send(some);
      if (round % 7 === 6) {
        client.send(1, new TxRollback());
        await this.until(MethodId.txRollbackOk);
        this.send(some);
      }
      client.send(1, new TxCommit());
      await this.until(MethodId.txCommitOk);
      this.moved += some.length;
    }
  }

  private send(some: readonly Received[]): void {
    for (const { method, body } of some) {
      assert.equal(method?.id, MethodId.basicDeliver);
      for (const half of ['a', 'b']) this.client.publish(1, '', 'out', `${body.toString()}${half}`, persistent);
      if (method.id === MethodId.basicDeliver) this.client.send(1, new BasicAck(method.deliveryTag, false));
    }
  }

  private async until(id: number): Promise<void> {
    for (;;) {
      const received = await this.client.next();
      if (received.method?.id === id) return;
      this.deliveries.push(received);
    }
  }
}

async function drain(client: RawClient, queue: string, count: number): Promise<string[]> {
  client.send(1, new BasicConsume(queue, 'd', false, true, false, false, {}));
  await client.expect(MethodId.basicConsumeOk, 1);
  const bodies: string[] = [];
  while (bodies.length < count) bodies.push((await client.expect(MethodId.basicDeliver, 1)).body.toString());
  client.send(1, new QueueDeclare(queue, true, true, false, false, false, {}));
  assert.equal((await client.expect(MethodId.queueDeclareOk, 1)).method.messageCount, 0);
  return bodies;
}

test('S71, S72, S74: transactions while primaries are killed', { timeout: 90_000 }, async (t) => {
  await withCluster([], async (cluster) => {
    const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
    const [first, second] = [await clientOf(n1), await clientOf(n2)];
    await declare(first, 'in');
    await declare(second, 'out');
    await fill(first, 'in');
    const moverClient = await clientOf(n3);
    const mover = new Mover(moverClient);
    const run = mover.run();
    let kills = 0;
    for (const queue of ['in', 'out']) {
      const until = ((kills + 1) * messages) / 4;
      while (mover.moved < until) await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 5))]);
      const primary = (await cluster.leaderOf(queue))!;
      if (primary === n3) continue;
      await primary.kill();
      kills++;
      await cluster.untilReplaced(queue, primary);
      await primary.start();
      await cluster.untilComplete();
    }
    t.diagnostic(`${kills} primaries killed, ${mover.moved} messages moved so far`);
    assert.ok(kills > 0);
    await run;
    const expected = Array.from({ length: messages }, (_, i) => [`${i}a`, `${i}b`]).flat();
    const bodies = await drain(await clientOf(n2), 'out', expected.length);
    assert.deepEqual(bodies.sort(), expected.sort());
    assert.deepEqual(await drain(await clientOf(n1), 'in', 0), []);
    for (const node of cluster.nodes) assert.deepEqual(node.loggedErrors, []);
  });
});
