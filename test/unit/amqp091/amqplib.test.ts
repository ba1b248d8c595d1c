/** The main paths with a client that people use, over a real socket. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { AmqpHost, eventually } from '../../fakes/amqp-host.js';

const connect = (host: AmqpHost): Promise<amqp.ChannelModel> => amqp.connect(`amqp://127.0.0.1:${host.port}`);

describe('amqplib', () => {
  it('publishes with confirms and consumes with acks', async () => {
    await using host = await AmqpHost.start();
    const connection = await connect(host);
    const publisher = await connection.createConfirmChannel();
    const consumer = await connection.createChannel();
    const { queue } = await publisher.assertQueue('', { exclusive: true });
    await consumer.prefetch(50);
    const bodies: string[] = [];
    const done = new Promise<void>((resolve) => {
      void consumer.consume(queue, (message) => {
        bodies.push(message!.content.toString());
        consumer.ack(message!);
        if (bodies.length === 2000) resolve();
      });
    });
    for (let i = 0; i < 2000; i++) publisher.sendToQueue(queue, Buffer.from(`${i}`), { persistent: true });
    await publisher.waitForConfirms();
    await done;
    assert.deepEqual(
      bodies,
      Array.from({ length: 2000 }, (_, i) => `${i}`),
    );
    await eventually(() => host.broker.queues.get(queue)!.held.size === 0);
    await connection.close();
    assert.equal(host.broker.queues.size, 0);
  });

  it('takes bodies of many frames, both ways', async () => {
    await using host = await AmqpHost.start();
    const connection = await connect(host);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('big', { durable: false });
    const body = Buffer.alloc(1_000_000, 'abcdefg');
    channel.sendToQueue('big', body, { headers: { kind: 'big' } });
    await channel.waitForConfirms();
    const message = await channel.get('big');
    assert.ok(message);
    assert.ok(message.content.equals(body));
    assert.equal(message.properties.headers?.['kind'], 'big');
    await connection.close();
  });

  it('binds, routes, returns, cancels, closes', async () => {
    await using host = await AmqpHost.start();
    const connection = await connect(host);
    const channel = await connection.createConfirmChannel();
    await channel.assertExchange('e', 'direct', { durable: false });
    await channel.assertQueue('q', { durable: false });
    await channel.bindQueue('q', 'e', 'key');
    channel.publish('e', 'key', Buffer.from('routed'));
    const returned = new Promise<amqp.Message>((resolve) => channel.once('return', resolve));
    channel.publish('e', 'other', Buffer.from('returned'), { mandatory: true });
    assert.equal((await returned).content.toString(), 'returned');
    await channel.waitForConfirms();
    assert.equal((await channel.checkQueue('q')).messageCount, 1);
    await channel.unbindQueue('q', 'e', 'key');
    assert.equal((await channel.purgeQueue('q')).messageCount, 1);
    const { consumerTag } = await channel.consume('q', () => {});
    await channel.cancel(consumerTag);
    assert.equal((await channel.deleteQueue('q')).messageCount, 0);
    await channel.deleteExchange('e');
    await channel.close();
    await connection.close();
  });

  it('learns why a channel was closed, and goes on with another', async () => {
    await using host = await AmqpHost.start();
    const connection = await connect(host);
    const channel = await connection.createChannel();
    const closed = new Promise<Error & { code: number }>((resolve) => channel.once('error', resolve));
    await assert.rejects(channel.checkQueue('no-such'), /404 \(NOT-FOUND\).*no queue 'no-such' in vhost '\/'/);
    assert.equal((await closed).code, 404);
    const other = await connection.createChannel();
    await other.assertQueue('q', { durable: false });
    await connection.close();
  });

  it('hears that it is blocked, and that it is not any more', async () => {
    await using host = await AmqpHost.start();
    const connection = await connect(host);
    const channel = await connection.createChannel();
    channel.sendToQueue('q', Buffer.from('x'));
    await channel.checkExchange('amq.direct');
    const blocked = new Promise((resolve) => connection.once('blocked', resolve));
    const unblocked = new Promise((resolve) => connection.once('unblocked', resolve));
    host.broker.gate.set('disk full');
    assert.equal(await blocked, 'disk full');
    host.broker.gate.set('');
    await unblocked;
    await connection.close();
  });
});
