import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicAck,
  BasicConsume,
  ChannelClose,
  ConfirmSelect,
  ConnectionClose,
  type Method,
  MethodId,
  QueueDeclare,
  TxCommit,
  TxSelect,
} from '../../../src/amqp091/codec/index.js';
import { Blockage, type BlockageHost } from '../../../src/amqp091/blockage.js';
import type { Channel } from '../../../src/amqp091/channel.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import type { FakeQueue } from '../../fakes/fake-queue.js';
import { type Received, RawClient } from '../../support/raw-client.js';

const declare = (name: string): QueueDeclare => new QueueDeclare(name, true, false, false, false, false, {});

async function clientOf(host: AmqpHost, ...channels: number[]): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  for (const channel of channels) await client.openChannel(channel);
  return client;
}

async function queueOf(host: AmqpHost, name: string): Promise<FakeQueue> {
  const client = await clientOf(host, 1);
  client.send(1, new QueueDeclare(name, false, false, false, false, false, {}));
  await client.expect(MethodId.queueDeclareOk, 1);
  client.end();
  return host.broker.queues.get(name)!;
}

/** Sends a method and waits for its answer. */
async function ask(client: RawClient, channel: number, method: Method, answer: Method['id']): Promise<Received> {
  client.send(channel, method);
  return await client.expect(answer, channel);
}

const all = (queue: FakeQueue): number => queue.readyCount + queue.held.size;

