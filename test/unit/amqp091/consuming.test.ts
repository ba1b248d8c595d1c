import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BasicAck,
  BasicCancel,
  BasicConsume,
  BasicGet,
  BasicNack,
  BasicQos,
  BasicRecover,
  BasicReject,
  ChannelClose,
  ChannelFlow,
  MethodId,
  QueueDeclare,
  QueueDelete,
} from '../../../src/amqp091/codec/index.js';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';
import type { FakeQueue } from '../../fakes/fake-queue.js';
import { RawClient } from '../../support/raw-client.js';

const declare = (name: string): QueueDeclare => new QueueDeclare(name, false, false, false, false, false, {});
const consume = (queue: string, tag: string, noAck = false): BasicConsume =>
  new BasicConsume(queue, tag, false, noAck, false, false, {});

/** A client with channel 1 open, queues declared. */
async function withQueues(host: AmqpHost, ...names: string[]): Promise<RawClient> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  for (const name of names) {
    client.send(1, declare(name));
    await client.expect(MethodId.queueDeclareOk, 1);
  }
  return client;
}

/** Fills a queue with `count` messages, numbered by their bodies. */
async function fill(host: AmqpHost, name: string, count: number, bodyBytes = 0): Promise<FakeQueue> {
  const client = await RawClient.open(host.port);
  await client.openChannel(1);
  const queue = host.broker.queues.get(name)!;
  const before = queue.readyCount + queue.held.size;
  for (let i = 0; i < count; i++) client.publish(1, '', name, `${i}`.padEnd(bodyBytes, '.'));
  await eventually(() => queue.readyCount + queue.held.size === before + count, 'the messages published');
  client.end();
  return queue;
}

async function delivery(client: RawClient, channel = 1): Promise<{ tag: number; redelivered: boolean; body: number }> {
  const { method, body } = await client.expect(MethodId.basicDeliver, channel);
  return { tag: method.deliveryTag, redelivered: method.redelivered, body: Number.parseInt(body.toString(), 10) };
}

async function deliveries(client: RawClient, count: number, channel = 1): Promise<number[]> {
  const bodies: number[] = [];
  for (let i = 0; i < count; i++) bodies.push((await delivery(client, channel)).body);
  return bodies;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('consuming', () => {
  it('answers consume before the first delivery', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 3);
    client.send(1, consume('q', 'c'));
    assert.equal((await client.expect(MethodId.basicConsumeOk, 1)).method.consumerTag, 'c');
    assert.deepEqual(await deliveries(client, 3), [0, 1, 2]);
    client.send(1, consume('', ''));
    assert.match((await client.expect(MethodId.basicConsumeOk, 1)).method.consumerTag, /^amq\.ctag-.{22}$/);
    client.end();
  });

  it('says nothing when the client does not wait', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 1);
    client.send(1, new BasicConsume('q', 'c', false, true, false, true, {}));
    assert.deepEqual(await deliveries(client, 1), [0]);
    client.end();
  });

  it('settles one, many and all', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 6);
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicConsumeOk, 1);
    await deliveries(client, 6);
    client.send(1, new BasicAck(2, true));
    client.send(1, new BasicReject(5, false));
    await eventually(() => queue.held.size === 3);
    client.send(1, new BasicAck(0, true));
    await eventually(() => queue.held.size === 0);
    assert.equal(queue.readyCount, 0);
    client.end();
  });

  it('gives back what is refused, flagged, in its place', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 5);
    client.send(1, new BasicQos(0, 3, false));
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicQosOk, 1);
    await client.expect(MethodId.basicConsumeOk, 1);
    assert.deepEqual(await deliveries(client, 3), [0, 1, 2]);
    client.send(1, new BasicNack(3, true, true));
    const again = [await delivery(client), await delivery(client), await delivery(client)];
    assert.deepEqual(
      again.map(({ body, redelivered }) => [body, redelivered]),
      [
        [0, true],
        [1, true],
        [2, true],
      ],
    );
    client.send(1, new BasicAck(6, true));
    assert.deepEqual((await delivery(client)).redelivered, false);
    client.end();
  });

  it('recovers all that is held', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 2);
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicConsumeOk, 1);
    await deliveries(client, 2);
    client.send(1, new BasicRecover(true));
    await client.expect(MethodId.basicRecoverOk, 1);
    assert.deepEqual((await delivery(client)).redelivered, true);
    client.end();
  });

  it('keeps the prefetch of each consumer', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 20);
    client.send(1, new BasicQos(0, 5, false));
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicQosOk, 1);
    await client.expect(MethodId.basicConsumeOk, 1);
    assert.deepEqual(await deliveries(client, 5), range(0, 5));
    assert.ok(await client.silent());
    client.send(1, new BasicAck(3, true));
    assert.deepEqual(await deliveries(client, 3), range(5, 8));
    assert.ok(await client.silent());
    client.end();
  });

  it('holds what was delivered after a cancel, and gives it back at the end', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 3);
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicConsumeOk, 1);
    await deliveries(client, 3);
    client.send(1, new BasicCancel('c', false));
    assert.equal((await client.expect(MethodId.basicCancelOk, 1)).method.consumerTag, 'c');
    assert.equal(queue.subscriptions.length, 0);
    client.send(1, new BasicAck(1, false));
    await eventually(() => queue.held.size === 2);
    client.send(1, new ChannelClose(200, '', 0, 0));
    await client.expect(MethodId.channelCloseOk, 1);
    assert.equal(queue.readyCount, 2);
    client.end();
  });

  it('forgives the cancel of an unknown tag', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    client.send(1, new BasicCancel('nobody', false));
    await client.expect(MethodId.basicCancelOk, 1);
    client.end();
  });

  it('tells clients that a queue is gone, if they know how to be told', async () => {
    await using host = await AmqpHost.start();
    const knows = await withQueues(host, 'q');
    const other = await RawClient.open(host.port, { capabilities: {} });
    await other.openChannel(1);
    for (const client of [knows, other]) {
      client.send(1, consume('q', 'c'));
      await client.expect(MethodId.basicConsumeOk, 1);
    }
    other.send(1, new QueueDelete('q', false, false, false));
    assert.equal((await knows.expect(MethodId.basicCancel, 1)).method.consumerTag, 'c');
    await other.expect(MethodId.queueDeleteOk, 1);
    assert.ok(await other.silent());
    knows.end();
    other.end();
  });

  it('stops and goes on with channel.flow', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicConsumeOk, 1);
    client.send(1, new ChannelFlow(false));
    assert.equal((await client.expect(MethodId.channelFlowOk, 1)).method.active, false);
    const queue = await fill(host, 'q', 3);
    assert.ok(await client.silent());
    assert.equal(queue.readyCount, 3);
    client.send(1, new ChannelFlow(true));
    await client.expect(MethodId.channelFlowOk, 1);
    assert.deepEqual(await deliveries(client, 3), [0, 1, 2]);
    client.end();
  });

  it('numbers deliveries per channel, with and without acknowledgement', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'a', 'b');
    client.send(1, consume('a', 'a', true));
    client.send(1, consume('b', 'b'));
    await client.expect(MethodId.basicConsumeOk, 1);
    await client.expect(MethodId.basicConsumeOk, 1);
    for (const [i, name] of ['a', 'b', 'a', 'b'].entries()) {
      await host.broker.pause;
      client.publish(1, '', name, `${i}`);
      assert.equal((await delivery(client)).tag, i + 1);
    }
    client.send(1, new BasicAck(4, true));
    await eventually(() => host.broker.queues.get('b')!.held.size === 0);
    client.send(1, new BasicAck(3, false));
    assert.equal((await client.expect(MethodId.channelClose, 1)).method.replyCode, 406);
    client.end();
  });

  it('gives everything back when the socket dies', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 10);
    client.send(1, consume('q', 'c'));
    client.send(1, new BasicGet('q', false));
    await eventually(() => queue.held.size === 10);
    client.end();
    await eventually(() => queue.readyCount === 10);
    assert.equal(queue.subscriptions.length, 0);
  });
});

