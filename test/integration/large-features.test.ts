/** Large messages, whose bodies are in parts, in everything that queues do with messages; with real clients on one broker. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import * as amqp from 'amqplib';
import { BasicPublish, MethodId } from '../../src/amqp091/codec/index.js';
import { LoneBroker } from '../support/lone-broker.js';
import { QueueClient } from '../support/queue-client.js';
import { RawClient } from '../support/raw-client.js';
import { within } from '../support/within.js';

const mebibyte = 1024 * 1024;
const stepMsMax = 20_000;
/** Three bodies: large by a byte, with a last part of a byte, and of some parts. */
const bodies = [mebibyte + 1, 9 * 126 * 1024 + 1, 3 * mebibyte].map((size) => randomBytes(size));

function same(message: amqp.GetMessage | amqp.ConsumeMessage | false, body: Buffer): void {
  assert.ok(message);
  assert.ok(message.content.equals(body), `${message.content.length} bytes, not the ${body.length} that were sent`);
}

describe('large messages', () => {
  let broker: LoneBroker;
  before(async () => {
    broker = await LoneBroker.start();
  });
  after(async () => {
    assert.deepEqual(broker.loggedErrors, []);
    await broker[Symbol.asyncDispose]();
  });

  /** Runs `body` with a client of its own. */
  const withClient = async (body: (client: QueueClient) => Promise<void>): Promise<void> => {
    await using client = await QueueClient.open(broker.url);
    await body(client);
    assert.equal(client.failure, '');
  };
  const got = async (channel: amqp.Channel, queue: string): Promise<amqp.GetMessage> => {
    for (const deadline = performance.now() + stepMsMax; performance.now() < deadline; ) {
      const message = await within(stepMsMax, `get from ${queue}`, channel.get(queue));
      if (message !== false) return message;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`${queue} is empty`);
  };

  it('are got and consumed whole, in order with small ones, and come again flagged', () =>
    withClient(async (client) => {
      const all = [bodies[0]!, Buffer.from('a'), bodies[1]!, Buffer.alloc(0), bodies[2]!, Buffer.from('z')];
      await client.send('plain', all);
      for (const redelivered of [false, true]) {
        const messages = await client.browse('plain');
        assert.equal(messages.length, all.length);
        for (const [i, message] of messages.entries()) {
          same(message, all[i]!);
          assert.equal(message.fields.redelivered, redelivered);
        }
      }
      for (const body of all) {
        const message = await got(client.channel, 'plain');
        same(message, body);
        client.channel.ack(message);
      }
      assert.equal(await client.channel.get('plain'), false);
    }));

  it('go to queues of several groups, transient and exclusive ones as well, to consumers without acknowledgement', () =>
    withClient(async ({ channel }) => {
      await channel.assertExchange('all', 'fanout');
      const queues = Array.from({ length: 6 }, (_, i) => `fan-${i}`);
      for (const queue of queues) {
        await channel.assertQueue(queue, { durable: queue < 'fan-3', exclusive: queue > 'fan-4' });
        await channel.bindQueue(queue, 'all', '');
      }
      const came = queues.map(
        (queue) =>
          new Promise<amqp.ConsumeMessage>((resolve) => {
            void channel.consume(queue, (message) => resolve(message!), { noAck: true });
          }),
      );
      channel.publish('all', '', bodies[2]!, { persistent: true });
      await channel.waitForConfirms();
      for (const message of await within(stepMsMax, 'six copies', Promise.all(came))) same(message, bodies[2]!);
    }));

  it('die, and go to queues of other groups', () =>
    withClient(async ({ channel }) => {
      for (const grave of ['grave-1', 'grave-2', 'grave-3']) {
        const arguments_ = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': grave };
        const queue = `of-${grave}`;
        await channel.assertQueue(grave);
        await channel.assertQueue(queue, { arguments: { ...arguments_, 'x-max-length': 1 } });
        for (const body of bodies) channel.sendToQueue(queue, body, { persistent: true });
        await channel.waitForConfirms();
        for (const body of bodies.slice(0, 2)) {
          const message = await got(channel, grave);
          same(message, body);
          assert.equal((message.properties.headers!['x-death'] as { reason: string }[])[0]!.reason, 'maxlen');
          channel.ack(message);
        }
        channel.reject(await got(channel, queue), false);
        same(await got(channel, grave), bodies[2]!);
      }
    }));

  it('die, and go to queues of many groups at once, their own among them', () =>
    withClient(async ({ channel }) => {
      await channel.assertExchange('graves', 'fanout');
      const queues = Array.from({ length: 12 }, (_, i) => `all-graves-${i}`);
      for (const queue of queues) {
        await channel.assertQueue(queue);
        await channel.bindQueue(queue, 'graves', '');
      }
      for (const queue of ['dying-1', 'dying-2', 'dying-3', 'dying-4']) {
        await channel.assertQueue(queue, { arguments: { 'x-dead-letter-exchange': 'graves' } });
        channel.sendToQueue(queue, bodies[0]!, { persistent: true });
        await channel.waitForConfirms();
        channel.reject(await got(channel, queue), false);
        for (const grave of queues) {
          const message = await got(channel, grave);
          same(message, bodies[0]!);
          channel.ack(message);
        }
      }
    }));

  it('go to one queue each where lots are drawn, and so when they die', () =>
    withClient(async ({ channel }) => {
      await channel.assertExchange('lots', 'x-random');
      const queues = Array.from({ length: 12 }, (_, i) => `lot-${i}`);
      for (const queue of queues) {
        await channel.assertQueue(queue);
        await channel.bindQueue(queue, 'lots', 'all');
      }
      const drawn = async (count: number): Promise<void> => {
        const left = new Set(Array.from({ length: count }, (_, i) => `${i}`));
        for (const deadline = performance.now() + stepMsMax; left.size > 0 && performance.now() < deadline; ) {
          for (const queue of queues) {
            const message = await channel.get(queue, { noAck: true });
            if (message === false) continue;
            same(message, bodies[0]!);
            assert.ok(left.delete(message.properties.messageId as string));
          }
        }
        assert.equal(left.size, 0);
        for (const queue of queues) assert.equal(await channel.get(queue), false);
      };
      for (let i = 0; i < 10; i++) channel.publish('lots', 'all', bodies[0]!, { persistent: true, messageId: `${i}` });
      await channel.waitForConfirms();
      await drawn(10);
      const arguments_ = { 'x-dead-letter-exchange': 'lots', 'x-dead-letter-routing-key': 'all' };
      await channel.assertQueue('unlucky', { arguments: arguments_ });
      for (let i = 0; i < 4; i++) channel.sendToQueue('unlucky', bodies[0]!, { persistent: true, messageId: `${i}` });
      await channel.waitForConfirms();
      for (let i = 0; i < 4; i++) channel.reject(await got(channel, 'unlucky'), false);
      await drawn(4);
    }));

  it('wait for their time', () =>
    withClient(async ({ channel }) => {
      await channel.assertExchange('later', 'x-delayed-message', { arguments: { 'x-delayed-type': 'fanout' } });
      for (const queue of ['due-1', 'due-2', 'due-3']) {
        await channel.assertQueue(queue);
        await channel.bindQueue(queue, 'later', '');
      }
      channel.publish('later', '', bodies[2]!, { persistent: true, headers: { 'x-delay': 100 } });
      await channel.waitForConfirms();
      for (const queue of ['due-1', 'due-2', 'due-3']) same(await got(channel, queue), bodies[2]!);
    }));

  it('are returned, and replies', () =>
    withClient(async ({ channel, connection }) => {
      const returned = new Promise<amqp.Message>((resolve) => channel.once('return', resolve));
      channel.publish('', 'nobody-has-it', bodies[0]!, { mandatory: true });
      same((await within(stepMsMax, 'a return', returned)) as amqp.ConsumeMessage, bodies[0]!);
      channel.publish('', 'nobody-has-it', bodies[0]!, {});
      await channel.waitForConfirms();
      const replies = await connection.createChannel();
      const reply = new Promise<amqp.ConsumeMessage>((resolve) => {
        void replies.consume('amq.rabbitmq.reply-to', (message) => resolve(message!), { noAck: true });
      });
      await channel.assertQueue('asked');
      replies.sendToQueue('asked', Buffer.from('?'), { replyTo: 'amq.rabbitmq.reply-to' });
      const request = await got(channel, 'asked');
      channel.sendToQueue(request.properties.replyTo as string, bodies[1]!);
      same(await within(stepMsMax, 'a reply', reply), bodies[1]!);
    }));

  it('count with all their bytes for what a queue may hold', () =>
    withClient(async ({ channel }) => {
      const limited = { 'x-max-length-bytes': 4 * mebibyte, 'x-overflow': 'reject-publish' };
      await channel.assertQueue('limited', { arguments: limited });
      const sent = (body: Buffer): Promise<string> =>
        new Promise((resolve) => channel.sendToQueue('limited', body, {}, (error) => resolve(error ? 'nack' : 'ack')));
      assert.equal(await sent(bodies[2]!), 'ack');
      assert.equal(await sent(bodies[1]!), 'nack');
      channel.ack(await got(channel, 'limited'));
      assert.equal(await sent(bodies[1]!), 'ack');
    }));

  it('come in frames of 4,096 bytes where that was agreed, both ways', async () => {
    const connection = await amqp.connect(`${broker.url}?frameMax=4096`);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('narrow');
    channel.sendToQueue('narrow', bodies[2]!, { persistent: true });
    await channel.waitForConfirms();
    same(await got(channel, 'narrow'), bodies[2]!);
    await connection.close();
  });

  it('are refused over 512 MiB; one that ends in its middle leaves nothing', async () => {
    await using client = await QueueClient.open(broker.url);
    await client.declare('cut');
    const raw = await RawClient.open(broker.port);
    await raw.openChannel(1);
    const header = (bytes: number): Buffer => {
      const frame = Buffer.from('\x02\0\x01\0\0\0\x0e\0\x3c\0\0\0\0\0\0\0\0\0\0\0\0\xce', 'latin1');
      frame.writeBigUInt64BE(BigInt(bytes), 11);
      return frame;
    };
    raw.send(1, new BasicPublish('', 'cut', false, false));
    raw.sendBytes(header(512 * mebibyte + 1));
    assert.equal((await raw.expect(MethodId.channelClose, 1)).method.replyCode, 406);
    await raw.openChannel(2);
    raw.send(2, new BasicPublish('', 'cut', false, false));
    const second = header(512 * mebibyte);
    second.writeUInt16BE(2, 1);
    raw.sendBytes(second);
    const body = Buffer.alloc(100_008, 1);
    Buffer.from('\x03\0\x02', 'latin1').copy(body);
    body.writeUInt32BE(100_000, 3);
    body[100_007] = 0xce;
    for (let i = 0; i < 40; i++) raw.sendBytes(body);
    raw.end();
    await client.send('cut', [bodies[0]!]);
    same(await got(client.channel, 'cut'), bodies[0]!);
    assert.equal(await client.channel.get('cut'), false);
  });

  it('of durable queues are there after a crash, transient ones are not', async () => {
    {
      await using client = await QueueClient.open(broker.url);
      await client.send('kept', bodies);
      client.channel.sendToQueue('kept', bodies[0]!, { persistent: false });
      await client.confirmed();
    }
    await broker.kill();
    await broker.start();
    await using client = await QueueClient.open(broker.url);
    const messages = await client.browse('kept');
    assert.equal(messages.length, bodies.length);
    for (const [i, message] of messages.entries()) same(message, bodies[i]!);
  });
});
