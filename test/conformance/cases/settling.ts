/** basic.get, ack, nack, reject, recover, and how many deliveries may be out. */
import assert from 'node:assert/strict';
import {
  BasicGet,
  BasicNack,
  BasicQos,
  BasicRecover,
  BasicRecoverAsync,
  MethodId,
  QueuePurge,
} from '../../../src/amqp091/codec/index.js';
import { type Case, rule, wireRule } from '../case.js';
import { text } from '../client.js';
import { consume } from '../methods.js';

const gets: readonly Case[] = [
  rule('§1.8.3.10', 'get-ok tells exchange, routing key, and how many are left', async (client) => {
    const exchange = await client.exchange('topic');
    const queue = await client.bound(exchange, '#');
    for (const key of ['a', 'b', 'c']) await client.publish(exchange, key, key);
    const { fields } = await client.get(queue);
    assert.deepEqual([fields.exchange, fields.routingKey, fields.redelivered], [exchange, 'a', false]);
    assert.equal((fields as { messageCount?: number }).messageCount, 2);
  }),
  wireRule(
    '§1.8.3.10',
    'basic.get finds what was published before it on the channel, without confirms',
    async (wire) => {
      const queue = await wire.queue();
      for (let i = 0; i < 30; i++) {
        wire.publish('', queue, String(i));
        const { body } = await wire.call(new BasicGet(queue, true), MethodId.basicGetOk);
        assert.equal(body.toString(), String(i));
      }
    },
  ),
  wireRule('§1.7.2.5', 'a purge takes what was published before it on the channel, without confirms', async (wire) => {
    const queue = await wire.queue();
    for (let i = 0; i < 30; i++) {
      wire.publish('', queue, 'x');
      const { method } = await wire.call(new QueuePurge(queue, false), MethodId.queuePurgeOk);
      assert.equal(method.messageCount, 1);
    }
  }),
  rule('§1.8.3.10', 'a message that was got without acknowledgement is gone', async (client, session) => {
    const other = await session.client();
    const queue = await client.queue();
    await client.send(queue, 'x');
    await other.channel.get(queue, { noAck: true });
    await other.connection.close();
    assert.equal(await client.count(queue), 0);
  }),
  rule(
    '§1.8.3.10',
    'a message that was got and not acknowledged comes back when the channel closes',
    async (client) => {
      const queue = await client.queue();
      await client.send(queue, 'x');
      const other = await client.sibling();
      await other.get(queue);
      assert.equal(await client.count(queue), 0);
      await other.channel.close();
      const { content, fields } = await client.soon(queue);
      assert.deepEqual([content.toString(), fields.redelivered], ['x', true]);
    },
  ),
  wireRule('§1.8.3.13', 'delivery tags of a channel count from 1, whatever the consumer', async (wire) => {
    const queues = [await wire.queue(), await wire.queue()];
    await wire.selectConfirms();
    for (const queue of queues) wire.publish('', queue, 'x');
    await wire.confirmed(2);
    const tags: number[] = [];
    for (const queue of queues) {
      const { method } = await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
      tags.push(method.deliveryTag);
    }
    assert.deepEqual(tags, [1, 2]);
  }),
];