describe('publishing to a queue that is too full', () => {
  it('a connection that only publishes is not read after its first message, and is told; others go on', async () => {
    await using host = await AmqpHost.start();
    const [q, other] = [await queueOf(host, 'q'), await queueOf(host, 'other')];
    const publisher = await clientOf(host, 1, 2);
    const bystander = await clientOf(host, 1);
    host.broker.stops.set(q, true);
    for (let i = 0; i < 10; i++) publisher.publish(1, '', 'q', 'x');
    const { method } = await publisher.expect(MethodId.connectionBlocked);
    assert.equal(method.reason, "queue 'q' is full");
    assert.deepEqual(
      host.server.list().map(({ state }) => state),
      ['blocked', 'running'],
    );
    publisher.publish(2, '', 'other', 'x');
    for (let i = 0; i < 10; i++) bystander.publish(1, '', 'other', 'x');
    await eventually(() => other.readyCount === 10);
    assert.equal(q.readyCount, 1);
    host.broker.stops.set(q, false);
    await publisher.expect(MethodId.connectionUnblocked);
    await eventually(() => q.readyCount === 10 && other.readyCount === 11);
    for (const client of [publisher, bystander]) client.end();
  });

  it('costs those who publish elsewhere no waiter, and no look at their channels', async () => {
    await using host = await AmqpHost.start();
    const { broker } = host;
    const [q, other] = [await queueOf(host, 'q'), await queueOf(host, 'other')];
    let looks = 0;
    const every = (): boolean => ++looks > 0;
    const input = { isPausedBy: () => false, pause: () => {} };
    const fakes = { broker, input, channels: { every }, traits: { blockedNotify: false } };
    const blockage = new Blockage(fakes as unknown as BlockageHost);
    broker.stops.set(q, true);
    const publishTo = (queue: FakeQueue): void =>
      blockage.published(
        broker.route('/', '', queue.name, () => ({})),
        undefined as unknown as Channel,
      );
    publishTo(other);
    assert.deepEqual([blockage.isBlocked, broker.stops.asked, looks], [false, 0, 0]);
    publishTo(q);
    assert.deepEqual([blockage.isBlocked, broker.stops.asked, looks], [true, 1, 1]);
  });

  it('waits for each of several queues, and with the gate for both', async () => {
    await using host = await AmqpHost.start();
    const [q, other] = [await queueOf(host, 'q'), await queueOf(host, 'other')];
    const publisher = await clientOf(host, 1);
    host.broker.stops.set(q, true);
    host.broker.stops.set(other, true);
    for (const queue of ['q', 'other', 'other']) publisher.publish(1, '', queue, 'x');
    await publisher.expect(MethodId.connectionBlocked);
    host.broker.gate.set('low on memory');
    host.broker.stops.set(q, false);
    host.broker.gate.set('');
    await eventually(() => other.readyCount === 1);
    host.broker.stops.set(other, false);
    await eventually(() => other.readyCount === 2);
    publisher.end();
  });

  it('a connection that consumes has its channel wait; what it says on others is heard', async () => {
    await using host = await AmqpHost.start();
    const [q, work] = [await queueOf(host, 'q'), await queueOf(host, 'work')];
    const worker = await clientOf(host, 1, 2);
    await ask(worker, 2, new BasicConsume('work', 'c', false, false, false, false, {}), MethodId.basicConsumeOk);
    await ask(worker, 1, new ConfirmSelect(false), MethodId.confirmSelectOk);
    host.broker.stops.set(q, true);
    for (let i = 0; i < 5; i++) worker.publish(1, '', 'q', 'x');
    // Blocked and the first message's confirm, in either order.
    await worker.next();
    await worker.next();
    worker.publish(2, '', 'work', 'x');
    const { method } = await worker.expect(MethodId.basicDeliver, 2);
    worker.send(2, new BasicAck(method.deliveryTag, false));
    await eventually(() => all(work) === 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(q.readyCount, 1, 'it does not go on by itself: nobody waits for what it holds');
    host.broker.stops.set(q, false);
    await eventually(() => q.readyCount === 5);
    worker.end();
  });

  it('whoever holds messages of that very queue is heard, though it says so behind what it publishes', async () => {
    await using host = await AmqpHost.start();
    const q = await queueOf(host, 'q');
    for (const acksOn of [1, 2]) {
      const client = await clientOf(host, 1, 2);
      client.publish(1, '', 'q', 'first');
      await ask(client, acksOn, new BasicConsume('q', 'c', false, false, false, false, {}), MethodId.basicConsumeOk);
      const { method } = await client.expect(MethodId.basicDeliver, acksOn);
      host.broker.stops.set(q, true);
      // More than may wait on a channel, if the client acknowledges on another one.
      const body = Buffer.alloc(acksOn === 1 ? 10 : 100_000);
      for (let i = 0; i < 5; i++) client.publish(1, '', 'q', body);
      client.send(acksOn, new BasicAck(method.deliveryTag, false));
      await eventually(() => !q.held.has(1) && all(q) >= 1, 'its acknowledgement is heard');
      host.broker.stops.set(q, false);
      await eventually(() => all(q) === 5);
      client.end();
      await eventually(() => host.server.connectionCount === 0);
      q.purge();
    }
  });

  it('a transaction waits before it grows', async () => {
    await using host = await AmqpHost.start();
    const q = await queueOf(host, 'q');
    const client = await clientOf(host, 1);
    await ask(client, 1, new TxSelect(), MethodId.txSelectOk);
    host.broker.stops.set(q, true);
    for (let i = 0; i < 3; i++) client.publish(1, '', 'q', 'x');
    await client.expect(MethodId.connectionBlocked);
    client.send(1, new TxCommit());
    host.broker.stops.set(q, false);
    await client.expect(MethodId.connectionUnblocked);
    await client.expect(MethodId.txCommitOk, 1);
    assert.equal(q.readyCount, 3);
    client.end();
  });

  it('a connection that closes has what it published before taken; one that dies is forgotten', async () => {
    await using host = await AmqpHost.start();
    const q = await queueOf(host, 'q');
    await queueOf(host, 'work');
    const client = await clientOf(host, 1, 2);
    await ask(client, 2, new BasicConsume('work', 'c', false, false, false, false, {}), MethodId.basicConsumeOk);
    host.broker.stops.set(q, true);
    for (let i = 0; i < 5; i++) client.publish(1, '', 'q', 'x');
    await client.expect(MethodId.connectionBlocked);
    client.send(0, new ConnectionClose(200, 'bye', 0, 0));
    await client.expect(MethodId.connectionCloseOk);
    assert.equal(q.readyCount, 5);
    for (const consumes of [true, false]) {
      const other = await clientOf(host, 1, 2);
      if (consumes)
        await ask(other, 2, new BasicConsume('work', 'c', false, false, false, false, {}), MethodId.basicConsumeOk);
      other.publish(1, '', 'q', 'x');
      await other.expect(MethodId.connectionBlocked);
      assert.equal(host.broker.stops.waiters, 1);
      other.socket.destroy();
      await eventually(() => host.broker.stops.waiters === 0);
    }
  });

  it('a channel that ends with an error while it waits is answered', async () => {
    await using host = await AmqpHost.start();
    const q = await queueOf(host, 'q');
    await queueOf(host, 'work');
    const client = await clientOf(host, 1, 2);
    await ask(client, 2, new BasicConsume('work', 'c', false, false, false, false, {}), MethodId.basicConsumeOk);
    host.broker.stops.set(q, true);
    client.publish(1, '', 'q', 'x');
    client.publish(1, 'no such exchange', 'q', 'x');
    client.send(1, declare('q'));
    await client.expect(MethodId.connectionBlocked);
    host.broker.stops.set(q, false);
    await client.expect(MethodId.channelClose, 1);
    await client.expect(MethodId.connectionUnblocked);
    client.send(2, new ChannelClose(200, '', 0, 0));
    await client.expect(MethodId.channelCloseOk, 2);
    client.end();
  });
});