describe('basic.get', () => {
  it('gets, says how many are left, and says when there is none', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 2);
    client.send(1, new BasicGet('q', false));
    const { method, body } = await client.expect(MethodId.basicGetOk, 1);
    assert.deepEqual([method.deliveryTag, method.messageCount, method.redelivered, `${body}`], [1, 1, false, '0']);
    client.send(1, new BasicGet('q', true));
    await client.expect(MethodId.basicGetOk, 1);
    client.send(1, new BasicGet('q', true));
    await client.expect(MethodId.basicGetEmpty, 1);
    client.send(1, new BasicNack(1, false, true));
    client.send(1, new BasicGet('', false));
    assert.equal((await client.expect(MethodId.basicGetOk, 1)).method.redelivered, true);
    client.send(1, new BasicAck(3, false));
    await eventually(() => queue.held.size === 0);
    client.end();
  });

  it('is refused while the client holds as much as it may', async () => {
    await using host = await AmqpHost.start({ unackedMax: 2 });
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 5);
    for (let i = 0; i < 2; i++) {
      client.send(1, new BasicGet('q', false));
      await client.expect(MethodId.basicGetOk, 1);
    }
    client.send(1, new BasicGet('q', true));
    await client.expect(MethodId.basicGetOk, 1);
    client.send(1, new BasicGet('q', false));
    const { method } = await client.expect(MethodId.channelClose, 1);
    assert.equal(method.replyCode, 406);
    assert.match(method.replyText, /holds 2 unacknowledged deliveries/);
    client.end();
  });

  it('is answered in order with everything else', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    client.publish(1, '', 'q', 'x');
    client.send(1, new BasicGet('q', true));
    client.send(1, declare('r'));
    client.send(1, new BasicQos(0, 1, false));
    client.send(1, new BasicGet('r', true));
    await client.expect(MethodId.basicGetOk, 1);
    await client.expect(MethodId.queueDeclareOk, 1);
    await client.expect(MethodId.basicQosOk, 1);
    await client.expect(MethodId.basicGetEmpty, 1);
    client.end();
  });
});