const settlements: readonly Case[] = [
  rule('§1.8.3.13', 'an acknowledged message is gone', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    client.channel.ack(await client.get(queue));
    await client.channel.recover();
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
  rule('§1.8.3.13', 'multiple acknowledges all up to the tag', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c');
    const messages = [await client.get(queue), await client.get(queue), await client.get(queue)];
    client.channel.ack(messages[1]!, true);
    await client.channel.recover();
    assert.deepEqual(await client.arrived(queue, 1), ['c']);
  }),
  wireRule('§1.8.3.13', 'tag 0 with multiple acknowledges all that is out', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a', 'b');
    for (let i = 0; i < 2; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.ack(0, true);
    await wire.call(new BasicRecover(true), MethodId.basicRecoverOk);
    assert.equal(await client.count(queue), 0);
  }),
  wireRule('basic.nack', 'nack with multiple gives back all up to the tag', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a', 'b', 'c');
    for (let i = 0; i < 3; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.send(new BasicNack(2, true, true));
    assert.deepEqual(await client.arrived(queue, 2), ['a', 'b']);
  }),
  wireRule('basic.nack', 'nack of tag 0 with multiple gives back all that is out', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a', 'b', 'c');
    for (let i = 0; i < 3; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.send(new BasicNack(0, true, true));
    assert.deepEqual(await client.arrived(queue, 3), ['a', 'b', 'c']);
  }),
  rule('§1.8.3.14', 'a message rejected without requeue is gone', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    client.reject(await client.get(queue));
    await client.channel.recover();
    assert.deepEqual(await client.drain(queue), ['b']);
  }),
  ...[1, 2, 3].map((which) =>
    rule('§1.8.3.14', `a requeued message goes back to its place (message ${which} of 3)`, async (client) => {
      const queue = await client.queue();
      await client.send(queue, '1', '2', '3', '4');
      const messages = [await client.get(queue), await client.get(queue), await client.get(queue)];
      client.requeue(messages[which - 1]!);
      assert.deepEqual(await client.arrived(queue, 2), [String(which), '4']);
    }),
  ),
  rule('§1.8.3.14', 'what is requeued in any order comes in the order of the queue', async (client) => {
    const queue = await client.queue();
    await client.send(queue, '1', '2', '3', '4');
    const [first, second, third] = [await client.get(queue), await client.get(queue), await client.get(queue)];
    for (const message of [second, third, first]) client.requeue(message);
    assert.deepEqual(await client.arrived(queue, 4), ['1', '2', '3', '4']);
  }),
  rule('§1.8.3.14', 'a requeued message is flagged redelivered, others are not', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b');
    client.requeue(await client.get(queue));
    await client.becomes(queue, 2);
    const flags = [await client.get(queue), await client.get(queue)].map(({ fields }) => fields.redelivered);
    assert.deepEqual(flags, [true, false]);
  }),
  rule('§1.8.3.16', 'recover gives back all that is out, flagged redelivered, in order', async (client) => {
    const queue = await client.queue();
    await client.send(queue, 'a', 'b', 'c');
    for (let i = 0; i < 2; i++) await client.get(queue);
    await client.channel.recover();
    await client.becomes(queue, 3);
    const messages = [await client.get(queue), await client.get(queue), await client.get(queue)];
    assert.deepEqual(
      messages.map((message) => [text(message), message.fields.redelivered]),
      [
        ['a', true],
        ['b', true],
        ['c', false],
      ],
    );
  }),
  rule('§1.8.3.16', 'what recover gives back may come to the same consumer again', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consumer(queue, 10);
    await client.send(queue, 'a');
    await inbox.texts(1);
    await inbox.channel.recover();
    const message = await inbox.next();
    assert.deepEqual([text(message), message.fields.redelivered], ['a', true]);
  }),
  wireRule('§1.8.3.15', 'recover-async gives back what is out, without an answer', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, 'a');
    await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    wire.send(new BasicRecoverAsync(true));
    await wire.channelWorks();
    assert.deepEqual(await client.arrived(queue, 1), ['a']);
  }),
];

const limits: readonly Case[] = [
  rule('§1.8.3.1', 'prefetch n: n deliveries are out at most, one more for each acknowledged', async (client) => {
    const queue = await client.queue();
    await client.send(queue, '1', '2', '3', '4', '5');
    const inbox = await client.consumer(queue, 2);
    const first = await inbox.next();
    assert.deepEqual(await inbox.texts(1), ['2']);
    await inbox.silent();
    inbox.channel.ack(first);
    assert.deepEqual(await inbox.texts(1), ['3']);
    await inbox.silent();
  }),
  rule('§1.8.3.1', 'prefetch 0 is no limit', async (client) => {
    const queue = await client.queue();
    const bodies = Array.from({ length: 50 }, (_, i) => String(i));
    await client.send(queue, ...bodies);
    assert.deepEqual(await (await client.consumer(queue, 0)).texts(50), bodies);
  }),
  rule('per-consumer prefetch', 'without global the limit is of each consumer that starts later', async (client) => {
    const queue = await client.queue();
    await client.send(queue, '1', '2', '3', '4', '5');
    const { channel } = await client.sibling();
    await channel.prefetch(1);
    const got: string[] = [];
    const take = (message: { content: Buffer } | null): void => void got.push(message!.content.toString());
    await channel.consume(queue, take);
    await channel.consume(queue, take);
    await client.until('both have one', async () => got.length === 2);
    assert.equal(await client.count(queue), 3);
  }),
  rule('per-consumer prefetch', 'a limit set later does not change a consumer that is there', async (client) => {
    const queue = await client.queue();
    const inbox = await client.consumer(queue, 1);
    await inbox.channel.prefetch(10);
    await client.send(queue, '1', '2', '3');
    await inbox.texts(1);
    await inbox.silent();
  }),
  rule('per-channel prefetch', 'with global the limit is of all consumers of the channel', async (client) => {
    const queue = await client.queue();
    const { channel } = await client.sibling();
    await channel.prefetch(3, true);
    const got: string[] = [];
    const take = (message: { content: Buffer } | null): void => void got.push(message!.content.toString());
    await channel.consume(queue, take);
    await channel.consume(queue, take);
    await client.send(queue, '1', '2', '3', '4', '5');
    await client.until('three came', async () => got.length === 3);
    assert.equal(await client.count(queue), 2);
  }),
  rule('per-channel prefetch', 'both limits count', async (client) => {
    const queue = await client.queue();
    const { channel } = await client.sibling();
    await channel.prefetch(2);
    await channel.prefetch(3, true);
    const got: string[] = [];
    for (const name of ['a', 'b']) await channel.consume(queue, () => void got.push(name));
    await client.send(queue, '1', '2', '3', '4', '5');
    await client.until('three came', async () => got.length === 3);
    assert.equal(await client.count(queue), 2);
    assert.ok(new Set(got).size === 2);
  }),
  wireRule('per-channel prefetch', 'a limit of the channel that changes counts at once', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, '1', '2', '3', '4', '5');
    await wire.call(new BasicQos(0, 1, true), MethodId.basicQosOk);
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    await wire.raw.expect(MethodId.basicDeliver, 1);
    assert.ok(await wire.raw.silent());
    wire.send(new BasicQos(0, 3, true));
    const came = [await wire.raw.next(), await wire.raw.next(), await wire.raw.next()].map(({ method }) => method!.id);
    assert.equal(came.filter((id) => id === MethodId.basicDeliver).length, 2);
    assert.ok(came.includes(MethodId.basicQosOk));
    await wire.call(new BasicQos(0, 1, true), MethodId.basicQosOk);
    wire.ack(1);
    assert.ok(await wire.raw.silent());
  }),
  wireRule('per-channel prefetch', 'a limit of the channel is lifted by 0', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, '1', '2', '3');
    await wire.call(new BasicQos(0, 1, true), MethodId.basicQosOk);
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    await wire.raw.expect(MethodId.basicDeliver, 1);
    wire.send(new BasicQos(0, 0, true));
    for (let i = 0; i < 3; i++) await wire.raw.next();
  }),
  wireRule('§1.8.3.1', 'basic.get does not count for the limit, nor is it limited', async (wire, session) => {
    const client = await session.client();
    const queue = await wire.queue();
    await client.send(queue, '1', '2', '3');
    await wire.call(new BasicQos(0, 1, false), MethodId.basicQosOk);
    for (let i = 0; i < 2; i++) await wire.call(new BasicGet(queue, false), MethodId.basicGetOk);
    await wire.call(consume(queue), MethodId.basicConsumeOk);
    assert.equal((await wire.raw.expect(MethodId.basicDeliver, 1)).body.toString(), '3');
  }),
];

export const settling: readonly Case[] = [...gets, ...settlements, ...limits];