describe('basic.qos for the whole channel', () => {
  it('never lets the client hold more, and lets every consumer go on', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'busy', 'idle', 'other');
    await fill(host, 'busy', 40);
    await fill(host, 'other', 40);
    client.send(1, new BasicQos(0, 4, true));
    await client.expect(MethodId.basicQosOk, 1);
    client.send(1, new ChannelFlow(false));
    await client.expect(MethodId.channelFlowOk, 1);
    for (const name of ['busy', 'idle', 'other']) {
      client.send(1, consume(name, name));
      await client.expect(MethodId.basicConsumeOk, 1);
    }
    client.send(1, new ChannelFlow(true));
    await client.expect(MethodId.channelFlowOk, 1);
    const seen = new Map<string, number[]>();
    let held = 0;
    let acked = 0;
    while (acked < 80) {
      const { method, body } = await client.expect(MethodId.basicDeliver, 1);
      held++;
      assert.ok(held <= 4, `the client holds ${held}`);
      const numbers = seen.get(method.consumerTag) ?? [];
      seen.set(method.consumerTag, numbers);
      numbers.push(Number(body.toString()));
      assert.equal(method.redelivered, false);
      if (held === 4 || acked + held === 80) {
        client.send(1, new BasicAck(method.deliveryTag, true));
        acked += held;
        held = 0;
      }
      if (acked === 40) assert.equal(seen.size, 2, 'both have their share');
    }
    assert.deepEqual(seen.get('busy'), range(0, 40));
    assert.deepEqual(seen.get('other'), range(0, 40));
    await fill(host, 'idle', 4);
    assert.deepEqual(await deliveries(client, 4), range(0, 4));
    client.end();
  });

  it('can be raised and lifted', async () => {
    await using host = await AmqpHost.start();
    const client = await withQueues(host, 'q');
    await fill(host, 'q', 20);
    client.send(1, new BasicQos(0, 2, true));
    client.send(1, consume('q', 'c'));
    await client.expect(MethodId.basicQosOk, 1);
    await client.expect(MethodId.basicConsumeOk, 1);
    await deliveries(client, 2);
    assert.ok(await client.silent());
    client.send(1, new BasicQos(0, 5, true));
    await client.expect(MethodId.basicQosOk, 1);
    await deliveries(client, 3);
    assert.ok(await client.silent());
    client.send(1, new BasicQos(0, 0, true));
    await client.expect(MethodId.basicQosOk, 1);
    assert.deepEqual(await deliveries(client, 15), range(5, 20));
    client.end();
  });
});

describe('a client that does not read', () => {
  const kib = 1024;
  const limits = { outputBytesMax: 64 * kib };

  /** Socket buffers of the kernel come on top of what the server holds. */
  const kernelBytes = 12 * kib * kib;

  it('gets no more than fits, with acknowledgements, and all of it in order later', async () => {
    await using host = await AmqpHost.start(limits);
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 200, 100 * kib);
    client.socket.pause();
    client.send(1, consume('q', 'c'));
    await eventually(() => host.server.list()[0]!.pendingBytes > 0, 'a full socket');
    await client.silent(100);
    assert.ok(queue.held.size * 100 * kib < kernelBytes, `${queue.held.size} are with the client`);
    assert.ok(host.server.list()[0]!.pendingBytes < 5 * 64 * kib, `${host.server.list()[0]!.pendingBytes} pending`);
    client.socket.resume();
    await client.expect(MethodId.basicConsumeOk, 1);
    for (let i = 0; i < 200; i++) {
      const { body, redelivered } = await delivery(client);
      assert.deepEqual([body, redelivered], [i, false]);
    }
    client.end();
  });

  it('gets no more than fits, without acknowledgements', async () => {
    await using host = await AmqpHost.start(limits);
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 200, 100 * kib);
    client.socket.pause();
    client.send(1, consume('q', 'c', true));
    await eventually(() => host.server.list()[0]!.pendingBytes > 0, 'a full socket');
    await client.silent(100);
    assert.ok(queue.readyCount > 50, `${queue.readyCount} are still in the queue`);
    client.socket.resume();
    await client.expect(MethodId.basicConsumeOk, 1);
    assert.deepEqual(await deliveries(client, 200), range(0, 200));
    client.end();
  });

  it('is not read either while it asks for more', async () => {
    await using host = await AmqpHost.start(limits);
    const client = await withQueues(host, 'q');
    const queue = await fill(host, 'q', 200, 100 * kib);
    client.socket.pause();
    for (let i = 0; i < 200; i++) client.send(1, new BasicGet('q', true));
    await eventually(() => host.server.list()[0]!.pendingBytes > 4 * 64 * kib, 'a full output');
    await client.silent(100);
    assert.ok(queue.readyCount > 50, `${queue.readyCount} are still in the queue`);
    assert.ok(host.server.list()[0]!.pendingBytes < 5 * 64 * kib + 200 * kib);
    client.socket.resume();
    for (let i = 0; i < 200; i++) await client.expect(MethodId.basicGetOk, 1);
    client.end();
  });
});
